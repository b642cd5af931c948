package reference

import (
	"math"
	"time"

	"sluice.dev/control/internal/store"
)

// burstSeconds is how much of its rate a lease may make up for after a stall.
const burstSeconds = 0.25

// fileBytes is the size of the files that debt is counted in.
const fileBytes = 8e6

// table is one scope: what was written to it and not compacted yet, and the compaction that is to do
// it, nil if there is none.
type table struct {
	scope      string
	writeShare float64
	debtBytes  float64
	task       *compaction
}

// compaction is a simulated task. Its work is kept whatever the orders.
type compaction struct {
	id        string
	scope     string
	variant   store.Variant
	state     store.State
	createdAt time.Duration
	startedAt time.Duration
	endedAt   time.Duration
	doneBytes float64
	allBytes  float64
	rate      float64
	throttled time.Duration
}

func (c *compaction) occupiesSlot() bool {
	return c.state == store.Running || c.state == store.Held
}

func (c *compaction) visible(now time.Duration) store.Task {
	return store.Task{
		ID: c.id, Kind: store.Compaction, Scope: c.scope, State: c.state, Phase: string(c.variant),
		BytesDone:          uint64(c.doneBytes),
		BytesTotal:         uint64(c.allBytes),
		RateBytesPerSecond: c.rate,
		Throttled:          c.throttled,
		Age:                now - c.createdAt,
	}
}

func (t *table) visibleDebt(trigger uint64) store.Debt {
	return store.Debt{
		Kind: store.Compaction, Scope: t.scope,
		Bytes:             uint64(t.debtBytes),
		TriggerBytes:      trigger,
		Files:             uint64(math.Ceil(t.debtBytes / fileBytes)),
		EstimatedRecovery: -1,
	}
}

// pace is the most that a running compaction may move in a tick, and whether it is held.
func (s *Store) pace(task *compaction) (bytes float64, held bool) {
	full := s.config.FullBytesPerSecond * tick.Seconds()
	governing := s.leases.governing(task.scope, store.AspectPace)
	switch {
	case s.overLimit:
		return full, false
	case governing == nil:
		return s.stockPace(), false
	}
	switch setting := governing.order.Setting; setting.Name {
	case store.Hold:
		return 0, true
	case store.Full:
		return full, false
	case store.RateBytesPerSecond:
		return min(full, governing.tokens/float64(s.runningUnder(governing))), false
	case store.DurationSeconds:
		since := max(governing.settingSince, task.startedAt)
		left := since.Seconds() + setting.Number - s.elapsed.Seconds()
		share := tick.Seconds() / max(left, tick.Seconds())
		return min(full, (task.allBytes-task.doneBytes)*share), false
	default:
		return s.stockPace(), false
	}
}

func (s *Store) stockPace() float64 {
	return min(s.config.StockBytesPerSecond, s.config.FullBytesPerSecond) * tick.Seconds()
}

// runningUnder counts the compactions that share the rate of a lease.
func (s *Store) runningUnder(governing *lease) int {
	count := 0
	for _, each := range s.tables {
		running := each.task != nil && each.task.occupiesSlot()
		if running && s.leases.governing(each.scope, store.AspectPace) == governing {
			count++
		}
	}
	return count
}

// refillTokens adds what the rates of leases allow in one tick.
func (s *Store) refillTokens() {
	for _, each := range s.leases {
		if each.order.Setting.Name != store.RateBytesPerSecond {
			continue
		}
		rate := each.order.Setting.Number
		each.tokens = min(each.tokens+rate*tick.Seconds(), rate*burstSeconds)
	}
}

// compact moves every compaction on by one tick, within what clients leave of the device.
func (s *Store) compact(deviceBytes float64) {
	s.refillTokens()
	type share struct {
		table  *table
		wanted float64
	}
	var shares []share
	sum := 0.0
	for _, each := range s.tables {
		if each.task == nil || !each.task.occupiesSlot() {
			continue
		}
		wanted, held := s.pace(each.task)
		each.task.state = store.Running
		if held {
			each.task.state = store.Held
		}
		each.task.throttled += time.Duration(max(0, 1-wanted/s.stockPace()) * float64(tick))
		wanted = min(wanted, each.task.allBytes-each.task.doneBytes)
		shares = append(shares, share{each, wanted})
		sum += wanted
	}
	// What the device cannot do is taken from all alike.
	part := min(1, deviceBytes/max(sum, 1))
	for _, each := range shares {
		s.move(each.table, each.wanted*part)
	}
}

// abort ends a compaction without its work: what it has moved is debt again.
func (s *Store) abort(t *table) {
	task := t.task
	t.debtBytes += task.doneBytes
	task.rate = 0
	task.state, task.endedAt = store.Failed, s.elapsed
	s.ended = append(s.ended, task)
	t.task = nil
}

// move does one tick's work of one compaction.
func (s *Store) move(t *table, bytes float64) {
	task := t.task
	if governing := s.leases.governing(t.scope, store.AspectPace); governing != nil {
		governing.tokens = max(0, governing.tokens-bytes)
	}
	task.doneBytes += bytes
	task.rate = bytes / tick.Seconds()
	t.debtBytes = max(0, t.debtBytes-bytes)
	s.totals.compactedBytes += bytes
	s.interval.deviceBytes += bytes
	// Less than a byte is left over by rounding only.
	if task.doneBytes < task.allBytes-1 {
		return
	}
	task.doneBytes, task.rate = task.allBytes, 0
	task.state, task.endedAt = store.Done, s.elapsed
	s.ended = append(s.ended, task)
	t.task = nil
}
