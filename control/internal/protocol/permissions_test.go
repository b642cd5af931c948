package protocol_test

import (
	"context"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/security/securitytest"
	"sluice.dev/control/internal/store"
)

const unlisted = "/test.Unlisted/Call"

// unlistedService is what the table of permissions does not have.
func unlistedService(t *testing.T) *grpc.ServiceDesc {
	return &grpc.ServiceDesc{
		ServiceName: "test.Unlisted",
		HandlerType: (*any)(nil),
		Streams: []grpc.StreamDesc{{
			StreamName:    "Call",
			ServerStreams: true,
			Handler: func(any, grpc.ServerStream) error {
				t.Error("a method that is not listed was called")
				return nil
			},
		}},
	}
}

// serveUnimplemented serves everything that agents and controllers have, without any content, and a
// service that they do not have.
func serveUnimplemented(t *testing.T, credentials *security.Credentials) string {
	t.Helper()
	listener, err := protocol.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(protocol.ServerOptions(credentials)...)
	sluicev1.RegisterAgentServiceServer(server, sluicev1.UnimplementedAgentServiceServer{})
	sluicev1.RegisterCompactionServiceServer(server, sluicev1.UnimplementedCompactionServiceServer{})
	sluicev1.RegisterBlockServiceServer(server, sluicev1.UnimplementedBlockServiceServer{})
	sluicev1.RegisterPoolMetadataServiceServer(server, sluicev1.UnimplementedPoolMetadataServiceServer{})
	sluicev1.RegisterControllerServiceServer(server, sluicev1.UnimplementedControllerServiceServer{})
	grpc_health_v1.RegisterHealthServer(server, grpc_health_v1.UnimplementedHealthServer{})
	server.RegisterService(unlistedService(t), struct{}{})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

// allowed says who may call what, in the words of the documentation.
func allowed(method string) []security.Role {
	switch method {
	case "SetLease", "ClearLeases", "StartTask", "AbortTask":
		return []security.Role{security.RoleController, security.RoleOperator}
	case "Steer":
		return []security.Role{security.RoleController}
	case "WatchCapacity", "RunCompaction", "ChangeMetadata", "RenewSubtreeLease",
		"WriteSegments", "ReadSegment", "ListSegments", "RemoveFile", "RemoveSegment", "GetBlockSpace":
		return []security.Role{security.RoleAgent}
	case "PausePolicy", "ResumePolicy", "RelaySetLease", "RelayClearLeases", "RelayStartTask",
		"RelayAbortTask", "ApplyServiceLevels", "DeleteServiceLevel":
		return []security.Role{security.RoleOperator}
	default:
		return security.Roles()
	}
}

// A call that is allowed gets as far as the service, which has nothing to say.
func TestPermissionsOfEveryMethod(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	address := serveUnimplemented(t, authority.Open(t, security.RoleAgent, "n1"))
	for _, role := range security.Roles() {
		t.Run(string(role), func(t *testing.T) {
			caller := authority.Open(t, role, "x")
			connection := dial(t, address, protocol.DialOptions(caller, security.RoleAgent, "n1")...)
			for _, service := range []grpc.ServiceDesc{
				sluicev1.AgentService_ServiceDesc, sluicev1.CompactionService_ServiceDesc, sluicev1.BlockService_ServiceDesc,
				sluicev1.PoolMetadataService_ServiceDesc, sluicev1.ControllerService_ServiceDesc, grpc_health_v1.Health_ServiceDesc,
			} {
				for _, method := range methodsOf(service) {
					want := codes.PermissionDenied
					if slices.Contains(allowed(method), role) {
						want = codes.Unimplemented
					}
					err := call(bounded(t), connection, "/"+service.ServiceName+"/"+method)
					if status.Code(err) != want {
						t.Errorf("%s: %v, want %s", method, err, want)
					}
				}
			}
		})
	}
}

func methodsOf(service grpc.ServiceDesc) []string {
	var names []string
	for _, method := range service.Methods {
		names = append(names, method.MethodName)
	}
	for _, stream := range service.Streams {
		names = append(names, stream.StreamName)
	}
	return names
}

// call calls a method of either form: an empty message is one of any type, and one answer is a stream.
func call(ctx context.Context, connection *grpc.ClientConn, method string) error {
	stream, err := connection.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(&emptypb.Empty{}); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	return stream.RecvMsg(&emptypb.Empty{})
}

func TestMethodsThatAreNotListedAreRefused(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	address := serveUnimplemented(t, authority.Open(t, security.RoleAgent, "n1"))
	operator := authority.Open(t, security.RoleOperator, "o1")
	connection := dial(t, address, protocol.DialOptions(operator, security.RoleAgent, "n1")...)
	err := call(bounded(t), connection, unlisted)
	requireError(t, err, store.CodeForbidden, "sluice://prod/operator/o1 may not call "+unlisted)
}

func TestRefusalSaysWhatIsNeeded(t *testing.T) {
	authority := securitytest.NewAuthority(t, cluster)
	address := serveUnimplemented(t, authority.Open(t, security.RoleAgent, "n1"))
	viewer := authority.Open(t, security.RoleViewer, "v1")
	connection := dial(t, address, protocol.DialOptions(viewer, security.RoleAgent, "n1")...)
	_, err := sluicev1.NewAgentServiceClient(connection).SetLease(bounded(t), &sluicev1.SetLeaseRequest{})
	requireError(t, err, store.CodeForbidden, "sluice://prod/viewer/v1 may not call",
		"a certificate with the role controller or operator")
}
