package replica

import (
	"errors"
	"io"
	"sync"

	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/state"
)

// machine applies the log to the state. It stops for good at what it does not understand: whatever it did then would
// make this replica another than the rest.
type machine struct {
	state *state.State

	mutex   sync.Mutex
	failure error
	failed  chan struct{}
}

func newMachine() *machine {
	return &machine{state: state.New(), failed: make(chan struct{})}
}

// applied is what comes of an entry of the log.
type applied struct {
	outcome state.Outcome
	err     error
}

// Apply gives an applied.
func (m *machine) Apply(entry *raft.Log) any {
	if err := m.failureOf(); err != nil {
		return applied{err: err}
	}
	command := &sluicev1.MetadataCommand{}
	if err := proto.Unmarshal(entry.Data, command); err != nil {
		return applied{err: m.fail(err)}
	}
	outcome, err := m.state.Apply(entry.Term, command)
	if err != nil {
		return applied{err: m.fail(err)}
	}
	return applied{outcome: outcome}
}

func (m *machine) fail(err error) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.failure = err
	close(m.failed)
	return err
}

func (m *machine) failureOf() error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.failure
}

// Snapshot takes one, at once.
func (m *machine) Snapshot() (raft.FSMSnapshot, error) {
	if err := m.failureOf(); err != nil {
		return nil, err
	}
	return snapshot{m.state.Snapshot()}, nil
}

// Restore reads one.
func (m *machine) Restore(from io.ReadCloser) error {
	return errors.Join(m.state.Restore(from), from.Close())
}

type snapshot struct{ taken *state.Snapshot }

// Persist writes it; the store of snapshots syncs it.
func (s snapshot) Persist(sink raft.SnapshotSink) error {
	if err := s.taken.Write(sink); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return sink.Close()
}

// Release has nothing to do.
func (snapshot) Release() {}
