package reference

import (
	"math"
	"slices"
	"time"

	"sluice.dev/control/internal/store"
)

// advance brings the simulation up to the present, which it returns. Caller holds the lock.
func (s *Store) advance() time.Duration {
	now := s.clock().Sub(s.startedAt)
	for s.elapsed+tick <= now {
		s.elapsed += tick
		s.step()
	}
	s.leases = s.leases.expire(now)
	return now
}

// step simulates one tick.
func (s *Store) step() {
	s.leases = s.leases.expire(s.elapsed)
	written := s.write()
	s.enforceLimit()
	s.schedule()
	s.compact(s.config.DeviceBytesPerSecond*tick.Seconds() - written)
	s.ended = slices.DeleteFunc(s.ended, func(c *compaction) bool {
		return s.elapsed-c.endedAt > endedShown
	})
	if s.elapsed%intervalLength == 0 {
		s.endInterval()
	}
}

// write does what clients want, as far as the device and the limit of debt let them, and returns how
// many bytes that was.
func (s *Store) write() float64 {
	wanted := s.config.WriteBytesPerSecond
	if s.load.burst(s.elapsed) {
		wanted = s.config.BurstBytesPerSecond
	}
	wanted = min(wanted, s.config.DeviceBytesPerSecond) * tick.Seconds()
	written := min(wanted, max(0, float64(s.config.LimitBytes)-s.debtBytes()))
	if written < wanted {
		s.interval.stalled, s.overLimit = true, true
		s.totals.stalledSeconds += tick.Seconds() * (1 - written/wanted)
	}
	for _, each := range s.tables {
		each.debtBytes += written * each.writeShare
	}
	s.totals.writtenBytes += written
	s.interval.deviceBytes += written
	s.interval.requests += written / requestBytes
	return written
}

// enforceLimit ends every lease while debt is over the limit: safety wins.
func (s *Store) enforceLimit() {
	if s.debtBytes() <= releaseShare*float64(s.config.LimitBytes) {
		s.overLimit = false
	}
	if !s.overLimit {
		return
	}
	s.totals.limitEnds += len(s.leases)
	s.leases = nil
}

// schedule queues what is due, puts off what is ordered to be, and starts what may start, the oldest
// first. Over the limit every debt is due.
func (s *Store) schedule() {
	var waiting []*table
	for _, each := range s.tables {
		if each.debtBytes >= float64(s.config.TriggerBytes) || s.overLimit && each.debtBytes >= 1 {
			s.enqueue(each)
		}
		if each.task != nil && !each.task.occupiesSlot() {
			waiting = append(waiting, each)
		}
	}
	slices.SortStableFunc(waiting, func(a, b *table) int {
		return int(a.task.createdAt - b.task.createdAt)
	})
	for _, each := range waiting {
		each.task.allBytes = each.debtBytes
		switch {
		case s.isDeferred(each):
			each.task.state = store.Deferred
			each.task.throttled += tick
		case s.running() >= s.concurrency():
			each.task.state = store.Queued
		default:
			s.run(each)
		}
	}
}

// isDeferred says whether an order puts a waiting compaction off. The debt that counts is that of the
// order's scope.
func (s *Store) isDeferred(t *table) bool {
	governing := s.leases.governing(t.scope, store.Setting{Name: store.DeferUntilDebtBytes}.Aspect())
	if governing == nil {
		return false
	}
	debt := t.debtBytes
	if governing.order.Scope == "" {
		debt = s.debtBytes()
	}
	return debt < governing.order.Setting.Number
}

func (s *Store) running() int {
	count := 0
	for _, each := range s.tables {
		if each.task != nil && each.task.occupiesSlot() {
			count++
		}
	}
	return count
}

// concurrency is how many compactions may run. Those that run already go on when it is lowered.
func (s *Store) concurrency() int {
	ordered := s.leases.find("", store.Setting{Name: store.Concurrency}.Aspect())
	if ordered == nil {
		return s.config.Concurrency
	}
	return slots(ordered.order.Setting)
}

func slots(concurrency store.Setting) int {
	return int(min(concurrency.Number, math.MaxInt32))
}

func (s *Store) debtBytes() float64 {
	sum := 0.0
	for _, each := range s.tables {
		sum += each.debtBytes
	}
	return sum
}
