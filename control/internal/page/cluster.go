package page

import (
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

// Cluster is the state of the cluster, as ControllerService.GetCluster has it.
type Cluster struct {
	// Controller is the answer of GetCluster without the nodes.
	Controller *sluicev1.GetClusterResponse
	// Nodes are sorted by name.
	Nodes []Node
	// Period is the time between two states.
	Period time.Duration
	// Levels are the service levels, by name.
	Levels []*sluicev1.ServiceLevelState
}

// Node is what is known of a node.
type Node struct {
	Name, Address string
	// Report is the last answer of its agent that could be used, nil if there was none. A newer answer is another
	// report; by that the page tells which nodes have changed.
	Report *wire.Report
	// Age is that of the report.
	Age time.Duration
	// Problem is why there is no newer one; empty if there is.
	Problem string
}

// Message is the node as GetCluster has it.
func (n *Node) Message() *sluicev1.NodeState {
	message := &sluicev1.NodeState{Node: n.Name, Address: n.Address, Problem: n.Problem}
	if n.Report != nil {
		message.Snapshot, message.Age = n.Report.Message(), durationpb.New(n.Age)
	}
	return message
}

func (n *Node) instances() []wire.InstanceSnapshot {
	if n.Report == nil {
		return nil
	}
	return n.Report.Instances
}

// isUnreachable says whether what is known of a node is old.
func (n *Node) isUnreachable() bool {
	return n.Problem != "" || n.Report == nil
}

// hasProblem says whether the node, or a store on it, does not answer, or a task has failed.
func (n *Node) hasProblem() bool {
	if n.isUnreachable() {
		return true
	}
	return slices.ContainsFunc(n.instances(), func(instance wire.InstanceSnapshot) bool {
		return instance.Problem != "" || slices.ContainsFunc(instance.Snapshot.Tasks, func(task store.Task) bool {
			return task.State == store.Failed
		})
	})
}

func (n *Node) hasLease() bool {
	return slices.ContainsFunc(n.instances(), func(instance wire.InstanceSnapshot) bool {
		return len(instance.Snapshot.Leases) > 0
	})
}

// isNamed says whether the node, or a store on it, has the text in its name. The text is in lower case.
func (n *Node) isNamed(text string) bool {
	if strings.Contains(strings.ToLower(n.Name), text) {
		return true
	}
	return slices.ContainsFunc(n.instances(), func(instance wire.InstanceSnapshot) bool {
		return strings.Contains(strings.ToLower(instance.Ref.Store+"/"+instance.Ref.Instance), text)
	})
}
