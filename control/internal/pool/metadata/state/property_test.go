package state_test

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"pgregory.net/rapid"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/metadata/state"
)

const term = 7

// run is a state beside its reference, and a second state that came from a snapshot on the way.
type run struct {
	t        *rapid.T
	is       *state.State
	restored *state.State
	want     *reference
	made     []*sluicev1.ChangeMetadataRequest
	outcomes []state.Outcome
	// lastEpoch is of the last lease.
	lastEpoch uint64
}

func newRun(t *rapid.T) *run {
	r := &run{t: t, is: state.New(), restored: state.New(), want: newReference()}
	for _, request := range []*sluicev1.ChangeMetadataRequest{
		{Change: &sluicev1.ChangeMetadataRequest_CreateVolume{CreateVolume: &sluicev1.CreateVolumeChange{Volume: "v"}}},
		{Change: &sluicev1.ChangeMetadataRequest_AcquireLease{AcquireLease: &sluicev1.AcquireLeaseChange{
			Volume: "v", Path: "/", Holder: "h", TimeToLive: durationpb.New(time.Minute),
		}}},
		{Change: &sluicev1.ChangeMetadataRequest_CreateDirectory{CreateDirectory: &sluicev1.CreateDirectoryChange{Volume: "v", Path: "/a", Epoch: 1}}},
	} {
		r.make(request)
	}
	return r
}

func (r *run) apply(command *sluicev1.MetadataCommand) state.Outcome {
	outcome, err := r.is.Apply(term, command)
	if err != nil {
		r.t.Fatal(err)
	}
	again, err := r.restored.Apply(term, proto.CloneOf(command))
	if err != nil || !sameOutcome(outcome, again) {
		r.t.Fatalf("%v, and from a snapshot %v, %v", outcome, again, err)
	}
	return outcome
}

func sameOutcome(a, b state.Outcome) bool {
	return proto.Equal(a.Response, b.Response) && reflect.DeepEqual(a.Refusal, b.Refusal)
}

func commandOf(request *sluicev1.ChangeMetadataRequest) *sluicev1.MetadataCommand {
	return &sluicev1.MetadataCommand{Command: &sluicev1.MetadataCommand_Change{Change: request}}
}

func (r *run) change() {
	r.make(anyChange(r.t, r.want))
}

func (r *run) make(request *sluicev1.ChangeMetadataRequest) {
	client := make([]byte, 16)
	client[0] = rapid.ByteRange(0, 1).Draw(r.t, "client")
	request.RequestId = &sluicev1.MetadataRequestId{Client: client, Serial: uint64(len(r.made) + 1)}
	outcome := r.apply(commandOf(request))
	r.made, r.outcomes = append(r.made, request), append(r.outcomes, outcome)
	want := r.want.apply(request)
	if is := verdictIn(outcome); is != want {
		r.t.Fatalf("%v: %v, and should be %s", request, outcome, want)
	}
	if lease := outcome.Response.GetLease(); lease != nil {
		if lease.GetEpoch() <= r.lastEpoch {
			r.t.Fatalf("epoch %d comes after %d", lease.GetEpoch(), r.lastEpoch)
		}
		r.lastEpoch = lease.GetEpoch()
	}
}

func verdictIn(outcome state.Outcome) verdict {
	switch {
	case outcome.Refusal == nil:
		return isDone
	case outcome.Refusal.Reason == entry.Fenced:
		return isFenced
	}
	return isRefused
}

// repeat sends a request again, as after a lost answer.
func (r *run) repeat() {
	if len(r.made) == 0 {
		return
	}
	chosen := rapid.IntRange(max(0, len(r.made)-50), len(r.made)-1).Draw(r.t, "repeated")
	before := contentOf(r.t, r.is)
	if again := r.apply(commandOf(proto.CloneOf(r.made[chosen]))); !sameOutcome(again, r.outcomes[chosen]) {
		r.t.Fatalf("%v, and the first answer was %v", again, r.outcomes[chosen])
	}
	if !bytes.Equal(before, contentOf(r.t, r.is)) {
		r.t.Fatal("a request that was repeated has changed something")
	}
}

func (r *run) expire() {
	epochs := []uint64{rapid.Uint64Range(0, r.want.epochs+1).Draw(r.t, "expired")}
	of := rapid.SampledFrom([]uint64{term, term, term - 1}).Draw(r.t, "term")
	r.apply(&sluicev1.MetadataCommand{Command: &sluicev1.MetadataCommand_Expire{Expire: &sluicev1.ExpireLeases{Epochs: epochs, Term: of}}})
	if of == term {
		r.want.expire(epochs)
	}
}

// restore has the second state begin anew from a snapshot of the first.
func (r *run) restore() {
	r.restored = restoredFrom(r.t, contentOf(r.t, r.is))
}

type failing interface {
	Helper()
	Fatal(arguments ...any)
	Fatalf(format string, arguments ...any)
}

func restoredFrom(t failing, content []byte) *state.State {
	t.Helper()
	restored := state.New()
	if err := restored.Restore(bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	return restored
}

func contentOf(t failing, s *state.State) []byte {
	t.Helper()
	var content bytes.Buffer
	if err := s.Snapshot().Write(&content); err != nil {
		t.Fatal(err)
	}
	return content.Bytes()
}

// check compares all that a reader can see.
func (r *run) check() {
	if !bytes.Equal(contentOf(r.t, r.is), contentOf(r.t, r.restored)) {
		r.t.Fatal("the state that came from a snapshot is another one")
	}
	volumes, _ := r.is.Volumes(entry.Page[string]{})
	if len(volumes) != len(r.want.volumes) {
		r.t.Fatalf("the volumes %v, and should be %v", volumes, r.want.volumes)
	}
	for _, volume := range volumes {
		tree := make(map[string]*referenceFile)
		r.walk(volume, "/", tree)
		if is, want := describe(tree), describe(r.want.volumes[volume]); is != want {
			r.t.Fatalf("volume %s is\n%s\nand should be\n%s", volume, is, want)
		}
		r.checkLeases(volume)
	}
	removals, _ := r.is.Removals(entry.Page[*entry.FileID]{})
	if len(removals) != len(r.want.removed) {
		r.t.Fatalf("the removals %v, and should be %v", removals, r.want.removed)
	}
}

func (r *run) checkLeases(volume string) {
	leases, _, err := r.is.Leases(volume, entry.Page[string]{})
	if err != nil {
		r.t.Fatal(err)
	}
	count := 0
	for held := range r.want.leases {
		if held.volume == volume {
			count++
		}
	}
	if len(leases) != count {
		r.t.Fatalf("the leases %v, and should be %v", leases, r.want.leases)
	}
	for _, lease := range leases {
		if r.want.leases[key{volume, lease.Path}] != lease.Epoch || r.want.over[lease.Epoch] {
			r.t.Fatalf("the lease %v, and should be one of %v", lease, r.want.leases)
		}
	}
}

func (r *run) walk(volume, path string, into map[string]*referenceFile) {
	into[path] = nil
	names, _, err := r.is.Directory(volume, path, entry.Page[string]{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, name := range names {
		below := entry.JoinPath(path, name.Name)
		if name.File == nil {
			r.walk(volume, below, into)
			continue
		}
		file := &referenceFile{
			id: string(name.File.ID[:]), length: name.File.LengthBytes, sealed: name.File.Sealed, servers: name.File.Layout.Servers,
			missing: make(map[entry.Place]bool),
		}
		for _, place := range name.File.Missing {
			file.missing[place] = true
		}
		into[below] = file
	}
}

func describe(tree map[string]*referenceFile) string {
	var lines []string
	for path, file := range tree {
		if file == nil {
			lines = append(lines, path+" directory")
			continue
		}
		var missing []entry.Place
		for place := range file.missing {
			missing = append(missing, place)
		}
		slices.SortFunc(missing, entry.Place.Compare)
		lines = append(lines, fmt.Sprintf("%s %x %d %t %v %v", path, file.id, file.length, file.sealed, missing, file.servers))
	}
	slices.SortFunc(lines, cmp.Compare)
	return fmt.Sprint(lines)
}

// A state does what its reference does, whatever comes; so no change is ever done under an epoch that is not that of
// the lease with the longest path. A state that came from a snapshot at any time goes on as the first.
func TestStateIsItsReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRun(t)
		steps := []func(){r.change, r.change, r.change, r.change, r.change, r.change, r.change, r.change, r.repeat, r.expire, r.restore}
		for range rapid.IntRange(40, 200).Draw(t, "steps") {
			rapid.SampledFrom(steps).Draw(t, "step")()
		}
		r.check()
	})
}
