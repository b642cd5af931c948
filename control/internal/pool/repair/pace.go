package repair

import (
	"context"
	"time"
)

// pace bounds what is moved in a second.
type pace struct {
	bytesPerSecond int64
	// free is when the next bytes may be moved.
	free time.Time
}

// wait takes as long as the bytes before it are to take.
func (p *pace) wait(ctx context.Context, bytes int64) error {
	now := time.Now()
	if p.free.Before(now) {
		p.free = now
	}
	pause := p.free.Sub(now)
	p.free = p.free.Add(time.Duration(float64(bytes) / float64(p.bytesPerSecond) * float64(time.Second)))
	return sleep(ctx, pause)
}

// sleep returns early, with the cause, if the context ends.
func sleep(ctx context.Context, length time.Duration) error {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
