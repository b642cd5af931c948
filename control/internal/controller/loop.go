package controller

import (
	"context"
	"time"
)

// tickFunc gives a channel that receives once a period, and a function that ends it.
type tickFunc func(period time.Duration) (<-chan time.Time, func())

func systemTicks(period time.Duration) (<-chan time.Time, func()) {
	ticker := time.NewTicker(period)
	return ticker.C, ticker.Stop
}

// loop runs periods until ctx ends, and takes new configurations over between them. It calls
// afterPeriod at the end of each period.
func (c *Controller) loop(ctx context.Context, tick tickFunc, reloads <-chan loaded, afterPeriod func()) {
	ticks, stop := tick(c.config.Period())
	defer func() { stop() }()
	for {
		select {
		case <-ctx.Done():
			return
		case next := <-reloads:
			before := c.config.Period()
			c.reload(next)
			if c.config.Period() != before {
				stop()
				ticks, stop = tick(c.config.Period())
			}
			continue
		case <-c.elector.Changed():
			// Leases may be about to run out: whoever becomes the active one does not wait for its period.
			if state := c.elector.State(); !state.Active || c.wasActive && state.Term == c.term {
				continue
			}
		case <-ticks:
		}
		startedAt := c.now()
		c.period(ctx)
		elapsed := c.now().Sub(startedAt)
		c.metrics.periodDone(elapsed)
		afterPeriod()
		c.skipMissed(ticks, elapsed)
	}
}

// skipMissed leaves out the periods that ended while one was at work. Doing them late, one after the
// other, would act on the same snapshots again.
func (c *Controller) skipMissed(ticks <-chan time.Time, elapsed time.Duration) {
	missed := int(elapsed / c.config.Period())
	if missed == 0 {
		return
	}
	select {
	case <-ticks:
	default:
	}
	c.metrics.skipped(missed)
	c.log.Warn("a period took too long, and others were skipped",
		"took", elapsed, "period", c.config.Period(), "skipped", missed)
}
