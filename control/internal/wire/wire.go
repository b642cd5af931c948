// Package wire turns the types of packages store and policy into the messages of proto/sluice/v1 and
// back, and errors into gRPC statuses and back.
//
// Encode functions never fail. Decode functions check everything that they are given, since it comes
// from the network, and return an error of type *store.Error with store.CodeInvalid that names the
// field. An order with anything unknown in it is refused. A report from a peer of a newer minor version
// may hold kinds, states and settings that this version has no name for: tasks, debts, leases and
// capabilities of unknown kinds are left out, for nobody here can order anything of them, and a state
// or setting that is not known is kept as far as it can be shown.
package wire

import (
	"maps"
	"slices"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

// EncodeRef gives the name of an instance on its node; the node itself is named elsewhere.
func EncodeRef(ref policy.Ref) *sluicev1.StoreRef {
	return &sluicev1.StoreRef{Store: ref.Store, Instance: ref.Instance}
}

// DecodeRef reads the name of an instance on a node.
func DecodeRef(node string, message *sluicev1.StoreRef) (policy.Ref, error) {
	var read fields
	ref := policy.Ref{
		Node:     node,
		Store:    read.name("ref.store", message.GetStore()),
		Instance: read.name("ref.instance", message.GetInstance()),
	}
	return ref, read.err
}

var (
	kinds = map[sluicev1.Kind]store.Kind{
		sluicev1.Kind_KIND_COMPACTION:    store.Compaction,
		sluicev1.Kind_KIND_FLUSH:         store.Flush,
		sluicev1.Kind_KIND_CHECKPOINT:    store.Checkpoint,
		sluicev1.Kind_KIND_LOG_PLACEMENT: store.LogPlacement,
		sluicev1.Kind_KIND_CACHE:         store.Cache,
		sluicev1.Kind_KIND_BALANCING:     store.Balancing,
		sluicev1.Kind_KIND_NORMALIZATION: store.Normalization,
		sluicev1.Kind_KIND_STREAMING:     store.Streaming,
		sluicev1.Kind_KIND_REQUESTS:      store.Requests,
	}
	states = map[sluicev1.State]store.State{
		sluicev1.State_STATE_QUEUED:   store.Queued,
		sluicev1.State_STATE_DEFERRED: store.Deferred,
		sluicev1.State_STATE_RUNNING:  store.Running,
		sluicev1.State_STATE_HELD:     store.Held,
		sluicev1.State_STATE_DONE:     store.Done,
		sluicev1.State_STATE_FAILED:   store.Failed,
	}
	verdicts = map[sluicev1.Verdict]policy.Verdict{
		sluicev1.Verdict_VERDICT_CHANGE: policy.Change,
		sluicev1.Verdict_VERDICT_KEEP:   policy.Keep,
		sluicev1.Verdict_VERDICT_STOP:   policy.Stop,
	}
)

// EncodeKind gives the number of a kind.
func EncodeKind(kind store.Kind) sluicev1.Kind {
	return encodeName(kinds, kind)
}

// encodeName gives the number of a name; 0, "unspecified" in every enumeration, if it has none.
func encodeName[N ~int32, T comparable](names map[N]T, name T) N {
	for number, candidate := range names {
		if candidate == name {
			return number
		}
	}
	return 0
}

// decodeKind reads the kind of an order or of a report; it must be a known one.
func decodeKind(number sluicev1.Kind) (store.Kind, error) {
	kind, known := kinds[number]
	switch {
	case number == sluicev1.Kind_KIND_UNSPECIFIED:
		return "", store.Invalidf("kind is missing").WithHint("Known kinds: %v.", store.Kinds())
	case !known:
		return "", store.Invalidf("the kind with number %d is not known to this version", number).
			WithHint("Known kinds: %v.", store.Kinds())
	}
	return kind, nil
}

func decodeVerdict(number sluicev1.Verdict) (policy.Verdict, error) {
	verdict, known := verdicts[number]
	if !known {
		return "", store.Invalidf("the verdict with number %d is not known to this version", number)
	}
	return verdict, nil
}

// withoutNewKinds leaves out what is of a kind that only a newer version knows.
func withoutNewKinds[M interface{ GetKind() sluicev1.Kind }](messages []M) []M {
	isNew := func(message M) bool {
		_, known := kinds[message.GetKind()]
		return !known && message.GetKind() != sluicev1.Kind_KIND_UNSPECIFIED
	}
	if !slices.ContainsFunc(messages, isNew) {
		return messages
	}
	return slices.DeleteFunc(slices.Clone(messages), isNew)
}

func encodeList[T, M any](values []T, encode func(T) M) []M {
	if len(values) == 0 {
		return nil
	}
	messages := make([]M, len(values))
	for i, value := range values {
		messages[i] = encode(value)
	}
	return messages
}

// decodeList reads at most so many messages; name is that of one of them.
func decodeList[M, T any](name string, messages []M, most int, decode func(M) (T, error)) ([]T, error) {
	if len(messages) > most {
		return nil, store.Invalidf("%d entries of %s, at most %d are allowed", len(messages), name, most)
	}
	if len(messages) == 0 {
		return nil, nil
	}
	values := make([]T, len(messages))
	for i, message := range messages {
		value, err := decode(message)
		if err != nil {
			return nil, store.Invalidf("%s %d: %w", name, i+1, err)
		}
		values[i] = value
	}
	return values, nil
}

// encodeFigures leaves out what is no finite number: it has no form in JSON, and says nothing. Where all
// are, it gives the figures themselves.
func encodeFigures(figures map[string]float64) map[string]float64 {
	isOdd := false
	for _, figure := range figures {
		isOdd = isOdd || !isFinite(figure)
	}
	if !isOdd {
		return figures
	}
	finite := maps.Clone(figures)
	maps.DeleteFunc(finite, func(_ string, figure float64) bool { return !isFinite(figure) })
	return finite
}
