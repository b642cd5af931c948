package wire

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/servicelevel"
)

// DecisionRecord is a decision and what became of it.
type DecisionRecord struct {
	policy.Decision
	// Sequence grows by one with each decision of a controller.
	Sequence uint64
	// MadeAt is by the wall clock, for people to read.
	MadeAt time.Time
	// Policy is the name of the one that decided.
	Policy string
	// WasWritten says whether it was written to the agent; Problem why writing it failed, if it did.
	WasWritten bool
	Problem    string
}

// EncodeDecision gives a decision as a message.
func EncodeDecision(record DecisionRecord) *sluicev1.Decision {
	message := &sluicev1.Decision{
		Sequence:   record.Sequence,
		MadeAt:     timestamppb.New(record.MadeAt),
		Policy:     record.Policy,
		Node:       record.Target.Node,
		Ref:        EncodeRef(record.Target),
		Kind:       encodeName(kinds, record.Kind),
		Scope:      record.Scope,
		Verdict:    encodeName(verdicts, record.Verdict),
		Start:      record.Start,
		Action:     string(record.Action),
		Reason:     sentence(record.Reason),
		Inputs:     encodeFigures(record.Inputs),
		WasWritten: record.WasWritten,
		Problem:    sentence(record.Problem),
	}
	if record.Setting != nil {
		message.Setting = EncodeSetting(*record.Setting)
	}
	return message
}

// DecodeDecision reads a decision.
func DecodeDecision(message *sluicev1.Decision) (DecisionRecord, error) {
	decision, err := decodePlainDecision(message)
	if err != nil {
		return DecisionRecord{}, err
	}
	var read fields
	record := DecisionRecord{
		Decision:   decision,
		Sequence:   message.GetSequence(),
		MadeAt:     read.moment("made_at", message.GetMadeAt()),
		Policy:     read.name("policy", message.GetPolicy()),
		WasWritten: message.GetWasWritten(),
		Problem:    read.text("problem", message.GetProblem(), maxTextBytes),
	}
	return record, read.err
}

func decodePlainDecision(message *sluicev1.Decision) (policy.Decision, error) {
	var read fields
	ref, err := DecodeRef(read.name("node", message.GetNode()), message.GetRef())
	read.keep(err)
	kind, err := decodeKind(message.GetKind())
	read.keep(err)
	verdict, err := decodeVerdict(message.GetVerdict())
	read.keep(err)
	decision := policy.Decision{
		Target:  ref,
		Kind:    kind,
		Scope:   read.scope(message.GetScope()),
		Verdict: verdict,
		Start:   message.GetStart(),
		Action:  servicelevel.Action(read.text("action", message.GetAction(), maxNameBytes)),
		Reason:  read.text("reason", message.GetReason(), maxTextBytes),
		Inputs:  read.figures("inputs", message.GetInputs()),
	}
	if message.GetSetting() != nil {
		setting, err := decodeReportedSetting(message.GetSetting())
		read.keep(err)
		decision.Setting = &setting
	}
	return decision, read.err
}

// moment reads a time of the wall clock, in UTC.
func (f *fields) moment(field string, message *timestamppb.Timestamp) time.Time {
	if err := message.CheckValid(); err != nil {
		f.fail("%s is no valid time: %w", field, err)
	}
	return message.AsTime()
}
