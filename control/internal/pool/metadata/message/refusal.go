package message

import (
	"errors"
	"strings"
	"unicode"

	"google.golang.org/grpc/status"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/wire"
)

// maxTextBytes bounds what is shown of a peer's words.
const maxTextBytes = 4096

var reasons = map[sluicev1.MetadataRefusalReason]entry.Reason{
	sluicev1.MetadataRefusalReason_METADATA_REFUSAL_REASON_INVALID:       entry.Invalid,
	sluicev1.MetadataRefusalReason_METADATA_REFUSAL_REASON_FENCED:        entry.Fenced,
	sluicev1.MetadataRefusalReason_METADATA_REFUSAL_REASON_LEASE_HELD:    entry.LeaseHeld,
	sluicev1.MetadataRefusalReason_METADATA_REFUSAL_REASON_NOT_FOUND:     entry.NotFound,
	sluicev1.MetadataRefusalReason_METADATA_REFUSAL_REASON_EXISTS:        entry.Exists,
	sluicev1.MetadataRefusalReason_METADATA_REFUSAL_REASON_NOT_EMPTY:     entry.NotEmpty,
	sluicev1.MetadataRefusalReason_METADATA_REFUSAL_REASON_NOT_DIRECTORY: entry.NotDirectory,
	sluicev1.MetadataRefusalReason_METADATA_REFUSAL_REASON_IS_DIRECTORY:  entry.IsDirectory,
	sluicev1.MetadataRefusalReason_METADATA_REFUSAL_REASON_SEALED:        entry.Sealed,
	sluicev1.MetadataRefusalReason_METADATA_REFUSAL_REASON_OPEN:          entry.Open,
	sluicev1.MetadataRefusalReason_METADATA_REFUSAL_REASON_SHORTER:       entry.Shorter,
	sluicev1.MetadataRefusalReason_METADATA_REFUSAL_REASON_OTHER_SERVER:  entry.OtherServer,
	sluicev1.MetadataRefusalReason_METADATA_REFUSAL_REASON_LIMIT:         entry.Limit,
	sluicev1.MetadataRefusalReason_METADATA_REFUSAL_REASON_OLD_REQUEST:   entry.OldRequest,
	sluicev1.MetadataRefusalReason_METADATA_REFUSAL_REASON_NOT_LEADER:    entry.NotLeader,
	sluicev1.MetadataRefusalReason_METADATA_REFUSAL_REASON_UNAVAILABLE:   entry.Unavailable,
}

var numbers = func() map[entry.Reason]sluicev1.MetadataRefusalReason {
	inverse := make(map[entry.Reason]sluicev1.MetadataRefusalReason, len(reasons))
	for number, reason := range reasons {
		inverse[reason] = number
	}
	return inverse
}()

// EncodeRefusal gives a refusal.
func EncodeRefusal(refusal *entry.Refusal) *sluicev1.MetadataRefusal {
	return &sluicev1.MetadataRefusal{
		Reason: numbers[refusal.Reason], Message: sentence(refusal.Message), Hint: sentence(refusal.Hint),
		Lease: EncodeLease(refusal.Lease), Leader: refusal.Leader,
	}
}

// DecodeRefusal reads a refusal. A reason that only a newer version has is Unavailable, as for any error that is not
// understood; a lease or leader that is none is left out.
func DecodeRefusal(message *sluicev1.MetadataRefusal) *entry.Refusal {
	reason, known := reasons[message.GetReason()]
	if !known {
		reason = entry.Unavailable
	}
	refusal := &entry.Refusal{Reason: reason, Message: sentence(message.GetMessage()), Hint: sentence(message.GetHint())}
	if lease, err := DecodeLease(message.GetLease()); err == nil {
		refusal.Lease = &lease
	}
	if entry.CheckServer(message.GetLeader()) == nil {
		refusal.Leader = message.GetLeader()
	}
	return refusal
}

// Status gives an error as what a call ends with; a refusal is among its details.
func Status(err error) error {
	var refusal *entry.Refusal
	if !errors.As(err, &refusal) {
		return err
	}
	plain := status.Convert(wire.Status(refusal.Unwrap()))
	detailed, detailErr := plain.WithDetails(EncodeRefusal(refusal))
	if detailErr != nil {
		return plain.Err()
	}
	return detailed.Err()
}

// RefusalIn gives the refusal that a call ended with, nil if it was something else.
func RefusalIn(err error) *entry.Refusal {
	received, isStatus := status.FromError(err)
	if !isStatus {
		return nil
	}
	for _, detail := range received.Details() {
		if message, isRefusal := detail.(*sluicev1.MetadataRefusal); isRefusal {
			return DecodeRefusal(message)
		}
	}
	return nil
}

// sentence makes one line of bounded length of a text that may be anything.
func sentence(text string) string {
	line := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	return strings.ToValidUTF8(line[:min(len(line), maxTextBytes)], "")
}
