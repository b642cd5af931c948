package wire

import (
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

// Each of these reads what the Decode function of the same message does; last is what the report before had in
// the same place.

func scanRef(s scan, ref *policy.Ref) {
	last := *ref
	ref.Store, ref.Instance = "", ""
	for s.next() {
		switch s.tag {
		case 1<<3 | bytesField:
			ref.Store = s.text(last.Store, maxNameBytes)
		case 2<<3 | bytesField:
			ref.Instance = s.text(last.Instance, maxNameBytes)
		}
	}
	s.need(ref.Store != "" && ref.Instance != "")
}

func scanSignals(s scan, last *policy.NodeSignals, asked time.Time) policy.NodeSignals {
	signals := policy.NodeSignals{
		SampledAt: asked, CPUPressure: unknown, IOPressure: unknown, MemoryPressure: unknown,
	}
	for s.next() {
		switch s.tag {
		case 1<<3 | fixed64Field:
			signals.CPUUsed = s.share()
		case 2<<3 | fixed64Field:
			signals.CPUPressure = s.share()
		case 3<<3 | fixed64Field:
			signals.IOPressure = s.share()
		case 4<<3 | fixed64Field:
			signals.MemoryPressure = s.share()
		case 5<<3 | bytesField:
			device := scanDevice(s.element(), at(last.Devices, len(signals.Devices)))
			signals.Devices = add(signals.Devices, device, len(last.Devices))
		case 6<<3 | bytesField:
			signals.SampledAt = asked.Add(-s.duration())
		}
	}
	s.need(len(signals.Devices) <= maxDevices)
	return signals
}

func scanDevice(s scan, last policy.DeviceSignals) (device policy.DeviceSignals) {
	for s.next() {
		switch s.tag {
		case 1<<3 | bytesField:
			device.Name = s.text(last.Name, maxNameBytes)
		case 2<<3 | fixed64Field:
			device.InFlight = s.quantity()
		case 3<<3 | fixed64Field:
			device.ReadBytesPerSecond = s.quantity()
		case 4<<3 | fixed64Field:
			device.WriteBytesPerSecond = s.quantity()
		case 5<<3 | fixed64Field:
			device.Utilisation = s.share()
		}
	}
	s.need(device.Name != "")
	return device
}

func scanTask(s scan, last store.Task) (task store.Task) {
	for s.next() {
		switch s.tag {
		case 1<<3 | bytesField:
			task.ID = s.text(last.ID, maxTextBytes)
		case 2<<3 | varintField:
			task.Kind = s.kind()
		case 3<<3 | bytesField:
			task.Scope = s.text(last.Scope, maxScopeBytes)
		case 4<<3 | varintField:
			task.State = states[sluicev1.State(int32(s.number))]
		case 5<<3 | bytesField:
			task.Phase = s.text(last.Phase, maxTextBytes)
		case 6<<3 | varintField:
			task.BytesDone = s.number
		case 7<<3 | varintField:
			task.BytesTotal = s.number
		case 8<<3 | fixed64Field:
			task.RateBytesPerSecond = s.quantity()
		case 9<<3 | bytesField:
			task.Throttled = s.duration()
		case 10<<3 | bytesField:
			task.Age = s.duration()
		}
	}
	s.need(task.ID != "" && task.Kind != "")
	return task
}

func scanDebt(s scan, last store.Debt) store.Debt {
	debt := store.Debt{EstimatedRecovery: unknown}
	for s.next() {
		switch s.tag {
		case 1<<3 | varintField:
			debt.Kind = s.kind()
		case 2<<3 | bytesField:
			debt.Scope = s.text(last.Scope, maxScopeBytes)
		case 3<<3 | varintField:
			debt.Bytes = s.number
		case 4<<3 | varintField:
			debt.TriggerBytes = s.number
		case 5<<3 | varintField:
			debt.LimitBytes = s.number
		case 6<<3 | varintField:
			debt.Files = s.number
		case 7<<3 | bytesField:
			debt.EstimatedRecovery = s.duration()
		}
	}
	s.need(debt.Kind != "")
	return debt
}

func scanLease(s scan, last store.Lease) (lease store.Lease) {
	for s.next() {
		switch s.tag {
		case 1<<3 | varintField:
			lease.Kind = s.kind()
		case 2<<3 | bytesField:
			lease.Scope = s.text(last.Scope, maxScopeBytes)
		case 3<<3 | bytesField:
			lease.Setting = scanSetting(s.message(), last.Setting)
		case 4<<3 | bytesField:
			lease.Owner = s.text(last.Owner, maxNameBytes)
		case 5<<3 | bytesField:
			lease.TimeLeft = s.duration()
		}
	}
	s.need(lease.Kind != "" && lease.Setting.Name != "" && lease.Owner != "" && s.has(5))
	return lease
}

func scanSetting(s scan, last store.Setting) (setting store.Setting) {
	for s.next() {
		switch s.tag {
		case 1<<3 | bytesField:
			setting.Name = store.SettingName(s.text(string(last.Name), maxNameBytes))
		case 2<<3 | fixed64Field:
			setting.Number, setting.Text = s.real(), ""
		case 3<<3 | bytesField:
			setting.Number, setting.Text = 0, s.text(last.Text, maxTextBytes)
		}
	}
	return setting
}

func scanLatency(s scan, last store.Latency) (latency store.Latency) {
	for s.next() {
		switch s.tag {
		case 1<<3 | bytesField:
			latency.Class = s.text(last.Class, maxNameBytes)
		case 2<<3 | bytesField:
			latency.Age = s.duration()
		case 3<<3 | bytesField:
			latency.Interval = s.duration()
		case 4<<3 | varintField:
			latency.Count = s.number
		case 5<<3 | varintField:
			latency.Errors = s.number
		case 6<<3 | bytesField:
			latency.Mean = s.duration()
		case 7<<3 | bytesField:
			latency.P50 = s.duration()
		case 8<<3 | bytesField:
			latency.P99 = s.duration()
		case 9<<3 | bytesField:
			latency.P999 = s.duration()
		case 10<<3 | bytesField:
			latency.Max = s.duration()
		}
	}
	s.need(latency.Class != "" && s.has(2) && s.has(3) && (latency.Count == 0 || s.has(8)))
	return latency
}

func scanScopeLatency(s scan, last store.ScopeLatency) (latency store.ScopeLatency) {
	for s.next() {
		switch s.tag {
		case 1<<3 | bytesField:
			latency.Scope = s.text(last.Scope, maxScopeBytes)
		case 2<<3 | bytesField:
			latency.Latency = scanLatency(s.message(), last.Latency)
		}
	}
	s.need(s.has(2))
	return latency
}
