package wire_test

import (
	"time"
	"unicode"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

// What the generators make is all that can be sent and is accepted.

var (
	names      = rapid.StringOfN(rapid.RuneFrom(nil, unicode.Letter, unicode.Digit, unicode.Punct), 1, 30, 60)
	texts      = rapid.OneOf(rapid.Just(""), names)
	byteCounts = rapid.Uint64()
	durations  = rapid.Map(rapid.Int64Range(0, int64(50*365*24*time.Hour)), func(ns int64) time.Duration {
		return time.Duration(ns)
	})
	timesToLive = rapid.Map(rapid.Int64Range(1, int64(time.Hour)), func(ns int64) time.Duration {
		return time.Duration(ns)
	})
	quantities     = rapid.Float64Range(0, 1e300)
	shares         = rapid.Float64Range(0, 1)
	optionalShares = rapid.OneOf(rapid.Just(-1.0), shares)
	figures        = rapid.Map(rapid.MapOfN(names, rapid.Float64Range(-1e300, 1e300), 0, 4), orNil)
	kinds          = rapid.SampledFrom(store.Kinds())
)

// orNil gives what an empty map becomes on its way.
func orNil(figures map[string]float64) map[string]float64 {
	if len(figures) == 0 {
		return nil
	}
	return figures
}

// listOf makes nil of an empty list, as decoding does.
func listOf[T any](element *rapid.Generator[T]) *rapid.Generator[[]T] {
	return rapid.Map(rapid.SliceOfN(element, 0, 4), func(list []T) []T {
		if len(list) == 0 {
			return nil
		}
		return list
	})
}

var settings = rapid.Custom(func(t *rapid.T) store.Setting {
	setting := store.Setting{Name: rapid.SampledFrom(store.SettingNames()).Draw(t, "name")}
	switch {
	case setting.Name.HasNumber():
		setting.Number = rapid.Float64Range(1, 1e18).Draw(t, "number")
	case setting.Name.HasText():
		setting.Text = names.Draw(t, "text")
	}
	return setting
})

func refs(node string) *rapid.Generator[policy.Ref] {
	return rapid.Custom(func(t *rapid.T) policy.Ref {
		return policy.Ref{Node: node, Store: names.Draw(t, "store"), Instance: names.Draw(t, "instance")}
	})
}

var orders = rapid.Custom(func(t *rapid.T) store.Order {
	return store.Order{
		Kind:       kinds.Draw(t, "kind"),
		Scope:      texts.Draw(t, "scope"),
		Setting:    settings.Draw(t, "setting"),
		Owner:      names.Draw(t, "owner"),
		TimeToLive: timesToLive.Draw(t, "time to live"),
		Replace:    rapid.Bool().Draw(t, "replace"),
	}
})

var variants = rapid.SampledFrom([]store.Variant{store.Minor, store.Major, "bottom-most-2"})

var abortions = rapid.Custom(func(t *rapid.T) store.Abortion {
	return store.Abortion{
		Kind: kinds.Draw(t, "kind"), Task: names.Draw(t, "task"), Owner: names.Draw(t, "owner"),
	}
})

var descriptions = rapid.Custom(func(t *rapid.T) store.Description {
	return store.Description{
		Store:         names.Draw(t, "store"),
		Instance:      names.Draw(t, "instance"),
		StoreVersion:  texts.Draw(t, "store version"),
		PluginVersion: texts.Draw(t, "plug-in version"),
		Capabilities:  listOf(capabilities).Draw(t, "capabilities"),
		MaxTimeToLive: durations.Draw(t, "max time to live"),
	}
})

var capabilities = rapid.Custom(func(t *rapid.T) store.Capability {
	return store.Capability{
		Kind:     kinds.Draw(t, "kind"),
		Settings: listOf(rapid.SampledFrom(store.SettingNames())).Draw(t, "settings"),
		CanStart: rapid.Bool().Draw(t, "can start"),
		Variants: listOf(variants).Draw(t, "variants"),
		CanAbort: rapid.Bool().Draw(t, "can abort"),
	}
})

var tasks = rapid.Custom(func(t *rapid.T) store.Task {
	return store.Task{
		ID:                 names.Draw(t, "id"),
		Kind:               kinds.Draw(t, "kind"),
		Scope:              texts.Draw(t, "scope"),
		State:              rapid.SampledFrom(store.States()).Draw(t, "state"),
		Phase:              texts.Draw(t, "phase"),
		BytesDone:          byteCounts.Draw(t, "done"),
		BytesTotal:         byteCounts.Draw(t, "total"),
		RateBytesPerSecond: quantities.Draw(t, "rate"),
		Throttled:          durations.Draw(t, "throttled"),
		Age:                durations.Draw(t, "age"),
	}
})

var debts = rapid.Custom(func(t *rapid.T) store.Debt {
	return store.Debt{
		Kind:              kinds.Draw(t, "kind"),
		Scope:             texts.Draw(t, "scope"),
		Bytes:             byteCounts.Draw(t, "bytes"),
		TriggerBytes:      byteCounts.Draw(t, "trigger"),
		LimitBytes:        byteCounts.Draw(t, "limit"),
		Files:             byteCounts.Draw(t, "files"),
		EstimatedRecovery: rapid.OneOf(rapid.Just(time.Duration(-1)), durations).Draw(t, "recovery"),
	}
})

var leases = rapid.Custom(func(t *rapid.T) store.Lease {
	return store.Lease{
		Kind:     kinds.Draw(t, "kind"),
		Scope:    texts.Draw(t, "scope"),
		Setting:  settings.Draw(t, "setting"),
		Owner:    names.Draw(t, "owner"),
		TimeLeft: durations.Draw(t, "time left"),
	}
})

var latencies = rapid.Custom(func(t *rapid.T) store.Latency {
	return store.Latency{
		Class:    names.Draw(t, "class"),
		Age:      durations.Draw(t, "age"),
		Interval: durations.Draw(t, "interval"),
		Count:    rapid.Uint64().Draw(t, "count"),
		Errors:   rapid.Uint64().Draw(t, "errors"),
		Mean:     durations.Draw(t, "mean"),
		P50:      durations.Draw(t, "p50"),
		P99:      durations.Draw(t, "p99"),
		P999:     durations.Draw(t, "p999"),
		Max:      durations.Draw(t, "max"),
	}
})

var scopeLatencies = rapid.Custom(func(t *rapid.T) store.ScopeLatency {
	return store.ScopeLatency{Scope: texts.Draw(t, "scope"), Latency: latencies.Draw(t, "latency")}
})

func instances(node string, now time.Time) *rapid.Generator[wire.InstanceSnapshot] {
	return rapid.Custom(func(t *rapid.T) wire.InstanceSnapshot {
		return wire.InstanceSnapshot{
			Ref: refs(node).Draw(t, "ref"),
			Snapshot: store.Snapshot{
				TakenAt:        now.Add(-durations.Draw(t, "age")),
				Tasks:          listOf(tasks).Draw(t, "tasks"),
				Debts:          listOf(debts).Draw(t, "debts"),
				Leases:         listOf(leases).Draw(t, "leases"),
				Latencies:      listOf(latencies).Draw(t, "latencies"),
				Figures:        figures.Draw(t, "figures"),
				ScopeLatencies: listOf(scopeLatencies).Draw(t, "scope latencies"),
			},
			Problem: texts.Draw(t, "problem"),
		}
	})
}

func clientLatencies(node string, now time.Time) *rapid.Generator[policy.ClientLatencies] {
	return rapid.Custom(func(t *rapid.T) policy.ClientLatencies {
		return policy.ClientLatencies{
			Node:           node,
			Store:          names.Draw(t, "store"),
			Clients:        int(rapid.Uint32().Draw(t, "clients")),
			TakenAt:        now.Add(-durations.Draw(t, "age")),
			Latencies:      listOf(latencies).Draw(t, "latencies"),
			ScopeLatencies: listOf(scopeLatencies).Draw(t, "scope latencies"),
		}
	})
}

func signals(now time.Time) *rapid.Generator[policy.NodeSignals] {
	return rapid.Custom(func(t *rapid.T) policy.NodeSignals {
		return policy.NodeSignals{
			SampledAt:      now.Add(-durations.Draw(t, "age of the signals")),
			CPUUsed:        shares.Draw(t, "cpu"),
			CPUPressure:    optionalShares.Draw(t, "cpu pressure"),
			IOPressure:     optionalShares.Draw(t, "io pressure"),
			MemoryPressure: optionalShares.Draw(t, "memory pressure"),
			Devices:        listOf(devices).Draw(t, "devices"),
		}
	})
}

var devices = rapid.Custom(func(t *rapid.T) policy.DeviceSignals {
	return policy.DeviceSignals{
		Name:                names.Draw(t, "name"),
		InFlight:            quantities.Draw(t, "in flight"),
		ReadBytesPerSecond:  quantities.Draw(t, "read"),
		WriteBytesPerSecond: quantities.Draw(t, "write"),
		Utilisation:         shares.Draw(t, "utilisation"),
	}
})

var decisions = rapid.Custom(func(t *rapid.T) wire.DecisionRecord {
	return wire.DecisionRecord{
		Decision: policy.Decision{
			Target:  refs(names.Draw(t, "node")).Draw(t, "ref"),
			Kind:    kinds.Draw(t, "kind"),
			Scope:   texts.Draw(t, "scope"),
			Verdict: rapid.SampledFrom([]policy.Verdict{policy.Change, policy.Keep, policy.Stop}).Draw(t, "verdict"),
			Setting: rapid.Ptr(settings, true).Draw(t, "setting"),
			Start:   rapid.Bool().Draw(t, "start"),
			Action:  servicelevel.Action(names.Draw(t, "action")),
			Reason:  texts.Draw(t, "reason"),
			Inputs:  figures.Draw(t, "inputs"),
		},
		Sequence:   rapid.Uint64().Draw(t, "sequence"),
		MadeAt:     time.Unix(rapid.Int64Range(0, 1<<32).Draw(t, "made at"), 0).UTC(),
		Policy:     names.Draw(t, "policy"),
		WasWritten: rapid.Bool().Draw(t, "was written"),
		Problem:    texts.Draw(t, "problem"),
	}
})

// overTheNetwork gives a message as its receiver has it.
func overTheNetwork[M proto.Message](t rapid.TB, message M) M {
	t.Helper()
	encoded, err := proto.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	received := message.ProtoReflect().New().Interface().(M)
	if err := proto.Unmarshal(encoded, received); err != nil {
		t.Fatal(err)
	}
	return received
}
