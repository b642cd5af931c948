package metadata

import (
	"context"

	"google.golang.org/protobuf/proto"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/metadata/message"
)

// maxChangeBytes is above the largest change that can be done, a file with 3 x 256 names of servers.
const maxChangeBytes = 256 << 10

// ChangeMetadata makes a change, once.
func (s *Server) ChangeMetadata(
	ctx context.Context, request *sluicev1.ChangeMetadataRequest,
) (*sluicev1.ChangeMetadataResponse, error) {
	response, err := s.change(ctx, request)
	result := done
	if err != nil {
		result = string(entry.ReasonOf(err))
	}
	s.changes.WithLabelValues(result).Inc()
	return response, message.Status(err)
}

func (s *Server) change(ctx context.Context, request *sluicev1.ChangeMetadataRequest) (*sluicev1.ChangeMetadataResponse, error) {
	// Such a change would stop every replica.
	if request.GetChange() == nil {
		return nil, entry.Refusef(entry.Invalid, "the request has no change that this version knows").WithHint("Upgrade the agents of the voters.")
	}
	if size := proto.Size(request); size > maxChangeBytes {
		return nil, entry.Refusef(entry.Invalid, "the request has %d bytes, at most %d are allowed", size, maxChangeBytes).WithHint("Correct the request.")
	}
	if request.GetAcquireLease() != nil {
		s.expire(ctx)
	}
	outcome, err := s.replica.Apply(ctx, &sluicev1.MetadataCommand{Command: &sluicev1.MetadataCommand_Change{Change: request}})
	if err != nil {
		return nil, err
	}
	if outcome.Refusal != nil {
		return nil, outcome.Refusal
	}
	return outcome.Response, nil
}

// RenewSubtreeLease is not in the log: a leader that takes over lets each lease have its full time again.
func (s *Server) RenewSubtreeLease(
	ctx context.Context, request *sluicev1.RenewSubtreeLeaseRequest,
) (*sluicev1.RenewSubtreeLeaseResponse, error) {
	if err := s.replica.Verify(ctx); err != nil {
		return nil, message.Status(err)
	}
	lease, err := s.replica.State().CheckLease(request.GetVolume(), request.GetPath(), request.GetEpoch())
	if err != nil {
		return nil, message.Status(err)
	}
	if !s.leases.Renew(lease) {
		return nil, message.Status(entry.Refusef(entry.Fenced, "the lease with epoch %d on %q has expired", lease.Epoch, lease.Path).
			WithHint("Stop what was begun under it, and acquire it again."))
	}
	return &sluicev1.RenewSubtreeLeaseResponse{Lease: message.EncodeLease(&lease)}, nil
}
