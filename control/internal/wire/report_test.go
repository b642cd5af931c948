package wire_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/wire"
)

var nodeSnapshots = rapid.Custom(func(t *rapid.T) wire.NodeSnapshot {
	return wire.NodeSnapshot{
		Node:         "n1",
		Version:      texts.Draw(t, "version"),
		Signals:      signals(reportedAt).Draw(t, "signals"),
		Descriptions: listOf(descriptions).Draw(t, "descriptions"),
		Instances:    listOf(instances("n1", reportedAt)).Draw(t, "instances"),
		Clients:      listOf(clientLatencies("n1", reportedAt)).Draw(t, "clients"),
	}
})

var reportedAt = time.Now()

func TestReportsAreReadOneAfterTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reader := wire.NewReportReader("n1", nil)
		for _, want := range rapid.SliceOfN(nodeSnapshots, 1, 4).Draw(t, "snapshots") {
			message := wire.EncodeNodeSnapshot(want, reportedAt)
			encoded, err := proto.Marshal(message)
			if err != nil {
				t.Fatal(err)
			}
			// The second time it changes nothing.
			for range 2 {
				report, err := reader.Read(encoded, reportedAt)
				requireReport(t, report, want, err)
				if got := report.Message(); !proto.Equal(got, message) {
					t.Fatalf("the message is %v, want %v", got, message)
				}
			}
		}
	})
}

func TestReportsFollowTheAnswerToACall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		answer := wire.EncodeNodeSnapshot(nodeSnapshots.Draw(t, "answer"), reportedAt)
		last, err := wire.NewReport("n1", answer, reportedAt)
		if err != nil {
			t.Fatal(err)
		}
		if got := last.Message(); !proto.Equal(got, answer) {
			t.Fatalf("the answer is %v, want %v", got, answer)
		}
		want := nodeSnapshots.Draw(t, "snapshot")
		if rapid.Bool().Draw(t, "of the same stores") {
			want.Descriptions = last.Descriptions
		}
		encoded, err := proto.Marshal(wire.EncodeNodeSnapshot(want, reportedAt))
		if err != nil {
			t.Fatal(err)
		}
		report, err := wire.NewReportReader("n1", last).Read(encoded, reportedAt)
		requireReport(t, report, want, err)
	})
}

func requireReport(t rapid.TB, got *wire.Report, want wire.NodeSnapshot, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	requireEqual(t, got.NodeSnapshot, want, nil)
}

// Whoever reads reports without their messages must come to what the messages say.
func checkReading(t *testing.T, reader *wire.ReportReader, encoded []byte) {
	t.Helper()
	report, err := reader.Read(encoded, reportedAt)
	message := new(sluicev1.GetSnapshotResponse)
	wantErr := proto.Unmarshal(encoded, message)
	if wantErr != nil {
		if err == nil {
			t.Fatalf("%x is read, though %v", encoded, wantErr)
		}
		return
	}
	want, wantErr := wire.DecodeNodeSnapshot("n1", message, reportedAt)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%x is read with the error %v, want %v", encoded, err, wantErr)
	}
	if err == nil && !reflect.DeepEqual(report.NodeSnapshot, want) {
		t.Fatalf("got  %+v\nwant %+v", report.NodeSnapshot, want)
	}
}

// FuzzReportReader reads two reports of a node, the second one twice, since it may share parts of the first.
func FuzzReportReader(f *testing.F) {
	good := encode(f, goodReport())
	f.Add(good, good)
	f.Add(good, good[:len(good)-1])
	f.Add([]byte{}, append(protowire.AppendTag(nil, 15, protowire.StartGroupType), good...))
	f.Add(good, append(protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 7), good...))
	f.Add(good, append(slices.Clone(good), good...))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		reader := wire.NewReportReader("n1", nil)
		checkReading(t, reader, first)
		checkReading(t, reader, second)
		checkReading(t, reader, second)
	})
}

// readAfterAnother reads a report as the second one of its node.
func readAfterAnother(t *testing.T, message *sluicev1.GetSnapshotResponse) error {
	t.Helper()
	reader := wire.NewReportReader("n1", nil)
	if _, err := reader.Read(encode(t, goodReport()), reportedAt); err != nil {
		t.Fatal(err)
	}
	_, err := reader.Read(encode(t, message), reportedAt)
	return err
}

func encode(t testing.TB, message proto.Message) []byte {
	t.Helper()
	encoded, err := proto.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// What only a newer version knows is left out, and passed on.
func TestReportsOfNewerVersions(t *testing.T) {
	report := goodReport()
	report.Snapshots[0].Tasks = append(report.Snapshots[0].Tasks, &sluicev1.Task{Id: "new", Kind: 99})
	encoded := encode(t, report)
	encoded = protowire.AppendVarint(protowire.AppendTag(encoded, 99, protowire.VarintType), 7)
	reader := wire.NewReportReader("n1", nil)
	for range 2 {
		checkReading(t, reader, encoded)
	}
	read, err := reader.Read(encoded, reportedAt)
	if err != nil {
		t.Fatal(err)
	}
	passedOn := read.Message()
	if len(passedOn.ProtoReflect().GetUnknown()) == 0 || len(passedOn.GetSnapshots()[0].GetTasks()) != 2 {
		t.Errorf("passed on is %v", passedOn)
	}
}

func BenchmarkReportReader(b *testing.B) {
	encoded := encode(b, goodReport())
	reader := wire.NewReportReader("n1", nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := reader.Read(encoded, reportedAt); err != nil {
			b.Fatal(err)
		}
	}
}
