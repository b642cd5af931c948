package state_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/metadata/state"
	"sluice.dev/control/internal/store"
)

// made applies a change of a client of its own, which must be done.
func made(t *testing.T, s *state.State, request *sluicev1.ChangeMetadataRequest) *sluicev1.ChangeMetadataResponse {
	t.Helper()
	outcome, err := s.Apply(term, commandOf(request))
	if err != nil || outcome.Refusal != nil {
		t.Fatal(err, outcome.Refusal)
	}
	return outcome.Response
}

func create(number byte, path string, epoch, serial uint64) *sluicev1.ChangeMetadataRequest {
	return &sluicev1.ChangeMetadataRequest{
		RequestId: &sluicev1.MetadataRequestId{Client: fileID(8), Serial: serial},
		Change: &sluicev1.ChangeMetadataRequest_CreateFile{CreateFile: &sluicev1.CreateFileChange{
			Volume: "v", Path: path, Epoch: epoch, FileId: fileID(number),
			Layout: &sluicev1.FileLayout{BlockBytes: 4096, Copies: []*sluicev1.FileCopy{{Servers: []string{fmt.Sprintf("n%d", number%2+1)}}}},
		}},
	}
}

func TestPagesAreTheList(t *testing.T) {
	s := told(t)
	const count = 25
	for number := range byte(count) {
		made(t, s, create(100+number, fmt.Sprintf("/f%02d", number), 1, uint64(number)+1))
	}
	var names []string
	page := entry.Page[string]{Limit: 4}
	for more := true; more; {
		var found []entry.Name
		var err error
		if found, more, err = s.Directory("v", "/", page); err != nil || len(found) > page.Limit {
			t.Fatal(found, err)
		}
		for _, name := range found {
			names = append(names, name.Name)
		}
		page.After = names[len(names)-1]
	}
	if all, _, _ := s.Directory("v", "/", entry.Page[string]{}); len(names) != len(all) || len(all) != count+2 {
		t.Errorf("%d names in pages, and %d at once: %v", len(names), len(all), names)
	}
	var ids []entry.FileID
	byID := entry.Page[*entry.FileID]{Limit: 3}
	for more := true; more; {
		var found []entry.File
		found, more = s.FilesOn("n2", byID)
		for _, file := range found {
			ids = append(ids, file.ID)
		}
		byID.After = &ids[len(ids)-1]
	}
	// 12 of the new ones, and the one in the job's directory.
	if len(ids) != 13 {
		t.Errorf("%d files on n2: %v", len(ids), ids)
	}
	if open, _, err := s.OpenFiles("v", "/", entry.Page[*entry.FileID]{}); err != nil || len(open) != count || open[0].Path != "/f00" {
		t.Errorf("%v, %v", open, err)
	}
	if open, _, err := s.OpenFiles("v", "/job", entry.Page[*entry.FileID]{}); err != nil || len(open) != 0 {
		t.Errorf("%v, %v", open, err)
	}
	want := state.Counts{Volumes: 1, Directories: 1, Files: count + 1, OpenFiles: count, Leases: 2, Removals: 1}
	if got := s.Counts(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Whoever writes to what a reader gives must not write to the state.
func TestReadersGetCopies(t *testing.T) {
	s := told(t)
	first, err := s.Stat("v", "/job/1.sst")
	if err != nil {
		t.Fatal(err)
	}
	first.Layout.Servers[0][0], first.Missing[0] = "other", entry.Place{}
	second, err := s.Stat("v", "/job/1.sst")
	if err != nil || reflect.DeepEqual(first, second) {
		t.Errorf("%v, %v", second, err)
	}
}

func TestFencedSaysWhoHasTheLease(t *testing.T) {
	s := told(t)
	outcome, err := s.Apply(term, commandOf(create(50, "/job/x", 1, 1)))
	if err != nil || outcome.Refusal == nil {
		t.Fatal(outcome, err)
	}
	want := entry.Lease{Volume: "v", Path: "/job", Holder: "worker", Epoch: 2, TimeToLive: time.Minute}
	if outcome.Refusal.Reason != entry.Fenced || *outcome.Refusal.Lease != want || outcome.Refusal.Hint == "" {
		t.Errorf("%+v, want the lease %+v", outcome.Refusal, want)
	}
	var failure *store.Error
	if !errors.As(outcome.Refusal, &failure) || failure.Code != store.CodeRefused {
		t.Errorf("%v", failure)
	}
	if _, err := s.CheckLease("v", "/job", 1); entry.ReasonOf(err) != entry.Fenced {
		t.Errorf("%v", err)
	}
	if lease, err := s.CheckLease("v", "/job", 2); err != nil || lease != want {
		t.Errorf("%v, %v", lease, err)
	}
}

// A store ends the lease of its worker by its own epoch.
func TestOuterHolderEndsNestedLease(t *testing.T) {
	s := told(t)
	made(t, s, &sluicev1.ChangeMetadataRequest{
		RequestId: &sluicev1.MetadataRequestId{Client: fileID(8), Serial: 1},
		Change: &sluicev1.ChangeMetadataRequest_ReleaseLease{ReleaseLease: &sluicev1.ReleaseLeaseChange{
			Volume: "v", Path: "/job", Epoch: 1,
		}},
	})
	made(t, s, create(50, "/job/x", 1, 2))
}

// Answers are kept for so many changes of a client; what is older is refused, and not done again.
func TestOldRequestsAreNotDoneAgain(t *testing.T) {
	s := told(t)
	made(t, s, create(50, "/x", 1, 1))
	again := func() state.Outcome {
		outcome, err := s.Apply(term, commandOf(create(50, "/x", 1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		return outcome
	}
	made(t, s, create(51, "/y", 1, state.AnswersPerClient))
	if outcome := again(); outcome.Refusal != nil {
		t.Errorf("%v", outcome.Refusal)
	}
	made(t, s, create(52, "/z", 1, state.AnswersPerClient+1))
	if outcome := again(); outcome.Refusal == nil || outcome.Refusal.Reason != entry.OldRequest {
		t.Errorf("%v", outcome)
	}
}

func TestClientsThatWereIdleAreForgotten(t *testing.T) {
	s := state.New()
	const most = 4096
	for number := range most + 1 {
		client := fileID(0)
		client[0], client[1] = byte(number>>8), byte(number)
		outcome, err := s.Apply(term, commandOf(&sluicev1.ChangeMetadataRequest{
			RequestId: &sluicev1.MetadataRequestId{Client: client, Serial: 1},
			Change:    &sluicev1.ChangeMetadataRequest_CreateVolume{CreateVolume: &sluicev1.CreateVolumeChange{Volume: "v"}},
		}))
		if err != nil || (outcome.Refusal == nil) != (number == 0) {
			t.Fatal(number, outcome, err)
		}
	}
	// The first one's answer, done, is forgotten: it is asked anew. That of the second is not.
	for number, isForgotten := range []bool{true, false} {
		client := fileID(0)
		client[1] = byte(number)
		outcome, err := s.Apply(term, commandOf(&sluicev1.ChangeMetadataRequest{
			RequestId: &sluicev1.MetadataRequestId{Client: client, Serial: 1},
			Change:    &sluicev1.ChangeMetadataRequest_CreateVolume{CreateVolume: &sluicev1.CreateVolumeChange{Volume: "w"}},
		}))
		if err != nil || (outcome.Refusal == nil) != isForgotten {
			t.Error(number, outcome, err)
		}
	}
}

func TestRequestsThatAreWrongAreRefused(t *testing.T) {
	long := func(part string, count int) (path string) {
		for range count {
			path += part
		}
		return path
	}
	lease := func(path, holder string, timeToLive time.Duration) *sluicev1.ChangeMetadataRequest {
		return &sluicev1.ChangeMetadataRequest{Change: &sluicev1.ChangeMetadataRequest_AcquireLease{AcquireLease: &sluicev1.AcquireLeaseChange{
			Volume: "v", Path: path, Holder: holder, TimeToLive: durationpb.New(timeToLive), OuterEpoch: 1,
		}}}
	}
	laid := func(change func(layout *sluicev1.FileLayout)) *sluicev1.ChangeMetadataRequest {
		request := create(60, "/x", 1, 1)
		change(request.GetCreateFile().GetLayout())
		return request
	}
	tests := map[string]*sluicev1.ChangeMetadataRequest{
		"volume":   {Change: &sluicev1.ChangeMetadataRequest_CreateVolume{CreateVolume: &sluicev1.CreateVolumeChange{Volume: "a/b"}}},
		"relative": create(60, "x", 1, 1), "dots": create(60, "/job/../x", 1, 1), "empty name": create(60, "//x", 1, 1),
		"deep": create(60, long("/a", 33), 1, 1), "long": create(60, long("/aaaaaaaaa", 103), 1, 1),
		"long name": create(60, "/"+long("a", 256), 1, 1), "control": create(60, "/a\nb", 1, 1), "root": create(60, "/", 1, 1),
		"holder": lease("/job", "", time.Minute), "short time": lease("/job", "h", time.Millisecond), "long time": lease("/job", "h", 2*time.Hour),
		"block size": laid(func(layout *sluicev1.FileLayout) { layout.BlockBytes = 4097 }),
		"copies":     laid(func(layout *sluicev1.FileLayout) { layout.Copies = nil }),
		"slots":      laid(func(layout *sluicev1.FileLayout) { layout.Copies[0].Servers = nil }),
		"server":     laid(func(layout *sluicev1.FileLayout) { layout.Copies[0].Servers[0] = "a/b" }),
		"same server": laid(func(layout *sluicev1.FileLayout) {
			layout.Copies = append(layout.Copies, layout.Copies[0])
		}),
		"other slots": laid(func(layout *sluicev1.FileLayout) {
			layout.Copies = append(layout.Copies, &sluicev1.FileCopy{Servers: []string{"n8", "n9"}})
		}),
	}
	for name, request := range tests {
		t.Run(name, func(t *testing.T) {
			request.RequestId = &sluicev1.MetadataRequestId{Client: fileID(8), Serial: 1}
			outcome, err := told(t).Apply(term, commandOf(request))
			if err != nil || outcome.Refusal == nil || outcome.Refusal.Reason != entry.Invalid || outcome.Refusal.Hint == "" {
				t.Errorf("%v, %v", outcome, err)
			}
		})
	}
}
