package page

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// frame is the state of the cluster in one period. It is not changed, but remembers what was made of it.
type frame struct {
	cluster *sluicev1.GetClusterResponse
	// takenAt is the time of the period, since is counted from the start of the page.
	takenAt time.Time
	since   time.Duration
	// changes and stops count the decisions of the time that timelines show.
	changes, stops int

	summarise func() summary

	mu    sync.Mutex
	nodes map[int]json.RawMessage
}

// summary is the cluster in a few figures.
type summary struct {
	Nodes       int `json:"nodes"`
	Unreachable int `json:"unreachable"`
	Stores      int `json:"stores"`
	Running     int `json:"running"`
	Held        int `json:"held"`
	Waiting     int `json:"waiting"` // queued or deferred
	Failed      int `json:"failed"`
	Leases      int `json:"leases"`
	// RateBytesPerSecond is that of all tasks together.
	RateBytesPerSecond float64 `json:"rate_bytes_per_second"`
	// DebtShare is the highest share of its limit that any debt has, 0 to 1, and DebtOf whose it is.
	DebtShare float64 `json:"debt_share"`
	DebtOf    string  `json:"debt_of"`
	Changes   int     `json:"changes"`
	Stops     int     `json:"stops"`
}

func newFrame(cluster *sluicev1.GetClusterResponse, at time.Time, since time.Duration) *frame {
	f := &frame{cluster: cluster, takenAt: at, since: since, nodes: map[int]json.RawMessage{}}
	f.summarise = sync.OnceValue(f.sum)
	return f
}

func (f *frame) sum() summary {
	total := summary{Nodes: len(f.cluster.GetNodes()), Changes: f.changes, Stops: f.stops}
	for _, node := range f.cluster.GetNodes() {
		if isUnreachable(node) {
			total.Unreachable++
		}
		for _, snapshot := range node.GetSnapshot().GetSnapshots() {
			total.addStore(node.GetNode(), snapshot)
		}
	}
	return total
}

func (s *summary) addStore(node string, snapshot *sluicev1.Snapshot) {
	s.Stores++
	s.Leases += len(snapshot.GetLeases())
	for _, task := range snapshot.GetTasks() {
		s.addTask(task)
	}
	for _, debt := range snapshot.GetDebts() {
		if debt.GetLimitBytes() == 0 {
			continue
		}
		share := float64(debt.GetBytes()) / float64(debt.GetLimitBytes())
		if share > s.DebtShare {
			ref := snapshot.GetRef()
			s.DebtShare, s.DebtOf = share, node+"/"+ref.GetStore()+"/"+ref.GetInstance()
		}
	}
}

func (s *summary) addTask(task *sluicev1.Task) {
	s.RateBytesPerSecond += task.GetRateBytesPerSecond()
	switch task.GetState() {
	case sluicev1.State_STATE_RUNNING:
		s.Running++
	case sluicev1.State_STATE_HELD:
		s.Held++
	case sluicev1.State_STATE_QUEUED, sluicev1.State_STATE_DEFERRED:
		s.Waiting++
	case sluicev1.State_STATE_FAILED:
		s.Failed++
	}
}

// isUnreachable says whether what is known of a node is old.
func isUnreachable(node *sluicev1.NodeState) bool {
	return node.GetProblem() != "" || node.GetSnapshot() == nil
}

// hasProblem says whether the node, or a store on it, does not answer, or a task has failed.
func hasProblem(node *sluicev1.NodeState) bool {
	if isUnreachable(node) {
		return true
	}
	return slices.ContainsFunc(node.GetSnapshot().GetSnapshots(), func(s *sluicev1.Snapshot) bool {
		return s.GetProblem() != "" || slices.ContainsFunc(s.GetTasks(), func(t *sluicev1.Task) bool {
			return t.GetState() == sluicev1.State_STATE_FAILED
		})
	})
}

func hasLease(node *sluicev1.NodeState) bool {
	return slices.ContainsFunc(node.GetSnapshot().GetSnapshots(), func(s *sluicev1.Snapshot) bool {
		return len(s.GetLeases()) > 0
	})
}

// names says whether the node, or a store on it, has the text in its name. The text is in lower case.
func names(node *sluicev1.NodeState, text string) bool {
	if strings.Contains(strings.ToLower(node.GetNode()), text) {
		return true
	}
	return slices.ContainsFunc(node.GetSnapshot().GetSnapshots(), func(s *sluicev1.Snapshot) bool {
		name := s.GetRef().GetStore() + "/" + s.GetRef().GetInstance()
		return strings.Contains(strings.ToLower(name), text)
	})
}

// selectNodes returns the places of the nodes that a query asks for, before it is cut into pages.
func (f *frame) selectNodes(query clusterQuery) []int {
	var selected []int
	for place, node := range f.cluster.GetNodes() {
		if query.matches(node) {
			selected = append(selected, place)
		}
	}
	return selected
}

// window cuts the page that a query asks for out of the places of the matching nodes, or the last page
// if there are no longer so many.
func window(places []int, query clusterQuery) (offset int, shown []int) {
	offset = query.offset
	if offset >= len(places) {
		offset = max(0, (len(places)-1)/query.limit*query.limit)
	}
	return offset, places[offset:min(len(places), offset+query.limit)]
}

// nodeJSON is the state of the node at a place. Many streams show the same nodes, so it is made once.
func (f *frame) nodeJSON(place int) (json.RawMessage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if made, ok := f.nodes[place]; ok {
		return made, nil
	}
	made, err := marshal(f.cluster.GetNodes()[place])
	if err != nil {
		return nil, err
	}
	f.nodes[place] = made
	return made, nil
}

// controllerJSON is the state of the cluster without its nodes.
func (f *frame) controllerJSON() (json.RawMessage, error) {
	return marshal(&sluicev1.GetClusterResponse{
		Cluster:          f.cluster.GetCluster(),
		Version:          f.cluster.GetVersion(),
		IsActive:         f.cluster.GetIsActive(),
		ActiveController: f.cluster.GetActiveController(),
		IsDryRun:         f.cluster.GetIsDryRun(),
	})
}

// node finds a node by its name, nil if there is none.
func (f *frame) node(name string) *sluicev1.NodeState {
	nodes := f.cluster.GetNodes()
	place, found := slices.BinarySearchFunc(nodes, name, func(n *sluicev1.NodeState, name string) int {
		return strings.Compare(n.GetNode(), name)
	})
	if !found {
		return nil
	}
	return nodes[place]
}

// debt finds the debt of a target, nil if there is none.
func (f *frame) debt(of target) *sluicev1.Debt {
	for _, snapshot := range f.node(of.node).GetSnapshot().GetSnapshots() {
		if snapshot.GetRef().GetStore() != of.store || snapshot.GetRef().GetInstance() != of.instance {
			continue
		}
		for _, debt := range snapshot.GetDebts() {
			if debt.GetKind() == of.kind && debt.GetScope() == of.scope {
				return debt
			}
		}
	}
	return nil
}

// has says whether there is a task, a debt or a lease of the target.
func (f *frame) has(wanted target) bool {
	found := false
	eachLane(f.node(wanted.node), func(lane target, _ sample) {
		found = found || lane == wanted
	})
	return found
}

// marshal renders a message as the CLI does: with the names of the contract, and without leaving out
// what is zero.
func marshal(message proto.Message) (json.RawMessage, error) {
	made, err := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("rendering a %s as JSON: %w", message.ProtoReflect().Descriptor().Name(), err)
	}
	return made, nil
}
