package page

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/wire"
)

// testCluster is a Source that does what a test tells it, and its clock.
type testCluster struct {
	mu        sync.Mutex
	now       time.Time
	state     Cluster
	decisions []*sluicev1.Decision
}

// newTestCluster has so many nodes, each with a checkpoint that writes 1 MB/s more than that before.
func newTestCluster(nodes int) *testCluster {
	c := &testCluster{now: time.Now()}
	c.state.Controller = &sluicev1.GetClusterResponse{Cluster: "test", IsActive: true, ActiveController: "ctl-1"}
	for i := range nodes {
		c.state.Nodes = append(c.state.Nodes, nodeThatAnswered(answerOf(nodeName(i), float64(i+1)*1e6)))
	}
	return c
}

func nodeThatAnswered(answer *sluicev1.GetSnapshotResponse) Node {
	report, err := wire.NewReport(answer.GetNode(), answer, time.Now())
	if err != nil {
		panic(err)
	}
	return Node{Name: answer.GetNode(), Address: answer.GetNode() + ":7411", Report: report}
}

func nodeThatFailed(place int, problem string) Node {
	return Node{Name: nodeName(place), Problem: problem}
}

func nodeName(i int) string { return fmt.Sprintf("db-%05d", i) }

func answerOf(node string, rate float64) *sluicev1.GetSnapshotResponse {
	return &sluicev1.GetSnapshotResponse{
		Node: node, Signals: &sluicev1.NodeSignals{CpuUsed: 0.25},
		Snapshots: []*sluicev1.Snapshot{{
			Ref: &sluicev1.StoreRef{Store: "postgres", Instance: "main"}, Age: durationpb.New(0),
			Tasks: []*sluicev1.Task{{
				Id: "1", Kind: sluicev1.Kind_KIND_CHECKPOINT, State: sluicev1.State_STATE_RUNNING,
				BytesDone: 10, BytesTotal: 100, RateBytesPerSecond: rate,
			}},
			Debts: []*sluicev1.Debt{{Kind: sluicev1.Kind_KIND_CHECKPOINT, Bytes: 600, LimitBytes: 1000}},
			Latencies: []*sluicev1.Latency{
				latencyOf("write", 10, 9*time.Millisecond), latencyOf("write", 10, 4*time.Millisecond), latencyOf("read", 0, 0),
			},
		}},
	}
}

func latencyOf(class string, count uint64, p99 time.Duration) *sluicev1.Latency {
	return &sluicev1.Latency{
		RequestClass: class, Count: count, P99: durationpb.New(p99),
		Age: durationpb.New(0), Interval: durationpb.New(time.Second),
	}
}

func checkpointOf(node int) target {
	return target{node: nodeName(node), store: "postgres", instance: "main", kind: sluicev1.Kind_KIND_CHECKPOINT}
}

func (c *testCluster) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testCluster) Cluster() Cluster {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

func (c *testCluster) DecisionsAfter(sequence uint64) []*sluicev1.Decision {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.decisions[min(sequence, uint64(len(c.decisions))):]
}

// pass lets time go by.
func (c *testCluster) pass(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// change replaces the state of a node.
func (c *testCluster) change(place int, node Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := slices.Clone(c.state.Nodes)
	next[place] = node
	c.state.Nodes = next
}

// answer lets the agent of a node answer with another rate.
func (c *testCluster) answer(place int, rate float64) {
	c.change(place, nodeThatAnswered(answerOf(nodeName(place), rate)))
}

// decide adds a decision about the checkpoint of a node.
func (c *testCluster) decide(node int, verdict sluicev1.Verdict, rate float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.decisions = append(c.decisions, &sluicev1.Decision{
		Sequence: uint64(len(c.decisions) + 1), Policy: "latency", Node: nodeName(node),
		Ref:  &sluicev1.StoreRef{Store: "postgres", Instance: "main"},
		Kind: sluicev1.Kind_KIND_CHECKPOINT, Verdict: verdict, Setting: rateSetting(rate),
		WasWritten: verdict == sluicev1.Verdict_VERDICT_CHANGE, Reason: "p99 is over the target",
	})
}

func rateSetting(rate float64) *sluicev1.Setting {
	return &sluicev1.Setting{Name: "rate_bytes_per_second", Value: &sluicev1.Setting_Number{Number: rate}}
}

// recordLater records the state of a second later.
func recordLater(p *Page, c *testCluster) {
	c.pass(time.Second)
	p.Record()
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("never came true: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}
