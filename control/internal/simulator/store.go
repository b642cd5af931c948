package simulator

import (
	"cmp"
	"math"
	"math/rand/v2"
	"time"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

const (
	// stepLength is the step of the virtual clock.
	stepLength = 10 * time.Millisecond
	// deviceName is that of a device without a name.
	deviceName = "disk"
	// requestBytes is the size of a request in the device's queue.
	requestBytes = 64 << 10
	// pressureMemory is the time constant of the pressure on input and output.
	pressureMemory = 10 * time.Second
)

// work is the background work of a kind of store.
type work interface {
	kind() store.Kind
	// arrive takes requests in and returns what they write to the device.
	arrive(requests float64) float64
	debt() store.Debt
	isAtLimit() bool
	isDue() bool
	start()
	hasTask() bool
	task() store.Task
	// left is what the task has to write, unordered what it would write by itself in a step.
	left() float64
	unordered() float64
	write(bytes float64)
	leaseEnded()
}

// order is a setting with the time at which it ends.
type order struct {
	setting store.Setting
	until   time.Duration
}

// simulatedStore is a store with its device: it obeys leases, and its own bound above all.
type simulatedStore struct {
	work      work
	device    queue
	latencies latencies
	lease     *order
	// baseSeconds is the latency of a request on an idle device; noise spreads it.
	baseSeconds float64
	random      *rand.Rand
	taskBytes   float64
	pressure    float64
	// lastTaskBytes, lastWritten and lastBusy are the counters a second ago.
	lastTaskBytes, lastWritten, lastBusy   float64
	taskRate, writeRate, utilisation       float64
	maxDebtShare                           float64
	limitReached, leasesExpired, tasksDone int
	wasAtLimit                             bool
}

// step goes on by one step of the clock.
func (s *simulatedStore) step(now time.Duration, requestsPerSecond float64) {
	s.expire(now)
	s.serveRequests(requestsPerSecond * stepLength.Seconds())
	s.goOn()
	s.device.serve(stepLength.Seconds())
	s.watchLimit()
	if (now+stepLength)%latencyInterval == 0 {
		s.endSecond(now + stepLength)
	}
}

func (s *simulatedStore) serveRequests(requests float64) {
	latency := s.baseSeconds
	if s.random != nil {
		requests = max(0, requests+math.Sqrt(requests)*s.random.NormFloat64())
		latency *= s.random.ExpFloat64()
	}
	s.device.foreground += s.work.arrive(requests)
	s.latencies.add(sample{seconds: latency + s.device.delaySeconds(), count: requests})
}

// goOn lets the task write as its lease, or the store itself, would have it.
func (s *simulatedStore) goOn() {
	if s.work.isDue() {
		s.work.start()
	}
	if !s.work.hasTask() {
		return
	}
	written := min(s.wish(), s.work.left(), s.device.room())
	s.device.background += written
	s.taskBytes += written
	s.work.write(written)
	if !s.work.hasTask() {
		s.tasksDone++
	}
}

func (s *simulatedStore) wish() float64 {
	if s.lease == nil {
		return s.work.unordered()
	}
	switch s.lease.setting.Name {
	case store.Hold:
		return 0
	case store.RateBytesPerSecond:
		return s.lease.setting.Number * stepLength.Seconds()
	case store.Full:
		return s.work.left()
	default:
		return s.work.unordered()
	}
}

func (s *simulatedStore) expire(now time.Duration) {
	if s.lease != nil && now >= s.lease.until {
		s.leasesExpired++
		s.endLease()
	}
}

func (s *simulatedStore) endLease() {
	if s.lease != nil {
		s.lease = nil
		s.work.leaseEnded()
	}
}

// watchLimit ends every lease at the bound.
func (s *simulatedStore) watchLimit() {
	debt := s.work.debt()
	s.maxDebtShare = max(s.maxDebtShare, float64(debt.Bytes)/float64(debt.LimitBytes))
	isAtLimit := s.work.isAtLimit()
	if isAtLimit && !s.wasAtLimit {
		s.limitReached++
	}
	if isAtLimit {
		s.endLease()
	}
	s.wasAtLimit = isAtLimit
}

// set obeys an order; at the bound it is refused.
func (s *simulatedStore) set(now time.Duration, setting store.Setting, timeToLive time.Duration, isStart bool) {
	if s.work.isAtLimit() {
		return
	}
	s.lease = &order{setting: setting, until: now + timeToLive}
	if isStart {
		s.work.start()
	}
}

func (s *simulatedStore) endSecond(now time.Duration) {
	s.latencies.endInterval(now)
	s.taskRate = s.taskBytes - s.lastTaskBytes
	s.writeRate = s.device.written - s.lastWritten
	s.utilisation = s.device.busySeconds - s.lastBusy
	s.lastTaskBytes, s.lastWritten, s.lastBusy = s.taskBytes, s.device.written, s.device.busySeconds
	waits := 0.0
	if s.device.delaySeconds() > stepLength.Seconds() {
		waits = 1
	}
	s.pressure += (1 - math.Exp(-1/pressureMemory.Seconds())) * (waits - s.pressure)
}

func (s *simulatedStore) snapshot(now time.Duration) store.Snapshot {
	taken := store.Snapshot{
		TakenAt: time.Time{}.Add(now), Debts: []store.Debt{s.work.debt()}, Latencies: s.latencies.last(now),
	}
	if s.work.hasTask() {
		task := s.work.task()
		task.State = store.Running
		if s.lease != nil && s.lease.setting.Name == store.Hold {
			task.State = store.Held
		}
		task.RateBytesPerSecond = s.taskRate
		taken.Tasks = []store.Task{task}
	}
	if s.lease != nil {
		taken.Leases = []store.Lease{{
			Kind: s.work.kind(), Setting: s.lease.setting, Owner: owner, TimeLeft: s.lease.until - now,
		}}
	}
	return taken
}

func (s *simulatedStore) nodeSignals() policy.NodeSignals {
	return policy.NodeSignals{
		CPUPressure: -1, MemoryPressure: -1, IOPressure: s.pressure,
		Devices: []policy.DeviceSignals{{
			Name: cmp.Or(s.device.Name, deviceName), WriteBytesPerSecond: s.writeRate, Utilisation: s.utilisation,
			InFlight: (s.device.foreground + s.device.background) / requestBytes,
		}},
	}
}
