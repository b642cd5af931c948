package wire

import (
	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
)

// EncodeDescription gives what a store says of itself as a message.
func EncodeDescription(description store.Description) *sluicev1.Description {
	return &sluicev1.Description{
		Ref:           &sluicev1.StoreRef{Store: description.Store, Instance: description.Instance},
		StoreVersion:  description.StoreVersion,
		PluginVersion: description.PluginVersion,
		Capabilities:  encodeList(description.Capabilities, encodeCapability),
		MaxTimeToLive: durationpb.New(description.MaxTimeToLive),
	}
}

// DecodeDescription reads what a store says of itself.
func DecodeDescription(message *sluicev1.Description) (store.Description, error) {
	var read fields
	description := store.Description{
		Store:         read.name("ref.store", message.GetRef().GetStore()),
		Instance:      read.name("ref.instance", message.GetRef().GetInstance()),
		StoreVersion:  read.text("store_version", message.GetStoreVersion(), maxTextBytes),
		PluginVersion: read.text("plugin_version", message.GetPluginVersion(), maxTextBytes),
		MaxTimeToLive: read.duration("max_time_to_live", message.GetMaxTimeToLive()),
	}
	if read.err != nil {
		return store.Description{}, read.err
	}
	capabilities, err := decodeList("capability", withoutNewKinds(message.GetCapabilities()), maxCapabilities,
		decodeCapability)
	if err != nil {
		return store.Description{}, err
	}
	description.Capabilities = capabilities
	return description, nil
}

func encodeCapability(capability store.Capability) *sluicev1.Capability {
	return &sluicev1.Capability{
		Kind:         encodeName(kinds, capability.Kind),
		SettingNames: encodeList(capability.Settings, func(name store.SettingName) string { return string(name) }),
		CanStart:     capability.CanStart,
		Variants:     encodeList(capability.Variants, func(variant store.Variant) string { return string(variant) }),
		CanAbort:     capability.CanAbort,
	}
}

func decodeCapability(message *sluicev1.Capability) (store.Capability, error) {
	kind, err := decodeKind(message.GetKind())
	if err != nil {
		return store.Capability{}, err
	}
	settings, err := decodeList("setting name", message.GetSettingNames(), maxSettings, decodeSettingName)
	if err != nil {
		return store.Capability{}, err
	}
	variants, err := decodeList("variant", message.GetVariants(), maxVariants, decodeVariant)
	if err != nil {
		return store.Capability{}, err
	}
	return store.Capability{
		Kind: kind, Settings: settings, CanStart: message.GetCanStart(), Variants: variants, CanAbort: message.GetCanAbort(),
	}, nil
}

func decodeVariant(name string) (store.Variant, error) {
	var read fields
	return store.Variant(read.name("variant", name)), read.err
}

func decodeSettingName(name string) (store.SettingName, error) {
	var read fields
	return store.SettingName(read.name("setting name", name)), read.err
}
