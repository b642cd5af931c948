package wire

import (
	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

// EncodeSetting gives a setting as a message. What makes a setting invalid is kept, so that the
// receiver refuses it.
func EncodeSetting(setting store.Setting) *sluicev1.Setting {
	message := &sluicev1.Setting{Name: string(setting.Name)}
	switch {
	case setting.Text != "":
		message.Value = &sluicev1.Setting_Text{Text: setting.Text}
	case setting.Number != 0 || setting.Name.HasNumber():
		message.Value = &sluicev1.Setting_Number{Number: setting.Number}
	}
	return message
}

// DecodeSetting reads the setting of an order. A number that is missing is refused, even where 0 would
// do: it may be an order of another meaning.
func DecodeSetting(message *sluicev1.Setting) (store.Setting, error) {
	var read fields
	// What is wrong with a setting is told with its name.
	if read.text("setting.name", message.GetName(), maxNameBytes); read.err != nil {
		return store.Setting{}, read.err
	}
	setting := plainSetting(message)
	_, hasNumber := message.GetValue().(*sluicev1.Setting_Number)
	if setting.Name.HasNumber() && !hasNumber {
		return store.Setting{}, store.Invalidf("%s needs a number as its value", setting.Name)
	}
	if err := setting.Validate(); err != nil {
		return store.Setting{}, err
	}
	return setting, nil
}

// decodeReportedSetting reads the setting of a lease or decision, which may be one of a newer version.
func decodeReportedSetting(message *sluicev1.Setting) (store.Setting, error) {
	var read fields
	read.name("setting.name", message.GetName())
	read.text("setting.text", message.GetText(), maxTextBytes)
	read.number("setting.number", message.GetNumber())
	return plainSetting(message), read.err
}

func plainSetting(message *sluicev1.Setting) store.Setting {
	return store.Setting{
		Name:   store.SettingName(message.GetName()),
		Number: message.GetNumber(),
		Text:   message.GetText(),
	}
}

// EncodeSetLease gives an order for a lease as a request.
func EncodeSetLease(ref policy.Ref, order store.Order) *sluicev1.SetLeaseRequest {
	return &sluicev1.SetLeaseRequest{
		Ref:        EncodeRef(ref),
		Kind:       encodeName(kinds, order.Kind),
		Scope:      order.Scope,
		Setting:    EncodeSetting(order.Setting),
		Owner:      order.Owner,
		TimeToLive: durationpb.New(order.TimeToLive),
		Replace:    order.Replace,
	}
}

// DecodeSetLease reads an order for a lease that was sent to a node, and validates it.
func DecodeSetLease(node string, request *sluicev1.SetLeaseRequest) (policy.Ref, store.Order, error) {
	if request.GetSetting() == nil {
		return policy.Ref{}, store.Order{}, store.Invalidf("setting is missing").
			WithHint("A lease sets something, such as rate_bytes_per_second.")
	}
	return decodeOrder(node, request, false, "")
}

// EncodeStartTask gives an order to start a task as a request.
func EncodeStartTask(ref policy.Ref, order store.Order) *sluicev1.StartTaskRequest {
	request := &sluicev1.StartTaskRequest{
		Ref:        EncodeRef(ref),
		Kind:       encodeName(kinds, order.Kind),
		Scope:      order.Scope,
		Owner:      order.Owner,
		TimeToLive: durationpb.New(order.TimeToLive),
		Replace:    order.Replace,
		Variant:    string(order.Variant),
	}
	if order.Setting != (store.Setting{}) {
		request.Setting = EncodeSetting(order.Setting)
	}
	return request
}

// DecodeStartTask reads an order to start a task that was sent to a node, and validates it.
func DecodeStartTask(node string, request *sluicev1.StartTaskRequest) (policy.Ref, store.Order, error) {
	return decodeOrder(node, request, true, store.Variant(request.GetVariant()))
}

// orderRequest is what requests for leases and for starts have in common.
type orderRequest interface {
	GetRef() *sluicev1.StoreRef
	GetKind() sluicev1.Kind
	GetScope() string
	GetSetting() *sluicev1.Setting
	GetOwner() string
	GetTimeToLive() *durationpb.Duration
	GetReplace() bool
}

func decodeOrder(
	node string, request orderRequest, starts bool, variant store.Variant,
) (policy.Ref, store.Order, error) {
	ref, err := DecodeRef(node, request.GetRef())
	if err != nil {
		return policy.Ref{}, store.Order{}, err
	}
	kind, err := decodeKind(request.GetKind())
	if err != nil {
		return policy.Ref{}, store.Order{}, err
	}
	var setting store.Setting
	if request.GetSetting() != nil {
		if setting, err = DecodeSetting(request.GetSetting()); err != nil {
			return policy.Ref{}, store.Order{}, err
		}
	}
	var read fields
	order := store.Order{
		Kind:       kind,
		Scope:      request.GetScope(),
		Setting:    setting,
		Owner:      request.GetOwner(),
		TimeToLive: read.duration("time_to_live", request.GetTimeToLive()),
		Replace:    request.GetReplace(),
		Variant:    variant,
	}
	if read.err != nil {
		return policy.Ref{}, store.Order{}, read.err
	}
	if err := order.Validate(starts); err != nil {
		return policy.Ref{}, store.Order{}, err
	}
	return ref, order, nil
}

// EncodeAbortTask gives an order to abort a task as a request.
func EncodeAbortTask(ref policy.Ref, abortion store.Abortion) *sluicev1.AbortTaskRequest {
	return &sluicev1.AbortTaskRequest{
		Ref:    EncodeRef(ref),
		Kind:   encodeName(kinds, abortion.Kind),
		TaskId: abortion.Task,
		Owner:  abortion.Owner,
	}
}

// DecodeAbortTask reads an order to abort a task that was sent to a node, and validates it.
func DecodeAbortTask(node string, request *sluicev1.AbortTaskRequest) (policy.Ref, store.Abortion, error) {
	ref, err := DecodeRef(node, request.GetRef())
	if err != nil {
		return policy.Ref{}, store.Abortion{}, err
	}
	kind, err := decodeKind(request.GetKind())
	if err != nil {
		return policy.Ref{}, store.Abortion{}, err
	}
	abortion := store.Abortion{Kind: kind, Task: request.GetTaskId(), Owner: request.GetOwner()}
	if err := abortion.Validate(); err != nil {
		return policy.Ref{}, store.Abortion{}, err
	}
	return ref, abortion, nil
}

// EncodeClearLeases gives a selection of leases as a request.
func EncodeClearLeases(ref policy.Ref, selection store.Selection) *sluicev1.ClearLeasesRequest {
	return &sluicev1.ClearLeasesRequest{
		Ref:   EncodeRef(ref),
		Owner: selection.Owner,
		Kind:  encodeName(kinds, selection.Kind),
		Scope: selection.Scope,
	}
}

// DecodeClearLeases reads a selection of leases that was sent to a node, and validates it.
func DecodeClearLeases(node string, request *sluicev1.ClearLeasesRequest) (policy.Ref, store.Selection, error) {
	ref, err := DecodeRef(node, request.GetRef())
	if err != nil {
		return policy.Ref{}, store.Selection{}, err
	}
	selection := store.Selection{Owner: request.GetOwner(), Scope: request.GetScope()}
	if request.GetKind() != sluicev1.Kind_KIND_UNSPECIFIED {
		if selection.Kind, err = decodeKind(request.GetKind()); err != nil {
			return policy.Ref{}, store.Selection{}, err
		}
	}
	if err := selection.Validate(); err != nil {
		return policy.Ref{}, store.Selection{}, err
	}
	return ref, selection, nil
}
