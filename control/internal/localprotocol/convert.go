package localprotocol

import (
	"time"

	"sluice.dev/control/internal/store"
)

// unknownRecovery is how a Debt says that its EstimatedRecovery is not known.
const unknownRecovery = -1 * time.Second

func duration(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second))
}

// seconds has no negative durations: a lease that has just run out has no time left.
func seconds(duration time.Duration) float64 {
	return max(0, duration.Seconds())
}

func convert[From, To any](all []From, one func(From) To) []To {
	converted := make([]To, len(all))
	for i, each := range all {
		converted[i] = one(each)
	}
	return converted
}

func newVersion(v Version) version {
	return version{Major: newCount(v.Major), Minor: newCount(v.Minor)}
}

func newDescribeResult(d store.Description) describeResult {
	return describeResult{
		ProtocolVersion:      newVersion(CurrentVersion()),
		Store:                d.Store,
		Instance:             d.Instance,
		StoreVersion:         d.StoreVersion,
		PluginVersion:        d.PluginVersion,
		Capabilities:         convert(d.Capabilities, newCapability),
		MaxTimeToLiveSeconds: d.MaxTimeToLive.Seconds(),
	}
}

func newCapability(c store.Capability) capability {
	settings := append([]store.SettingName{}, c.Settings...)
	return capability{
		Kind: c.Kind, Settings: settings, CanStart: c.CanStart, Variants: c.Variants, CanAbort: c.CanAbort,
	}
}

func newSnapshotResult(s store.Snapshot) snapshotResult {
	figures := s.Figures
	if figures == nil {
		figures = map[string]float64{}
	}
	return snapshotResult{
		Tasks:          convert(s.Tasks, newTask),
		Debts:          convert(s.Debts, newDebt),
		Leases:         convert(s.Leases, newLease),
		Latencies:      convert(s.Latencies, newLatency),
		ScopeLatencies: convert(s.ScopeLatencies, newScopeLatency),
		Figures:        figures,
	}
}

func newTask(t store.Task) task {
	return task{
		ID: t.ID, Kind: t.Kind, Scope: t.Scope, State: t.State, Phase: t.Phase,
		BytesDone:          newCount(t.BytesDone),
		BytesTotal:         newCount(t.BytesTotal),
		RateBytesPerSecond: t.RateBytesPerSecond,
		ThrottledSeconds:   seconds(t.Throttled),
		AgeSeconds:         seconds(t.Age),
	}
}

func newDebt(d store.Debt) debt {
	converted := debt{
		Kind: d.Kind, Scope: d.Scope,
		Bytes:        newCount(d.Bytes),
		TriggerBytes: newCount(d.TriggerBytes),
		LimitBytes:   newCount(d.LimitBytes),
		Files:        newCount(d.Files),
	}
	if d.EstimatedRecovery >= 0 {
		recovery := d.EstimatedRecovery.Seconds()
		converted.EstimatedRecoverySeconds = &recovery
	}
	return converted
}

func newLease(l store.Lease) lease {
	return lease{
		Kind: l.Kind, Scope: l.Scope, Owner: l.Owner,
		Setting:         newSetting(l.Setting),
		TimeLeftSeconds: seconds(l.TimeLeft),
	}
}

func newSetting(s store.Setting) setting {
	converted := setting{Name: s.Name}
	if s.Name.HasNumber() {
		converted.Number = &s.Number
	}
	if s.Name.HasText() {
		converted.Text = &s.Text
	}
	return converted
}

func (s setting) setting() store.Setting {
	converted := store.Setting{Name: s.Name}
	if s.Number != nil {
		converted.Number = *s.Number
	}
	if s.Text != nil {
		converted.Text = *s.Text
	}
	return converted
}

func newLatency(l store.Latency) latency {
	return latency{
		Class:           l.Class,
		AgeSeconds:      seconds(l.Age),
		IntervalSeconds: seconds(l.Interval),
		Count:           newCount(l.Count),
		Errors:          newCount(l.Errors),
		MeanSeconds:     seconds(l.Mean),
		P50Seconds:      seconds(l.P50),
		P99Seconds:      seconds(l.P99),
		P999Seconds:     seconds(l.P999),
		MaxSeconds:      seconds(l.Max),
	}
}

func newScopeLatency(l store.ScopeLatency) scopeLatency {
	return scopeLatency{Scope: l.Scope, latency: newLatency(l.Latency)}
}

// newOrderParams leaves the setting of a start out if it is empty.
func newOrderParams(o store.Order) orderParams {
	params := orderParams{
		Kind: o.Kind, Scope: o.Scope, Owner: o.Owner, Replace: o.Replace, Variant: o.Variant,
		TimeToLiveSeconds: o.TimeToLive.Seconds(),
	}
	if o.Setting != (store.Setting{}) {
		converted := newSetting(o.Setting)
		params.Setting = &converted
	}
	return params
}

func (p orderParams) order() store.Order {
	order := store.Order{
		Kind: p.Kind, Scope: p.Scope, Owner: p.Owner, Replace: p.Replace, Variant: p.Variant,
		TimeToLive: duration(p.TimeToLiveSeconds),
	}
	if p.Setting != nil {
		order.Setting = p.Setting.setting()
	}
	return order
}
