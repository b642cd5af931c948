package script

import (
	"maps"
	"math"
	"slices"
	"time"

	"go.starlark.net/starlark"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

func (p *Policy) viewValue(view policy.View, target policy.Target, memory map[string]float64) starlark.Value {
	return record(starlark.StringDict{
		"now_seconds":             seconds(view.Now),
		"wall_clock_unix_seconds": number(float64(view.WallClock.UnixNano()) / 1e9),
		"period_seconds":          seconds(view.Period),
		"target":                  targetValue(target),
		"targets":                 targetList(view.Targets),
		"signals":                 dict(view.Signals, signalValue),
		"memory":                  dict(memory, number),
		"constants":               p.constants,
	})
}

func signalValue(signal policy.Signal) starlark.Value {
	return record(starlark.StringDict{
		"value":       number(signal.Value),
		"age_seconds": seconds(signal.Age),
		"is_fresh":    starlark.Bool(signal.Fresh),
		"missing":     starlark.String(signal.Missing),
	})
}

func targetValue(target policy.Target) starlark.Value {
	snapshot := target.Snapshot
	lease := starlark.Value(starlark.None)
	if target.Lease != nil {
		lease = leaseValue(*target.Lease)
	}
	return record(starlark.StringDict{
		"node":         starlark.String(target.Node),
		"store":        starlark.String(target.Store),
		"instance":     starlark.String(target.Instance),
		"kind":         starlark.String(target.Kind),
		"scope":        starlark.String(target.Scope),
		"is_fresh":     starlark.Bool(target.Fresh),
		"missing":      starlark.String(target.Missing),
		"age_seconds":  seconds(target.Age),
		"capabilities": list(target.Description.Capabilities, capabilityValue),
		"tasks":        list(snapshot.Tasks, taskValue),
		"debts":        list(snapshot.Debts, debtValue),
		"leases":       list(snapshot.Leases, leaseValue),
		"latencies":    list(snapshot.Latencies, latencyValue),
		"figures":      dict(snapshot.Figures, number),
		"node_signals": nodeValue(target),
		"lease":        lease,
	})
}

func capabilityValue(capability store.Capability) starlark.Value {
	name := func(name store.SettingName) starlark.Value { return starlark.String(name) }
	return record(starlark.StringDict{
		"kind":      starlark.String(capability.Kind),
		"settings":  list(capability.Settings, name),
		"can_start": starlark.Bool(capability.CanStart),
	})
}

func taskValue(task store.Task) starlark.Value {
	return record(starlark.StringDict{
		"id":                    starlark.String(task.ID),
		"kind":                  starlark.String(task.Kind),
		"scope":                 starlark.String(task.Scope),
		"state":                 starlark.String(task.State),
		"phase":                 starlark.String(task.Phase),
		"bytes_done":            starlark.MakeUint64(task.BytesDone),
		"bytes_total":           starlark.MakeUint64(task.BytesTotal),
		"rate_bytes_per_second": number(task.RateBytesPerSecond),
		"throttled_seconds":     seconds(task.Throttled),
		"age_seconds":           seconds(task.Age),
	})
}

func debtValue(debt store.Debt) starlark.Value {
	return record(starlark.StringDict{
		"kind":                       starlark.String(debt.Kind),
		"scope":                      starlark.String(debt.Scope),
		"bytes":                      starlark.MakeUint64(debt.Bytes),
		"trigger_bytes":              starlark.MakeUint64(debt.TriggerBytes),
		"limit_bytes":                starlark.MakeUint64(debt.LimitBytes),
		"files":                      starlark.MakeUint64(debt.Files),
		"estimated_recovery_seconds": seconds(debt.EstimatedRecovery),
	})
}

func leaseValue(lease store.Lease) starlark.Value {
	return record(starlark.StringDict{
		"kind":              starlark.String(lease.Kind),
		"scope":             starlark.String(lease.Scope),
		"setting":           starlark.String(lease.Setting.String()),
		"name":              starlark.String(lease.Setting.Name),
		"number":            number(lease.Setting.Number),
		"text":              starlark.String(lease.Setting.Text),
		"owner":             starlark.String(lease.Owner),
		"time_left_seconds": seconds(lease.TimeLeft),
	})
}

func latencyValue(latency store.Latency) starlark.Value {
	return record(starlark.StringDict{
		"request_class":    starlark.String(latency.Class),
		"age_seconds":      seconds(latency.Age),
		"interval_seconds": seconds(latency.Interval),
		"count":            starlark.MakeUint64(latency.Count),
		"errors":           starlark.MakeUint64(latency.Errors),
		"mean_seconds":     seconds(latency.Mean),
		"p50_seconds":      seconds(latency.P50),
		"p99_seconds":      seconds(latency.P99),
		"p999_seconds":     seconds(latency.P999),
		"max_seconds":      seconds(latency.Max),
	})
}

func nodeValue(target policy.Target) starlark.Value {
	signals := target.NodeSignals
	return record(starlark.StringDict{
		"age_seconds":     seconds(target.NodeSignalsAge),
		"cpu_used":        number(signals.CPUUsed),
		"cpu_pressure":    number(signals.CPUPressure),
		"io_pressure":     number(signals.IOPressure),
		"memory_pressure": number(signals.MemoryPressure),
		"devices":         list(signals.Devices, deviceValue),
	})
}

func deviceValue(device policy.DeviceSignals) starlark.Value {
	return record(starlark.StringDict{
		"name":                   starlark.String(device.Name),
		"in_flight":              number(device.InFlight),
		"read_bytes_per_second":  number(device.ReadBytesPerSecond),
		"write_bytes_per_second": number(device.WriteBytesPerSecond),
		"utilisation":            number(device.Utilisation),
	})
}

func list[T any](elements []T, value func(T) starlark.Value) starlark.Value {
	values := make([]starlark.Value, 0, len(elements))
	for _, element := range elements {
		values = append(values, value(element))
	}
	return starlark.NewList(values)
}

// dict has its keys sorted: a script that goes through them must do the same each time.
func dict[T any](elements map[string]T, value func(T) starlark.Value) starlark.Value {
	made := starlark.NewDict(len(elements))
	for _, name := range slices.Sorted(maps.Keys(elements)) {
		// Nobody else has this dict, so that it can neither be frozen nor be iterated over.
		_ = made.SetKey(starlark.String(name), value(elements[name]))
	}
	return made
}

func number(value float64) starlark.Value {
	return starlark.Float(value)
}

func seconds(duration time.Duration) starlark.Value {
	return starlark.Float(duration.Seconds())
}

// targetList is all targets of the view. It makes an element only when it is asked for: a cluster has
// thousands, and every one of them is decided about.
type targetList []policy.Target

var _ starlark.Sequence = targetList(nil)
var _ starlark.Indexable = targetList(nil)

func (l targetList) String() string             { return "targets" }
func (l targetList) Type() string               { return "targets" }
func (l targetList) Freeze()                    {}
func (l targetList) Truth() starlark.Bool       { return len(l) > 0 }
func (l targetList) Hash() (uint32, error)      { return uint32(min(len(l), math.MaxInt32)), nil }
func (l targetList) Len() int                   { return len(l) }
func (l targetList) Index(i int) starlark.Value { return targetValue(l[i]) }

func (l targetList) Iterate() starlark.Iterator {
	return &targetIterator{left: l}
}

type targetIterator struct {
	left targetList
}

func (i *targetIterator) Next(value *starlark.Value) bool {
	if len(i.left) == 0 {
		return false
	}
	*value = targetValue(i.left[0])
	i.left = i.left[1:]
	return true
}

func (i *targetIterator) Done() {}
