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

	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

// frame is the state of the cluster in one period. It is not changed, but remembers what was made of it.
type frame struct {
	// cluster gives the state, as it is when somebody looks at it first: for nobody the answers of ten thousand
	// agents need not be kept.
	cluster func() Cluster
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

func newFrame(source Source, at time.Time, since time.Duration) *frame {
	f := &frame{cluster: sync.OnceValue(source.Cluster), takenAt: at, since: since, nodes: map[int]json.RawMessage{}}
	f.summarise = sync.OnceValue(f.sum)
	return f
}

func (f *frame) sum() summary {
	nodes := f.cluster().Nodes
	total := summary{Nodes: len(nodes), Changes: f.changes, Stops: f.stops}
	for place := range nodes {
		node := &nodes[place]
		if node.isUnreachable() {
			total.Unreachable++
		}
		for _, instance := range node.instances() {
			total.addStore(instance)
		}
	}
	return total
}

func (s *summary) addStore(instance wire.InstanceSnapshot) {
	s.Stores++
	s.Leases += len(instance.Snapshot.Leases)
	for _, task := range instance.Snapshot.Tasks {
		s.addTask(task)
	}
	for _, debt := range instance.Snapshot.Debts {
		if debt.LimitBytes == 0 {
			continue
		}
		if share := float64(debt.Bytes) / float64(debt.LimitBytes); share > s.DebtShare {
			s.DebtShare, s.DebtOf = share, instance.Ref.String()
		}
	}
}

func (s *summary) addTask(task store.Task) {
	s.RateBytesPerSecond += task.RateBytesPerSecond
	switch task.State {
	case store.Running:
		s.Running++
	case store.Held:
		s.Held++
	case store.Queued, store.Deferred:
		s.Waiting++
	case store.Failed:
		s.Failed++
	}
}

// selectNodes returns the places of the nodes that a query asks for, before it is cut into pages.
func (f *frame) selectNodes(query clusterQuery) []int {
	var selected []int
	nodes := f.cluster().Nodes
	for place := range nodes {
		if query.matches(&nodes[place]) {
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
	made, err := marshal(f.node(place).Message())
	if err != nil {
		return nil, err
	}
	f.nodes[place] = made
	return made, nil
}

// controllerJSON is the state of the cluster without its nodes.
func (f *frame) controllerJSON() (json.RawMessage, error) {
	return marshal(f.cluster().Controller)
}

func (f *frame) node(place int) *Node {
	return &f.cluster().Nodes[place]
}

// find finds a node by its name, nil if there is none.
func (f *frame) find(name string) *Node {
	place, found := slices.BinarySearchFunc(f.cluster().Nodes, name, func(n Node, name string) int {
		return strings.Compare(n.Name, name)
	})
	if !found {
		return nil
	}
	return f.node(place)
}

// debt finds the debt of a target, nil if there is none.
func (f *frame) debt(of target) *store.Debt {
	node := f.find(of.node)
	if node == nil {
		return nil
	}
	for _, instance := range node.instances() {
		if instance.Ref.Store != of.store || instance.Ref.Instance != of.instance {
			continue
		}
		for i, debt := range instance.Snapshot.Debts {
			if wire.EncodeKind(debt.Kind) == of.kind && debt.Scope == of.scope {
				return &instance.Snapshot.Debts[i]
			}
		}
	}
	return nil
}

// has says whether there is a task, a debt or a lease of the target.
func (f *frame) has(wanted target) bool {
	node := f.find(wanted.node)
	if node == nil {
		return false
	}
	found := false
	eachLane(node, func(lane target, _ sample) {
		found = found || lane == wanted
	})
	return found
}

// marshal renders a message as the CLI does: with the names of the contract, and without leaving out
// what is zero.
// levelsJSON is the service levels of the frame.
func (f *frame) levelsJSON() ([]json.RawMessage, error) {
	all := []json.RawMessage{}
	for _, level := range f.cluster().Levels {
		made, err := marshal(level)
		if err != nil {
			return nil, err
		}
		all = append(all, made)
	}
	return all, nil
}

func marshal(message proto.Message) (json.RawMessage, error) {
	made, err := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("rendering a %s as JSON: %w", message.ProtoReflect().Descriptor().Name(), err)
	}
	return made, nil
}
