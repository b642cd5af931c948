// Package devices replays a trace on two devices: all writes to the fast one, or some redirected to slow ones by
// SSD Write Redirect. What the fast one holds is written back to the slow ones meanwhile.
//
// Source: SSD Write Redirect (SoCC 2019), algorithm 1 and its modes SSD Write Back and SSD Write Redirect.
package devices

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sluice.dev/control/internal/redirection"
	"sluice.dev/control/internal/store"
)

// mostInFlight is how many requests may wait for a device; each takes a thread.
const mostInFlight = 2000

// Plan is what is replayed, and where.
type Plan struct {
	Requests []redirection.Request
	// Fast is a folder on the fast device, Slow are folders, each on a slow one.
	Fast string
	Slow []string
	// LogBytes is how much of each device is written to, again and again.
	LogBytes int64
	// Settings are those of redirects; without any nothing is redirected.
	Settings *redirection.Settings
}

// Served is what a device was asked for by the trace. Latencies count from when a request was due.
type Served struct {
	Writes       int     `json:"writes"`
	WrittenBytes int64   `json:"written_bytes"`
	MeanSeconds  float64 `json:"mean_seconds"`
	P50Seconds   float64 `json:"p50_seconds"`
	P99Seconds   float64 `json:"p99_seconds"`
	P999Seconds  float64 `json:"p99_9_seconds"`
	MaxSeconds   float64 `json:"max_seconds"`
}

// Outcome is what a replay came to.
type Outcome struct {
	Seconds float64 `json:"seconds"`
	Fast    Served  `json:"fast"`
	Slow    Served  `json:"slow"`
	Reads   int     `json:"reads"`
	// RedirectedShare is that of the writes, RedirectedBytesShare that of their bytes.
	RedirectedShare      float64 `json:"redirected_share"`
	RedirectedBytesShare float64 `json:"redirected_bytes_share"`
	// WrittenBackBytes were copied from the fast device to the slow ones, PendingBytes were still to be copied.
	WrittenBackBytes int64 `json:"written_back_bytes"`
	PendingBytes     int64 `json:"pending_bytes"`
	// LatestSeconds is how long the latest request was given to its device after it was due: where it is not
	// small, latencies hold this program's own delay.
	LatestSeconds float64 `json:"latest_seconds"`
}

// Replay makes the requests of a trace when they are due, however long those before them take. Errors are of
// code store.CodeInvalid where a folder or a size is not fit.
func Replay(ctx context.Context, plan Plan) (Outcome, error) {
	largest, err := plan.largestBytes()
	if err != nil {
		return Outcome{}, err
	}
	r := &replay{plan: plan}
	defer r.close()
	if err := r.open(largest); err != nil {
		return Outcome{}, err
	}
	return r.run(ctx)
}

func (p Plan) largestBytes() (int, error) {
	if len(p.Slow) == 0 {
		return 0, store.Invalidf("there is no slow device").WithHint("Name a folder on one.")
	}
	if len(redirection.Writes(p.Requests)) == 0 {
		return 0, store.Invalidf("the trace has no writes")
	}
	largest := writeBackBytes
	for _, request := range p.Requests {
		if request.Bytes > float64(p.LogBytes) {
			return 0, store.Invalidf("a request of the trace has %.0f bytes, the log of a device %d", request.Bytes, p.LogBytes).
				WithHint("Let logs be as large at least, where the devices have room.")
		}
		largest = max(largest, rounded(request.Bytes))
	}
	if int64(largest) > p.LogBytes || p.LogBytes%blockBytes != 0 {
		return 0, store.Invalidf("a log of %d bytes", p.LogBytes).
			WithHint("Let it be a multiple of %d, and %d or more.", blockBytes, largest)
	}
	return largest, nil
}

// replay is one that runs.
type replay struct {
	plan    Plan
	fast    *device
	slow    []*device
	begun   time.Time
	pending sync.WaitGroup
	back    *writeBack

	lostRatio float64
	mutex     sync.Mutex
	// fastSeconds and slowSeconds are latencies of writes.
	fastSeconds, slowSeconds []float64
	fastBytes, slowBytes     int64
	reads                    int
	latest                   time.Duration
	failure                  error
}

func (r *replay) open(largest int) error {
	var err error
	if r.fast, err = open(r.plan.Fast, r.plan.LogBytes, largest); err != nil {
		return err
	}
	for _, folder := range r.plan.Slow {
		slow, err := open(folder, r.plan.LogBytes, largest)
		if err != nil {
			return err
		}
		r.slow = append(r.slow, slow)
	}
	return nil
}

func (r *replay) close() {
	for _, each := range append(r.slow, r.fast) {
		if each != nil {
			_ = each.close()
		}
	}
}

func (r *replay) run(ctx context.Context) (Outcome, error) {
	r.back = startWriteBack(r.fast, r.slow)
	r.begun = time.Now()
	err := r.issue(ctx)
	r.pending.Wait()
	ended := time.Since(r.begun)
	writtenBack, pending, backErr := r.back.end()
	if err := errors.Join(err, r.failure, backErr); err != nil {
		return Outcome{}, err
	}
	all := r.fastBytes + r.slowBytes
	return Outcome{
		Seconds: ended.Seconds(), Fast: served(r.fastSeconds, r.fastBytes), Slow: served(r.slowSeconds, r.slowBytes), Reads: r.reads,
		RedirectedShare:      redirection.Share(float64(len(r.slowSeconds)), float64(len(r.slowSeconds)+len(r.fastSeconds))),
		RedirectedBytesShare: redirection.Share(float64(r.slowBytes), float64(all)),
		WrittenBackBytes:     writtenBack, PendingBytes: pending, LatestSeconds: r.latest.Seconds(),
	}, nil
}

func served(seconds []float64, bytes int64) Served {
	return Served{
		Writes: len(seconds), WrittenBytes: bytes, MeanSeconds: redirection.Mean(seconds),
		P50Seconds: redirection.Quantile(seconds, 0.5), P99Seconds: redirection.Quantile(seconds, 0.99),
		P999Seconds: redirection.Quantile(seconds, 0.999), MaxSeconds: redirection.Quantile(seconds, 1),
	}
}

// issue gives each request to a device when it is due.
func (r *replay) issue(ctx context.Context) error {
	for _, request := range r.plan.Requests {
		due := r.begun.Add(time.Duration(request.AtSeconds * float64(time.Second)))
		if err := sleepUntil(ctx, due); err != nil {
			return err
		}
		r.latest = max(r.latest, time.Since(due))
		on := r.choose(request)
		if on.inFlight.Add(1) > mostInFlight {
			return store.Invalidf("%d requests wait for a device at %.3f s of the trace", mostInFlight, request.AtSeconds).
				WithHint("The device is too slow for the trace: thin the trace out, or take another device.")
		}
		r.pending.Go(func() { r.do(request, on, due) })
		if err := r.failed(); err != nil {
			return err
		}
	}
	return nil
}

func sleepUntil(ctx context.Context, due time.Time) error {
	wait := time.Until(due)
	if wait <= 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}

// choose gives a large write to a slow device that has nothing to do.
func (r *replay) choose(request redirection.Request) *device {
	settings := r.plan.Settings
	if settings == nil || request.IsRead {
		return r.fast
	}
	r.lostRatio = settings.LostRatio(r.lostRatio, int(r.fast.inFlight.Load()))
	if !settings.IsLarge(request.Bytes, r.lostRatio) {
		return r.fast
	}
	for _, slow := range r.slow {
		if slow.inFlight.Load() == 0 {
			return slow
		}
	}
	return r.fast
}

func (r *replay) do(request redirection.Request, on *device, due time.Time) {
	bytes := rounded(request.Bytes)
	var err error
	if request.IsRead {
		err = readOnce(on, bytes)
	} else {
		err = on.write(bytes)
	}
	on.inFlight.Add(-1)
	r.note(request, on, int64(bytes), time.Since(due), err)
}

func readOnce(on *device, bytes int) error {
	into, err := aligned(bytes)
	if err != nil {
		return err
	}
	defer release(into)
	return on.read(into)
}

func (r *replay) note(request redirection.Request, on *device, bytes int64, took time.Duration, err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	switch {
	case err != nil:
		r.failure = errors.Join(r.failure, fmt.Errorf("a request of %d bytes: %w", bytes, err))
	case request.IsRead:
		r.reads++
	case on == r.fast:
		r.fastSeconds, r.fastBytes = append(r.fastSeconds, took.Seconds()), r.fastBytes+bytes
		r.back.add(bytes)
	default:
		r.slowSeconds, r.slowBytes = append(r.slowSeconds, took.Seconds()), r.slowBytes+bytes
	}
}

func (r *replay) failed() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.failure
}
