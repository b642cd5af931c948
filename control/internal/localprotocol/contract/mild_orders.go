package contract

import (
	"maps"

	"sluice.dev/control/internal/store"
)

// Two parties give orders in the checks.
const (
	firstOwner  = "contract/first"
	secondOwner = "contract/second"
)

// orderSeconds is the time to live of orders that are ended by order.
const orderSeconds = 60

// mildest lists settings that disturb a store little, the mildest first. Those that need a name which
// only the store knows, such as tier, are not in it.
func mildest() []store.Setting {
	return []store.Setting{
		{Name: store.Stock},
		{Name: store.Full},
		{Name: store.RateBytesPerSecond, Number: 1e12},
		{Name: store.RateBytesPerSecond, Number: 2e12},
		{Name: store.DurationSeconds, Number: 1},
		{Name: store.DurationSeconds, Number: 2},
		{Name: store.Hold},
		{Name: store.DeferUntilDebtBytes, Number: 1},
		{Name: store.DeferUntilDebtBytes, Number: 2},
		{Name: store.SyncGapSeconds, Number: 0},
		{Name: store.SyncGapSeconds, Number: 0.001},
		{Name: store.Priority, Number: 0},
		{Name: store.Priority, Number: 1},
		{Name: store.Concurrency, Number: 2},
		{Name: store.Concurrency, Number: 3},
		{Name: store.ReservedBytes, Number: 1 << 20},
		{Name: store.ReservedBytes, Number: 2 << 20},
		{Name: store.RedirectSizeBytes, Number: 1e15},
		{Name: store.RedirectSizeBytes, Number: 2e15},
	}
}

// orders are two orders that compete with each other. There is no second where only one setting is
// offered, and that without a value.
type orders struct {
	first, second members
}

// mildOrders makes the mildest orders that the plug-in offers.
func (s *subject) mildOrders() (orders, error) {
	for _, capability := range s.description.Capabilities {
		var found []store.Setting
		for _, setting := range mildest() {
			if !offers(capability.Settings, setting.Name) {
				continue
			}
			if len(found) == 0 || found[0].Aspect() == setting.Aspect() {
				found = append(found, setting)
			}
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			return orders{first: s.order(capability.Kind, found[0])}, nil
		default:
			return orders{s.order(capability.Kind, found[0]), s.order(capability.Kind, found[1])}, nil
		}
	}
	return orders{}, skipped("no setting is offered whose values are known")
}

func offers(names []store.SettingName, name store.SettingName) bool {
	for _, each := range names {
		if each == name {
			return true
		}
	}
	return false
}

func (s *subject) order(kind store.Kind, setting store.Setting) members {
	return members{
		"kind":                 kind,
		"scope":                "",
		"setting":              settingMembers(setting),
		"owner":                firstOwner,
		"time_to_live_seconds": min(orderSeconds, s.description.MaxTimeToLiveSeconds),
	}
}

func settingMembers(setting store.Setting) members {
	value := members{"name": setting.Name}
	if setting.Name.HasNumber() {
		value["number"] = setting.Number
	}
	return value
}

// with returns a copy of an object with one member changed.
func (m members) with(name string, value any) members {
	changed := maps.Clone(m)
	changed[name] = value
	return changed
}

// without returns a copy of an object that lacks a member.
func (m members) without(name string) members {
	changed := maps.Clone(m)
	delete(changed, name)
	return changed
}
