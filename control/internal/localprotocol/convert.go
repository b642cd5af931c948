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

func (v version) version() Version {
	return Version{Major: uint64(v.Major), Minor: uint64(v.Minor)}
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
	return capability{Kind: c.Kind, Settings: settings, CanStart: c.CanStart}
}

func (r describeResult) description() store.Description {
	return store.Description{
		Store:         r.Store,
		Instance:      r.Instance,
		StoreVersion:  r.StoreVersion,
		PluginVersion: r.PluginVersion,
		Capabilities:  convert(r.Capabilities, func(c capability) store.Capability { return store.Capability(c) }),
		MaxTimeToLive: duration(r.MaxTimeToLiveSeconds),
	}
}

func newSnapshotResult(s store.Snapshot) snapshotResult {
	figures := s.Figures
	if figures == nil {
		figures = map[string]float64{}
	}
	return snapshotResult{
		Tasks:     convert(s.Tasks, newTask),
		Debts:     convert(s.Debts, newDebt),
		Leases:    convert(s.Leases, newLease),
		Latencies: convert(s.Latencies, newLatency),
		Figures:   figures,
	}
}

func (r snapshotResult) snapshot(takenAt time.Time) store.Snapshot {
	return store.Snapshot{
		TakenAt:   takenAt,
		Tasks:     convert(r.Tasks, task.task),
		Debts:     convert(r.Debts, debt.debt),
		Leases:    convert(r.Leases, lease.lease),
		Latencies: convert(r.Latencies, latency.latency),
		Figures:   r.Figures,
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

func (t task) task() store.Task {
	return store.Task{
		ID: t.ID, Kind: t.Kind, Scope: t.Scope, State: t.State, Phase: t.Phase,
		BytesDone:          uint64(t.BytesDone),
		BytesTotal:         uint64(t.BytesTotal),
		RateBytesPerSecond: t.RateBytesPerSecond,
		Throttled:          duration(t.ThrottledSeconds),
		Age:                duration(t.AgeSeconds),
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

func (d debt) debt() store.Debt {
	recovery := unknownRecovery
	if d.EstimatedRecoverySeconds != nil {
		recovery = duration(*d.EstimatedRecoverySeconds)
	}
	return store.Debt{
		Kind: d.Kind, Scope: d.Scope,
		Bytes:             uint64(d.Bytes),
		TriggerBytes:      uint64(d.TriggerBytes),
		LimitBytes:        uint64(d.LimitBytes),
		Files:             uint64(d.Files),
		EstimatedRecovery: recovery,
	}
}

func newLease(l store.Lease) lease {
	return lease{
		Kind: l.Kind, Scope: l.Scope, Owner: l.Owner,
		Setting:         newSetting(l.Setting),
		TimeLeftSeconds: seconds(l.TimeLeft),
	}
}

func (l lease) lease() store.Lease {
	return store.Lease{
		Kind: l.Kind, Scope: l.Scope, Owner: l.Owner,
		Setting:  l.Setting.setting(),
		TimeLeft: duration(l.TimeLeftSeconds),
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

func (l latency) latency() store.Latency {
	return store.Latency{
		Class:    l.Class,
		Age:      duration(l.AgeSeconds),
		Interval: duration(l.IntervalSeconds),
		Count:    uint64(l.Count),
		Errors:   uint64(l.Errors),
		Mean:     duration(l.MeanSeconds),
		P50:      duration(l.P50Seconds),
		P99:      duration(l.P99Seconds),
		P999:     duration(l.P999Seconds),
		Max:      duration(l.MaxSeconds),
	}
}

// newOrderParams leaves the setting of a start out if it is empty.
func newOrderParams(o store.Order) orderParams {
	params := orderParams{
		Kind: o.Kind, Scope: o.Scope, Owner: o.Owner, Replace: o.Replace,
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
		Kind: p.Kind, Scope: p.Scope, Owner: p.Owner, Replace: p.Replace,
		TimeToLive: duration(p.TimeToLiveSeconds),
	}
	if p.Setting != nil {
		order.Setting = p.Setting.setting()
	}
	return order
}
