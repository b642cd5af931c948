package listing_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"sluice.dev/control/internal/cli/clitest"
	"sluice.dev/control/internal/cli/listing"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

func TestFilters(t *testing.T) {
	state := clitest.State()
	for _, test := range []struct {
		name   string
		filter listing.Filter
		want   []string
	}{
		{"all", listing.Filter{}, []string{"compaction-17", "compaction-18", "flush-4", "17", "c-4", "c-5"}},
		{"node", listing.Filter{Node: "db2"}, nil},
		{"store", listing.Filter{Store: "rocksdb"}, []string{"c-4", "c-5"}},
		{"kind", listing.Filter{Kind: "checkpoint"}, []string{"17"}},
		{"unknown kind", listing.Filter{Kind: "CHECKPOINT"}, nil},
	} {
		var got []string
		for _, task := range listing.Tasks(state, test.filter) {
			got = append(got, task.Part.GetId())
		}
		if strings.Join(got, " ") != strings.Join(test.want, " ") {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestLeasesOfAPolicy(t *testing.T) {
	leases := listing.Leases(clitest.State(), listing.Filter{Policy: "nightly"})
	if len(leases) != 2 || leases[1].Target() != "db1/postgres/main" {
		t.Fatalf("got %v", leases)
	}
	// 4.2 s, less the 0.1 s of the snapshot and the 0.4 s of the agent's answer.
	if got := listing.TimeLeft(leases[1]); got != 3700*time.Millisecond {
		t.Errorf("time left is %v", got)
	}
}

func TestTimeLeftIsNeverNegative(t *testing.T) {
	lease := listing.Leases(clitest.State(), listing.Filter{})[0]
	lease.Age = time.Hour
	if got := listing.TimeLeft(lease); got != 0 {
		t.Errorf("time left is %v", got)
	}
}

func TestInstancesJoinDescriptionAndSnapshot(t *testing.T) {
	instances := listing.Instances(clitest.State(), listing.Filter{})
	var got []string
	for _, instance := range instances {
		got = append(got, instance.Target()+" "+instance.Part.Description.GetStoreVersion())
	}
	want := "db1/hbase/regionserver 2.6.4-hadoop3, db1/postgres/main 17.11, db1/rocksdb/orders 10.4.2, db2/postgres/main "
	if strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", strings.Join(got, ", "), want)
	}
	if instances[1].Part.Snapshot == nil || instances[1].Age != 500*time.Millisecond {
		t.Errorf("the second one has the snapshot %v of age %v", instances[1].Part.Snapshot, instances[1].Age)
	}
}

func TestLatenciesOfTheLastInterval(t *testing.T) {
	filter := listing.Filter{Node: "db1"}
	if every := listing.Latencies(clitest.State(), filter, false); len(every) != 6 {
		t.Errorf("there are %d in all", len(every))
	}
	last := listing.Latencies(clitest.State(), filter, true)
	if len(last) != 5 || last[3].Part.GetCount() != 90 {
		t.Errorf("the last ones are %v", last)
	}
	if clients := last[4]; clients.Target() != "db1/hbase/(clients)" || clients.Part.GetCount() != 800 || clients.Age != 500*time.Millisecond {
		t.Errorf("that of clients is %v", clients)
	}
	if others := listing.Latencies(clitest.State(), listing.Filter{Store: "postgres"}, false); len(others) != 4 {
		t.Errorf("of PostgreSQL there are %v", others)
	}
}

func TestTableIsAlignedAndHasAFieldForEachColumn(t *testing.T) {
	table := listing.Table{Header: []string{"NAME", "VALUE"}, Rows: [][]listing.Cell{
		{{Text: "größe"}, {Text: "a\tb\x1b[31m\n", Tone: listing.Bad}},
		{{}, {Text: "c"}},
	}}
	for colours, want := range map[bool]string{
		false: "NAME   VALUE\ngröße  a b?[31m\n-      c\n",
		true:  "NAME   VALUE\ngröße  \x1b[31ma b?[31m\x1b[0m\n-      c\n",
	} {
		var got bytes.Buffer
		if err := table.Write(&got, colours); err != nil {
			t.Fatal(err)
		}
		if got.String() != want {
			t.Errorf("colours %t: got\n%q, want\n%q", colours, got.String(), want)
		}
	}
}

func TestWord(t *testing.T) {
	for value, want := range map[fmt.Stringer]string{
		sluicev1.Kind_KIND_LOG_PLACEMENT: "log-placement",
		sluicev1.State_STATE_HELD:        "held",
		sluicev1.Verdict_VERDICT_STOP:    "stop",
		sluicev1.Kind(99):                "99",
	} {
		if got := listing.Word(value); got != want {
			t.Errorf("Word(%v) = %q, want %q", value, got, want)
		}
	}
}

// protojson alone adds spaces at random, from build to build.
func TestMessagesAreCompactAndReadBack(t *testing.T) {
	state := clitest.State()
	content, err := json.Marshal(listing.Message{Message: state})
	if err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, content); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(compact.Bytes(), content) {
		t.Error("there are spaces")
	}
	var again sluicev1.GetClusterResponse
	if err := protojson.Unmarshal(content, &again); err != nil || !proto.Equal(&again, state) {
		t.Errorf("it is not read back: %v", err)
	}
}

func TestYAMLKeepsOrderAndTextsThatLookLikeNumbers(t *testing.T) {
	var got bytes.Buffer
	err := listing.WriteYAML(&got, struct {
		Later   string `json:"z"`
		Earlier int    `json:"a"`
	}{"17", 17})
	if err != nil {
		t.Fatal(err)
	}
	if want := "z: \"17\"\na: 17\n"; got.String() != want {
		t.Errorf("got %q, want %q", got.String(), want)
	}
}

func TestTaskHistory(t *testing.T) {
	var history listing.TaskHistory
	events := func(state *sluicev1.GetClusterResponse) string {
		var texts []string
		for _, event := range history.Events(state, listing.Filter{}) {
			texts = append(texts, event.Event+" "+event.Part.GetId())
		}
		return strings.Join(texts, ", ")
	}
	state := clitest.State()
	if got := events(state); got != "new compaction-17, new compaction-18, new flush-4, new 17, new c-4, new c-5" {
		t.Errorf("first look: %q", got)
	}

	older := clitest.State()
	older.GetNodes()[1].GetSnapshot().GetSnapshots()[1].GetTasks()[0].Age = nil
	if got := events(older); got != "" {
		t.Errorf("only older: %q", got)
	}

	later := clitest.State()
	snapshots := later.GetNodes()[1].GetSnapshot().GetSnapshots()
	snapshots[1].GetTasks()[0].BytesDone++
	snapshots[0].Tasks = snapshots[0].GetTasks()[:1]
	if got := events(later); got != "changed 17, gone c-5" {
		t.Errorf("one changed, one gone: %q", got)
	}

	silent := clitest.State()
	silent.GetNodes()[1].Snapshot = nil
	if got := events(silent); got != "" {
		t.Errorf("the node is silent: %q", got)
	}
	if got := events(clitest.State()); got != "changed 17, new c-5" {
		t.Errorf("the node is back: %q", got)
	}
}
