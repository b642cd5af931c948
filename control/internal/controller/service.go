package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/page"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/version"
)

const (
	// watchBatch is how many decisions a watcher takes over at once.
	watchBatch = 256
	// maxListBytes keeps a list of decisions below the size of the largest message.
	maxListBytes = 3 << 20
)

// service answers operators, viewers and the page. It reads what the loop publishes.
type service struct {
	sluicev1.UnimplementedControllerServiceServer
	controller *Controller
	// stopping is closed to end what would go on for as long as a client listens.
	stopping <-chan struct{}
}

// Cluster returns the last state of every node, by name.
func (s *service) Cluster() page.Cluster {
	c := s.controller
	published, state, now := c.published.Load(), c.elector.State(), c.now()
	nodes := make([]page.Node, len(published.nodes))
	for i, node := range published.nodes {
		known := node.state.Load()
		nodes[i] = page.Node{Name: node.agent.Node, Address: node.agent.Address, Problem: known.problem}
		if known.latest != nil {
			nodes[i].Report, nodes[i].Age = known.latest.report, now.Sub(known.latest.askedAt)
		}
	}
	slices.SortFunc(nodes, func(a, b page.Node) int { return strings.Compare(a.Name, b.Name) })
	controller := &sluicev1.GetClusterResponse{
		Cluster: published.config.Cluster, Version: version.Number(),
		IsActive: state.Active, ActiveController: state.Leader, IsDryRun: published.config.DryRun,
	}
	return page.Cluster{Controller: controller, Nodes: nodes, Period: published.config.Period(), Levels: s.levels()}
}

// DecisionsAfter returns the decisions that are kept and whose sequence is greater, oldest first.
func (s *service) DecisionsAfter(sequence uint64) []*sluicev1.Decision {
	decisions, _ := s.controller.decisions.after(sequence, keptDecisions)
	return decisions
}

// GetCluster returns the last state of the nodes after the one that the page token names, by name: as many
// as the request wants and as fit into a message.
func (s *service) GetCluster(
	_ context.Context, request *sluicev1.GetClusterRequest,
) (*sluicev1.GetClusterResponse, error) {
	cluster := s.Cluster()
	first, isThere := slices.BinarySearchFunc(cluster.Nodes, request.GetPageToken(),
		func(node page.Node, token string) int { return strings.Compare(node.Name, token) })
	if isThere {
		first++
	}
	response, left := cluster.Controller, cluster.Nodes[first:]
	response.Nodes = firstPage(left, int(request.GetPageSize()))
	if count := len(response.GetNodes()); count < len(left) {
		response.NextPageToken = left[count-1].Name
	}
	return response, nil
}

// firstPage is the first page of some nodes: at most so many, 0 for no bound, and at least one.
func firstPage(nodes []page.Node, most int) []*sluicev1.NodeState {
	var shown []*sluicev1.NodeState
	bytes := 0
	for i := range nodes {
		message := nodes[i].Message()
		bytes += proto.Size(message)
		if i > 0 && (bytes > maxListBytes || i == most) {
			break
		}
		shown = append(shown, message)
	}
	return shown
}

// ListDecisions returns the last decisions that the request selects, as many as fit into a message.
func (s *service) ListDecisions(
	_ context.Context, request *sluicev1.ListDecisionsRequest,
) (*sluicev1.ListDecisionsResponse, error) {
	wanted := filter{request.GetNode(), request.GetPolicy(), request.GetChangesOnly()}
	kept := s.DecisionsAfter(0)
	var chosen []*sluicev1.Decision
	bytes := 0
	for _, decision := range slices.Backward(kept) {
		if !wanted.selects(decision) {
			continue
		}
		bytes += proto.Size(decision)
		if bytes > maxListBytes || request.GetLimit() > 0 && len(chosen) == int(request.GetLimit()) {
			break
		}
		chosen = append(chosen, decision)
	}
	slices.Reverse(chosen)
	return &sluicev1.ListDecisionsResponse{Decisions: chosen}, nil
}

// WatchDecisions sends decisions that are made from now on. What it skips counts all decisions, not only
// those that the request selects.
func (s *service) WatchDecisions(
	request *sluicev1.WatchDecisionsRequest, stream sluicev1.ControllerService_WatchDecisionsServer,
) error {
	wanted := filter{request.GetNode(), request.GetPolicy(), request.GetChangesOnly()}
	log := s.controller.decisions
	seen, skipped := log.newest(), uint64(0)
	for {
		select {
		case <-stream.Context().Done():
			return nil
		case <-s.stopping:
			return store.Errorf(store.CodeUnavailable, "this controller stops").
				WithHint("Ask again when it is back, or ask another one.")
		case <-log.wait(seen):
		}
		decisions, missed := log.after(seen, watchBatch)
		seen += missed + uint64(len(decisions))
		skipped += missed
		for _, decision := range decisions {
			if !wanted.selects(decision) {
				continue
			}
			if err := stream.Send(&sluicev1.WatchDecisionsResponse{Decision: decision, Skipped: skipped}); err != nil {
				return err
			}
			skipped = 0
		}
	}
}

// ListPolicies returns the policies, with their decisions of the last period in which this controller was
// the active one; of each, as many as fit into a message.
func (s *service) ListPolicies(
	context.Context, *sluicev1.ListPoliciesRequest,
) (*sluicev1.ListPoliciesResponse, error) {
	published := s.controller.published.Load()
	response := &sluicev1.ListPoliciesResponse{}
	for _, policy := range published.config.Policies {
		parameters, err := json.Marshal(policy.Parameters)
		if err != nil {
			return nil, fmt.Errorf("parameters of policy %s: %w", policy.Name, err)
		}
		_, paused := s.controller.pausedBy(policy.Name)
		response.Policies = append(response.Policies, &sluicev1.Policy{
			Name: policy.Name, Type: policy.Type, IsPaused: paused, ParametersJson: string(parameters),
			LastDecisions: bounded(published.lastDecisions[policy.Name], maxListBytes/len(published.config.Policies)),
		})
	}
	return response, nil
}

// bounded gives the first decisions that take so many bytes.
func bounded(decisions []*sluicev1.Decision, maxBytes int) []*sluicev1.Decision {
	bytes := 0
	for i, decision := range decisions {
		bytes += proto.Size(decision)
		if bytes > maxBytes {
			return decisions[:i]
		}
	}
	return decisions
}

// PausePolicy lets the leases of a policy run out.
func (s *service) PausePolicy(
	ctx context.Context, request *sluicev1.PausePolicyRequest,
) (*sluicev1.PausePolicyResponse, error) {
	caller, err := security.FromContext(ctx)
	if err != nil {
		return nil, err
	}
	if !s.controller.pause(request.GetName(), caller.String()) {
		return nil, s.noPolicy(request.GetName())
	}
	return &sluicev1.PausePolicyResponse{}, nil
}

// ResumePolicy ends a pause.
func (s *service) ResumePolicy(
	_ context.Context, request *sluicev1.ResumePolicyRequest,
) (*sluicev1.ResumePolicyResponse, error) {
	if !s.controller.resume(request.GetName()) {
		return nil, s.noPolicy(request.GetName())
	}
	return &sluicev1.ResumePolicyResponse{}, nil
}

func (s *service) noPolicy(name string) error {
	policies := s.controller.published.Load().config.Policies
	names := make([]string, len(policies))
	for i, policy := range policies {
		names[i] = policy.Name
	}
	return store.Errorf(store.CodeNotFound, "there is no policy %q", name).
		WithHint("Policies: %s.", strings.Join(names, ", "))
}
