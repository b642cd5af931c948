package metadata

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	grpcmetadata "google.golang.org/grpc/metadata"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/metadata/message"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
)

// passOnKey is in the header of a call that a voter which does not lead is to pass on to the one that does. It is not in
// that of what is passed on, which so is never passed on again.
const (
	passOnKey   = "sluice-pool-pass-on"
	passOnValue = "leader"
)

func withPassOn(ctx context.Context) context.Context {
	return grpcmetadata.AppendToOutgoingContext(ctx, passOnKey, passOnValue)
}

func isToPassOn(ctx context.Context) bool {
	header, _ := grpcmetadata.FromIncomingContext(ctx)
	return len(header.Get(passOnKey)) > 0
}

// voters are the agents of a pool's voters, by the names of their nodes.
type voters struct {
	connections []*grpc.ClientConn
	stubs       map[string]sluicev1.PoolMetadataServiceClient
}

// openVoters makes connections that are established when they are used.
func openVoters(peers []Peer, own string, credentials *security.Credentials) (*voters, error) {
	v := &voters{stubs: make(map[string]sluicev1.PoolMetadataServiceClient)}
	for _, peer := range peers {
		if peer.Node == own {
			continue
		}
		connection, err := grpc.NewClient(peer.Address, protocol.DialOptions(credentials, security.RoleAgent, peer.Node)...)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the address of the voter %s: %w", peer.Node, err), v.close())
		}
		v.connections = append(v.connections, connection)
		v.stubs[peer.Node] = sluicev1.NewPoolMetadataServiceClient(connection)
	}
	return v, nil
}

func (v *voters) close() error {
	var problems []error
	for _, connection := range v.connections {
		problems = append(problems, connection.Close())
	}
	return errors.Join(problems...)
}

// Service is what clients of the metadata call.
func (s *Server) Service() sluicev1.PoolMetadataServiceServer {
	return service{Server: s}
}

// service passes calls on to the leader for callers who do not reach it. What the caller may do was looked at before, here;
// the leader is asked in the name of this node, as the agent that it is. The request stays the same, so that a change is
// made once whichever way it comes, and so does the time that is left for it.
type service struct{ *Server }

// passOn has the leader answer where this node does not lead. If it is not reached, the answer is this node's.
func passOn[Q, R any](
	ctx context.Context, s service, request *Q, own func(context.Context, *Q) (*R, error),
	ask func(stub sluicev1.PoolMetadataServiceClient, ctx context.Context, request *Q, options ...grpc.CallOption) (*R, error),
) (*R, error) {
	response, err := own(ctx, request)
	leader := s.leaderInstead(ctx, err)
	if leader == nil {
		return response, err
	}
	s.passedOn.Inc()
	answer, leaderErr := ask(leader, ctx, request)
	if refusal := message.RefusalIn(leaderErr); refusal != nil {
		return nil, message.Status(refusal)
	}
	if leaderErr != nil {
		s.logger.Info("the leader of the pool's metadata was not reached for a caller", "error", leaderErr)
		return nil, err
	}
	return answer, nil
}

// leaderInstead is who is to be asked after this node has refused, nil if nobody is.
func (s service) leaderInstead(ctx context.Context, err error) sluicev1.PoolMetadataServiceClient {
	if err == nil || !isToPassOn(ctx) {
		return nil
	}
	refusal := message.RefusalIn(err)
	if refusal == nil || refusal.Reason != entry.NotLeader {
		return nil
	}
	return s.voters.stubs[refusal.Leader]
}

// ChangeMetadata makes a change, once.
func (s service) ChangeMetadata(
	ctx context.Context, request *sluicev1.ChangeMetadataRequest,
) (*sluicev1.ChangeMetadataResponse, error) {
	return passOn(ctx, s, request, s.Server.ChangeMetadata, sluicev1.PoolMetadataServiceClient.ChangeMetadata)
}

// RenewSubtreeLease has a lease last.
func (s service) RenewSubtreeLease(
	ctx context.Context, request *sluicev1.RenewSubtreeLeaseRequest,
) (*sluicev1.RenewSubtreeLeaseResponse, error) {
	return passOn(ctx, s, request, s.Server.RenewSubtreeLease, sluicev1.PoolMetadataServiceClient.RenewSubtreeLease)
}

// ListVolumes lists the volumes.
func (s service) ListVolumes(ctx context.Context, request *sluicev1.ListVolumesRequest) (*sluicev1.ListVolumesResponse, error) {
	return passOn(ctx, s, request, s.Server.ListVolumes, sluicev1.PoolMetadataServiceClient.ListVolumes)
}

// StatPath tells what is at a path.
func (s service) StatPath(ctx context.Context, request *sluicev1.StatPathRequest) (*sluicev1.StatPathResponse, error) {
	return passOn(ctx, s, request, s.Server.StatPath, sluicev1.PoolMetadataServiceClient.StatPath)
}

// ListDirectory lists what is in a directory.
func (s service) ListDirectory(
	ctx context.Context, request *sluicev1.ListDirectoryRequest,
) (*sluicev1.ListDirectoryResponse, error) {
	return passOn(ctx, s, request, s.Server.ListDirectory, sluicev1.PoolMetadataServiceClient.ListDirectory)
}

// ListOpenFiles lists the files below a directory that are not sealed.
func (s service) ListOpenFiles(
	ctx context.Context, request *sluicev1.ListOpenFilesRequest,
) (*sluicev1.ListOpenFilesResponse, error) {
	return passOn(ctx, s, request, s.Server.ListOpenFiles, sluicev1.PoolMetadataServiceClient.ListOpenFiles)
}

// ListSubtreeLeases lists the leases of a volume.
func (s service) ListSubtreeLeases(
	ctx context.Context, request *sluicev1.ListSubtreeLeasesRequest,
) (*sluicev1.ListSubtreeLeasesResponse, error) {
	return passOn(ctx, s, request, s.Server.ListSubtreeLeases, sluicev1.PoolMetadataServiceClient.ListSubtreeLeases)
}

// ListFilesOnServer lists the files that have a part on a server.
func (s service) ListFilesOnServer(
	ctx context.Context, request *sluicev1.ListFilesOnServerRequest,
) (*sluicev1.ListFilesOnServerResponse, error) {
	return passOn(ctx, s, request, s.Server.ListFilesOnServer, sluicev1.PoolMetadataServiceClient.ListFilesOnServer)
}

// ListRemovals lists the files whose blocks may still be there.
func (s service) ListRemovals(
	ctx context.Context, request *sluicev1.ListRemovalsRequest,
) (*sluicev1.ListRemovalsResponse, error) {
	return passOn(ctx, s, request, s.Server.ListRemovals, sluicev1.PoolMetadataServiceClient.ListRemovals)
}
