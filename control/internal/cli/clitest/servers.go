package clitest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/store"
)

// Orders keeps the orders that a server gets.
type Orders struct {
	mutex   sync.Mutex
	taken   []proto.Message
	refusal error
}

// Taken are those that came in, the oldest first.
func (o *Orders) Taken() []proto.Message {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return slices.Clone(o.taken)
}

// Refuse makes every order from now on end with an error.
func (o *Orders) Refuse(refusal error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.refusal = refusal
}

func (o *Orders) take(order proto.Message) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.taken = append(o.taken, order)
	return o.refusal
}

// Controller answers with the data of this package.
type Controller struct {
	sluicev1.UnimplementedControllerServiceServer
	Orders

	// BrokenStreams is how many streams of decisions end right after the decisions.
	BrokenStreams atomic.Int32
}

// GetCluster answers with State, a node at a time: the token is the name of the one before.
func (c *Controller) GetCluster(
	_ context.Context, request *sluicev1.GetClusterRequest,
) (*sluicev1.GetClusterResponse, error) {
	state := State()
	next := 1 + slices.IndexFunc(state.GetNodes(), func(node *sluicev1.NodeState) bool {
		return node.GetNode() == request.GetPageToken()
	})
	rest := state.GetNodes()[next:]
	state.Nodes = rest[:1]
	if len(rest) > 1 {
		state.NextPageToken = rest[0].GetNode()
	}
	return state, nil
}

// ListDecisions answers with those of Decisions that were asked for.
func (c *Controller) ListDecisions(
	_ context.Context, request *sluicev1.ListDecisionsRequest,
) (*sluicev1.ListDecisionsResponse, error) {
	decisions := slices.DeleteFunc(Decisions(), func(decision *sluicev1.Decision) bool {
		return request.GetNode() != "" && request.GetNode() != decision.GetNode() ||
			request.GetPolicy() != "" && request.GetPolicy() != decision.GetPolicy() ||
			request.GetChangesOnly() && decision.GetVerdict() == sluicev1.Verdict_VERDICT_KEEP
	})
	if limit := int(request.GetLimit()); limit > 0 && limit < len(decisions) {
		decisions = decisions[len(decisions)-limit:]
	}
	return &sluicev1.ListDecisionsResponse{Decisions: decisions}, nil
}

// WatchDecisions sends Decisions, the last one after five others that were left out, and goes on until
// the client ends it.
func (c *Controller) WatchDecisions(
	_ *sluicev1.WatchDecisionsRequest, stream grpc.ServerStreamingServer[sluicev1.WatchDecisionsResponse],
) error {
	for i, decision := range Decisions() {
		response := &sluicev1.WatchDecisionsResponse{Decision: decision}
		if i == 2 {
			response.Skipped = 5
		}
		if err := stream.Send(response); err != nil {
			return err
		}
	}
	if c.BrokenStreams.Add(-1) >= 0 {
		return store.Errorf(store.CodeUnavailable, "the controller restarts")
	}
	<-stream.Context().Done()
	return nil
}

// ListPolicies answers with Policies.
func (c *Controller) ListPolicies(
	context.Context, *sluicev1.ListPoliciesRequest,
) (*sluicev1.ListPoliciesResponse, error) {
	return &sluicev1.ListPoliciesResponse{Policies: Policies()}, nil
}

// PausePolicy keeps the order.
func (c *Controller) PausePolicy(
	_ context.Context, request *sluicev1.PausePolicyRequest,
) (*sluicev1.PausePolicyResponse, error) {
	return &sluicev1.PausePolicyResponse{}, c.take(request)
}

// ResumePolicy keeps the order.
func (c *Controller) ResumePolicy(
	_ context.Context, request *sluicev1.ResumePolicyRequest,
) (*sluicev1.ResumePolicyResponse, error) {
	return &sluicev1.ResumePolicyResponse{}, c.take(request)
}

// RelaySetLease keeps the order and answers with the lease that it asks for.
func (c *Controller) RelaySetLease(
	_ context.Context, request *sluicev1.RelaySetLeaseRequest,
) (*sluicev1.RelaySetLeaseResponse, error) {
	return &sluicev1.RelaySetLeaseResponse{
		Response: &sluicev1.SetLeaseResponse{Lease: leaseOf(request.GetRequest())},
	}, c.take(request)
}

// RelayClearLeases keeps the order and answers with two.
func (c *Controller) RelayClearLeases(
	_ context.Context, request *sluicev1.RelayClearLeasesRequest,
) (*sluicev1.RelayClearLeasesResponse, error) {
	return &sluicev1.RelayClearLeasesResponse{
		Response: &sluicev1.ClearLeasesResponse{Cleared: 2},
	}, c.take(request)
}

// RelayStartTask keeps the order.
func (c *Controller) RelayStartTask(
	_ context.Context, request *sluicev1.RelayStartTaskRequest,
) (*sluicev1.RelayStartTaskResponse, error) {
	return &sluicev1.RelayStartTaskResponse{}, c.take(request)
}

// RelayAbortTask keeps the order.
func (c *Controller) RelayAbortTask(
	_ context.Context, request *sluicev1.RelayAbortTaskRequest,
) (*sluicev1.RelayAbortTaskResponse, error) {
	return &sluicev1.RelayAbortTaskResponse{}, c.take(request)
}

// ListServiceLevels answers with ServiceLevels.
func (c *Controller) ListServiceLevels(
	context.Context, *sluicev1.ListServiceLevelsRequest,
) (*sluicev1.ListServiceLevelsResponse, error) {
	return &sluicev1.ListServiceLevelsResponse{ServiceLevels: ServiceLevels()}, nil
}

// ApplyServiceLevels keeps the order, and admits all but what is named "huge".
func (c *Controller) ApplyServiceLevels(
	_ context.Context, request *sluicev1.ApplyServiceLevelsRequest,
) (*sluicev1.ApplyServiceLevelsResponse, error) {
	response := &sluicev1.ApplyServiceLevelsResponse{IsStored: !request.GetIsDryRun()}
	for _, level := range request.GetServiceLevels() {
		admission := &sluicev1.ServiceLevelAdmission{ServiceLevel: level, IsAdmitted: true, IsChanged: true, Lines: []string{"1 + 1 = 2"}}
		if level.GetName() == "huge" {
			admission.IsAdmitted, response.IsStored = false, false
			admission.Reason, admission.Nearest = "it takes 3GB, and 2GB may be reserved", "possible are: this with 5 nodes like these"
		}
		response.Admissions = append(response.Admissions, admission)
	}
	return response, c.take(request)
}

// ExplainServiceLevel answers with the first of ServiceLevels.
func (c *Controller) ExplainServiceLevel(
	context.Context, *sluicev1.ExplainServiceLevelRequest,
) (*sluicev1.ExplainServiceLevelResponse, error) {
	level := ServiceLevels()[0]
	return &sluicev1.ExplainServiceLevelResponse{
		State: level,
		Admission: &sluicev1.ServiceLevelAdmission{
			ServiceLevel: level.GetServiceLevel(), IsAdmitted: true, Lines: []string{"nodes: 3", "orders is admitted"},
		},
	}, nil
}

// DeleteServiceLevel keeps the order.
func (c *Controller) DeleteServiceLevel(
	_ context.Context, request *sluicev1.DeleteServiceLevelRequest,
) (*sluicev1.DeleteServiceLevelResponse, error) {
	return &sluicev1.DeleteServiceLevelResponse{}, c.take(request)
}

func leaseOf(request *sluicev1.SetLeaseRequest) *sluicev1.Lease {
	return &sluicev1.Lease{
		Kind: request.GetKind(), Scope: request.GetScope(), Setting: request.GetSetting(),
		Owner: request.GetOwner(), TimeLeft: request.GetTimeToLive(),
	}
}

// Agent answers as that of node db1 with the data of this package.
type Agent struct {
	sluicev1.UnimplementedAgentServiceServer
	Orders
}

// GetSnapshot answers with what State has of the node.
func (a *Agent) GetSnapshot(context.Context, *sluicev1.GetSnapshotRequest) (*sluicev1.GetSnapshotResponse, error) {
	return firstNode(), nil
}

// SetLease keeps the order and answers with the lease that it asks for.
func (a *Agent) SetLease(
	_ context.Context, request *sluicev1.SetLeaseRequest,
) (*sluicev1.SetLeaseResponse, error) {
	return &sluicev1.SetLeaseResponse{Lease: leaseOf(request)}, a.take(request)
}

// ClearLeases keeps the order and answers with one.
func (a *Agent) ClearLeases(
	_ context.Context, request *sluicev1.ClearLeasesRequest,
) (*sluicev1.ClearLeasesResponse, error) {
	return &sluicev1.ClearLeasesResponse{Cleared: 1}, a.take(request)
}

// StartTask keeps the order.
func (a *Agent) StartTask(
	_ context.Context, request *sluicev1.StartTaskRequest,
) (*sluicev1.StartTaskResponse, error) {
	return &sluicev1.StartTaskResponse{}, a.take(request)
}

// AbortTask keeps the order.
func (a *Agent) AbortTask(
	_ context.Context, request *sluicev1.AbortTaskRequest,
) (*sluicev1.AbortTaskResponse, error) {
	return &sluicev1.AbortTaskResponse{}, a.take(request)
}

// Serve runs a server of the holder until the test ends, and returns its address.
func Serve(t testing.TB, credentials *security.Credentials, register func(*grpc.Server)) string {
	t.Helper()
	listener, err := protocol.Listen(context.Background(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(protocol.ServerOptions(credentials)...)
	register(server)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		// A test that is over at once stops it before it has begun.
		if err := <-ended; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			t.Errorf("the server ended with: %v", err)
		}
	})
	return listener.Addr().String()
}
