package replica

import (
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
	"sluice.dev/control/tests/process"
)

// TestElectionsTakeLonger with each that came to nothing, up to a bound, and as long as before once there is a leader.
func TestElectionsTakeLonger(t *testing.T) {
	seen := elections{ledTerm: 5}
	for i, step := range []struct {
		term      uint64
		hasLeader bool
		want      int
	}{
		{5, false, 1}, {5, true, 1}, {5, false, 1}, {6, false, 1}, {7, false, 2}, {7, false, 2}, {8, false, 4}, {9, false, 8},
		{10, false, 8}, {1 << 40, false, 8}, {1 << 40, true, 1}, {1 << 40, false, 1}, {1<<40 + 1, false, 1}, {1<<40 + 2, false, 2},
		{1<<40 + 3, true, 1},
	} {
		if got := seen.factor(step.term, step.hasLeader); got != step.want {
			t.Errorf("step %d: %d times as long, want %d", i, got, step.want)
		}
	}
}

// undecided is another voter, which says that it would vote for whoever asks, and does so only from some time on: as one whose
// disk is so slow that all of its votes come too late.
type undecided struct {
	transport *raft.NetworkTransport
	isDecided atomic.Bool
}

func (u *undecided) serve(closed <-chan struct{}) {
	for {
		select {
		case <-closed:
			return
		case asked := <-u.transport.Consumer():
			asked.Respond(u.answer(asked.Command), nil)
		}
	}
}

func (u *undecided) answer(command any) any {
	header := raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte("voter2"), Addr: []byte("voter2")}
	switch asked := command.(type) {
	case *raft.RequestPreVoteRequest:
		return &raft.RequestPreVoteResponse{RPCHeader: header, Term: asked.Term, Granted: true}
	case *raft.RequestVoteRequest:
		return &raft.RequestVoteResponse{RPCHeader: header, Term: asked.Term, Granted: u.isDecided.Load()}
	case *raft.AppendEntriesRequest:
		last := asked.PrevLogEntry + uint64(len(asked.Entries))
		return &raft.AppendEntriesResponse{RPCHeader: header, Term: asked.Term, LastLog: last, Success: true}
	}
	return nil
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// withUndecided starts a voter beside one that is undecided, and a third one that is not there.
func withUndecided(t *testing.T, tuning Tuning) (*Replica, *undecided) {
	t.Helper()
	own, others := listen(t), listen(t)
	config := Config{Node: "voter1", StateDirectory: process.MemoryDirectory(t), Bootstrap: true, Tuning: tuning, Voters: []Voter{
		{"voter1", own.Addr().String()}, {"voter2", others.Addr().String()}, {"voter3", process.FreeAddress(t)},
	}}
	authority, logger := securitytest.NewAuthority(t, "test"), slog.New(slog.DiscardHandler)
	other := &undecided{transport: raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream:  newStream(Config{Node: "voter2", Voters: config.Voters}, others, authority.Open(t, security.RoleAgent, "voter2"), logger),
		MaxPool: connectionsKept, Timeout: callTime, Logger: newLogger(logger),
	})}
	closed, served := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(served)
		other.serve(closed)
	}()
	r, err := Open(config, own, authority.Open(t, security.RoleAgent, "voter1"), func() {}, logger)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		close(closed)
		<-served
		_ = other.transport.Close()
	})
	return r, other
}

// TestVotesThatComeTooLate have elections take longer, and a leader has the next ones take as long as before.
func TestVotesThatComeTooLate(t *testing.T) {
	t.Parallel()
	tuning := DefaultTuning()
	tuning.Election, tuning.Lease = 100*time.Millisecond, 100*time.Millisecond
	r, other := withUndecided(t, tuning)
	process.Eventually(t, func() error { return r.takes(mostLonger * tuning.Election) })
	other.isDecided.Store(true)
	process.Eventually(t, func() error { return r.takes(tuning.Election) })
}

func (r *Replica) takes(want time.Duration) error {
	times := r.raft.ReloadableConfig()
	if times.ElectionTimeout != want || times.HeartbeatTimeout != want {
		return fmt.Errorf("elections take %v, of a leader nothing may be heard for %v, and %v is right for both",
			times.ElectionTimeout, times.HeartbeatTimeout, want)
	}
	return nil
}
