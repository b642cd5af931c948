package state_test

import (
	"bytes"
	"math"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/state"
)

// story is a few changes that have a bit of everything.
func story() []*sluicev1.MetadataCommand {
	layout := &sluicev1.FileLayout{BlockBytes: 1 << 20, Copies: []*sluicev1.FileCopy{{Servers: []string{"n1", "n2"}}, {Servers: []string{"n2", "n1"}}}}
	requests := []*sluicev1.ChangeMetadataRequest{
		{Change: &sluicev1.ChangeMetadataRequest_CreateVolume{CreateVolume: &sluicev1.CreateVolumeChange{Volume: "v"}}},
		{Change: &sluicev1.ChangeMetadataRequest_AcquireLease{AcquireLease: &sluicev1.AcquireLeaseChange{
			Volume: "v", Path: "/", Holder: "store", TimeToLive: durationpb.New(time.Minute),
		}}},
		{Change: &sluicev1.ChangeMetadataRequest_CreateDirectory{CreateDirectory: &sluicev1.CreateDirectoryChange{Volume: "v", Path: "/job", Epoch: 1}}},
		{Change: &sluicev1.ChangeMetadataRequest_AcquireLease{AcquireLease: &sluicev1.AcquireLeaseChange{
			Volume: "v", Path: "/job", Holder: "worker", TimeToLive: durationpb.New(time.Minute), OuterEpoch: 1,
		}}},
		{Change: &sluicev1.ChangeMetadataRequest_CreateFile{CreateFile: &sluicev1.CreateFileChange{
			Volume: "v", Path: "/job/1.sst", Epoch: 2, FileId: fileID(1), Layout: layout,
		}}},
		{Change: &sluicev1.ChangeMetadataRequest_CreateFile{CreateFile: &sluicev1.CreateFileChange{
			Volume: "v", Path: "/2.log", Epoch: 1, FileId: fileID(2), Layout: layout,
		}}},
		{Change: &sluicev1.ChangeMetadataRequest_SealFile{SealFile: &sluicev1.SealFileChange{FileId: fileID(1), Epoch: 2, LengthBytes: 9}}},
		{Change: &sluicev1.ChangeMetadataRequest_LinkFile{LinkFile: &sluicev1.LinkFileChange{
			Volume: "v", Source: "/job/1.sst", SourceEpoch: 2, Target: "/1.sst", TargetEpoch: 1,
		}}},
		{Change: &sluicev1.ChangeMetadataRequest_MarkMissing{MarkMissing: &sluicev1.MarkMissingChange{FileId: fileID(1), Place: &sluicev1.SegmentPlace{Copy: 1}}}},
		{Change: &sluicev1.ChangeMetadataRequest_RemoveFile{RemoveFile: &sluicev1.RemoveFileChange{Volume: "v", Path: "/2.log", Epoch: 1}}},
		{Change: &sluicev1.ChangeMetadataRequest_RemoveFile{RemoveFile: &sluicev1.RemoveFileChange{Volume: "v", Path: "/1.sst", Epoch: 2}}},
	}
	var commands []*sluicev1.MetadataCommand
	for i, request := range requests {
		request.RequestId = &sluicev1.MetadataRequestId{Client: fileID(9), Serial: uint64(i + 1)}
		commands = append(commands, commandOf(request))
	}
	return commands
}

func told(t failing) *state.State {
	t.Helper()
	s := state.New()
	for _, command := range story() {
		if _, err := s.Apply(term, command); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// FuzzCommands applies bytes as entries of the log, after others. Whatever they are, the state is one that a snapshot
// can have, and a command that is not understood changes nothing.
func FuzzCommands(f *testing.F) {
	var all bytes.Buffer
	for _, command := range story() {
		if _, err := protodelim.MarshalTo(&all, command); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(all.Bytes())
	f.Fuzz(func(t *testing.T, encoded []byte) {
		s, reader := told(t), bytes.NewReader(encoded)
		for {
			command := &sluicev1.MetadataCommand{}
			if protodelim.UnmarshalFrom(reader, command) != nil {
				break
			}
			before := contentOf(t, s)
			if _, err := s.Apply(term, command); err != nil && !bytes.Equal(before, contentOf(t, s)) {
				t.Fatalf("%v has changed something: %v", command, err)
			}
		}
		content := contentOf(t, s)
		if !bytes.Equal(content, contentOf(t, restoredFrom(t, content))) {
			t.Fatal("the state that came from the snapshot is another one")
		}
	})
}

// FuzzSnapshot reads bytes as a snapshot. One that is taken is a state that gives the same snapshot each time, and
// goes on; one that is refused changes nothing.
func FuzzSnapshot(f *testing.F) {
	f.Add(contentOf(f, told(f)))
	f.Add(contentOf(f, state.New()))
	f.Fuzz(func(t *testing.T, encoded []byte) {
		s := told(t)
		before := contentOf(t, s)
		if s.Restore(bytes.NewReader(encoded)) != nil {
			if !bytes.Equal(before, contentOf(t, s)) {
				t.Fatal("a snapshot that was refused has changed something")
			}
			return
		}
		content := contentOf(t, s)
		if !bytes.Equal(content, contentOf(t, restoredFrom(t, content))) {
			t.Fatal("the snapshot of the snapshot is another one")
		}
		for _, command := range story() {
			if _, err := s.Apply(term, command); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A snapshot that is cut short anywhere, or that goes on, is not taken for another.
func TestSnapshotsThatAreCutAreRefused(t *testing.T) {
	content := contentOf(t, told(t))
	for length := range content {
		if state.New().Restore(bytes.NewReader(content[:length])) == nil {
			t.Errorf("a snapshot was taken of which %d of %d bytes were there", length, len(content))
		}
	}
	if state.New().Restore(bytes.NewReader(append(content, 0))) == nil {
		t.Error("a snapshot was taken that goes on")
	}
}

func TestUnknownCommandsAreErrors(t *testing.T) {
	s := told(t)
	for _, command := range []*sluicev1.MetadataCommand{
		{},
		commandOf(&sluicev1.ChangeMetadataRequest{RequestId: &sluicev1.MetadataRequestId{Client: fileID(9), Serial: 99}}),
	} {
		if _, err := s.Apply(term, proto.CloneOf(command)); err == nil {
			t.Errorf("%v is no error", command)
		}
	}
}

// Numbers that were at their end would begin anew, and be given twice.
func TestSnapshotsAtTheEndOfNumbersAreRefused(t *testing.T) {
	for _, head := range []*sluicev1.SnapshotHead{
		{Version: 1, LastEpoch: math.MaxUint64}, {Version: 1, LastDirectory: math.MaxUint64},
	} {
		var content bytes.Buffer
		for _, record := range []*sluicev1.MetadataSnapshotRecord{
			{Record: &sluicev1.MetadataSnapshotRecord_Head{Head: head}},
			{Record: &sluicev1.MetadataSnapshotRecord_End{End: &sluicev1.SnapshotEnd{Records: 1}}},
		} {
			if _, err := protodelim.MarshalTo(&content, record); err != nil {
				t.Fatal(err)
			}
		}
		if state.New().Restore(&content) == nil {
			t.Errorf("%v was taken", head)
		}
	}
}
