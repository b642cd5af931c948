package page

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// testCluster is a Source that does what a test tells it, and its clock.
type testCluster struct {
	mu        sync.Mutex
	now       time.Time
	state     *sluicev1.GetClusterResponse
	decisions []*sluicev1.Decision
}

// newTestCluster has so many nodes, each with a checkpoint that writes 1 MB/s more than that before.
func newTestCluster(nodes int) *testCluster {
	c := &testCluster{now: time.Now()}
	c.state = &sluicev1.GetClusterResponse{Cluster: "test", IsActive: true, ActiveController: "ctl-1"}
	for i := range nodes {
		name := nodeName(i)
		c.state.Nodes = append(c.state.Nodes, &sluicev1.NodeState{
			Node: name, Address: name + ":7411", Snapshot: answerOf(name, float64(i+1)*1e6), Age: durationpb.New(0),
		})
	}
	return c
}

func nodeName(i int) string { return fmt.Sprintf("db-%05d", i) }

func answerOf(node string, rate float64) *sluicev1.GetSnapshotResponse {
	return &sluicev1.GetSnapshotResponse{
		Node: node, Signals: &sluicev1.NodeSignals{CpuUsed: 0.25},
		Snapshots: []*sluicev1.Snapshot{{
			Ref: &sluicev1.StoreRef{Store: "postgres", Instance: "main"},
			Tasks: []*sluicev1.Task{{
				Kind: sluicev1.Kind_KIND_CHECKPOINT, State: sluicev1.State_STATE_RUNNING,
				BytesDone: 10, BytesTotal: 100, RateBytesPerSecond: rate,
			}},
			Debts: []*sluicev1.Debt{{Kind: sluicev1.Kind_KIND_CHECKPOINT, Bytes: 600, LimitBytes: 1000}},
			Latencies: []*sluicev1.Latency{
				{RequestClass: "write", Count: 10, P99: durationpb.New(9 * time.Millisecond)},
				{RequestClass: "write", Count: 10, P99: durationpb.New(4 * time.Millisecond)},
				{RequestClass: "read", Count: 0},
			},
		}},
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

func (c *testCluster) Cluster() *sluicev1.GetClusterResponse {
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
func (c *testCluster) change(place int, node *sluicev1.NodeState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := &sluicev1.GetClusterResponse{Cluster: c.state.GetCluster(), IsActive: c.state.GetIsActive()}
	next.Nodes = append(next.Nodes, c.state.GetNodes()...)
	next.Nodes[place] = node
	c.state = next
}

// answer lets the agent of a node answer with another rate.
func (c *testCluster) answer(place int, rate float64) {
	c.change(place, &sluicev1.NodeState{Node: nodeName(place), Snapshot: answerOf(nodeName(place), rate)})
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
	deadline := time.Now().Add(30 * time.Second)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("never came true: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}
