package redirection

import (
	"math"
	"slices"
)

// Device is a model of a device: it does one write at a time, in FixedSeconds and its bytes at a rate.
type Device struct {
	FixedSeconds   float64 `json:"fixed_seconds"`
	BytesPerSecond float64 `json:"bytes_per_second"`
}

func (d Device) seconds(bytes float64) float64 {
	return d.FixedSeconds + bytes/d.BytesPerSecond
}

// Settings are L, S_max and p of the algorithm.
type Settings struct {
	QueueRequests float64 `json:"redirect_queue_requests"`
	SizeBytes     float64 `json:"redirect_size_bytes"`
	StepRatio     float64 `json:"redirect_step_ratio"`
}

// Outcome is what a replay came to.
type Outcome struct {
	FastP99Seconds  float64 `json:"fast_p99_seconds"`
	FastMeanSeconds float64 `json:"fast_mean_seconds"`
	SlowP99Seconds  float64 `json:"slow_p99_seconds"`
	// RedirectedShare is that of the writes, RedirectedBytesShare that of their bytes.
	RedirectedShare      float64 `json:"redirected_share"`
	RedirectedBytesShare float64 `json:"redirected_bytes_share"`
}

// server does what it is given in turn, and knows when each is done.
type server struct {
	device    Device
	done      []float64
	latencies []float64
}

// waiting is how many writes are not done at a time; times do not go back.
func (s *server) waiting(at float64) int {
	for len(s.done) > 0 && s.done[0] <= at {
		s.done = s.done[1:]
	}
	return len(s.done)
}

func (s *server) do(write Write) {
	start := write.AtSeconds
	if len(s.done) > 0 {
		start = max(start, s.done[len(s.done)-1])
	}
	end := start + s.device.seconds(write.Bytes)
	s.done = append(s.done, end)
	s.latencies = append(s.latencies, end-write.AtSeconds)
}

// Replay gives the writes of a trace to the model of both devices; without settings all go to the fast one.
func Replay(trace []Write, fast, slow Device, settings *Settings) Outcome {
	fastServer, slowServer := server{device: fast}, server{device: slow}
	lostRatio, bytes, redirectedBytes := 0.0, 0.0, 0.0
	for _, write := range trace {
		bytes += write.Bytes
		waiting, isSlowIdle := fastServer.waiting(write.AtSeconds), slowServer.waiting(write.AtSeconds) == 0
		if settings != nil {
			lostRatio = settings.LostRatio(lostRatio, waiting)
		}
		if settings != nil && isSlowIdle && settings.IsLarge(write.Bytes, lostRatio) {
			redirectedBytes += write.Bytes
			slowServer.do(write)
			continue
		}
		fastServer.do(write)
	}
	return Outcome{
		FastP99Seconds:       Quantile(fastServer.latencies, 0.99),
		FastMeanSeconds:      Mean(fastServer.latencies),
		SlowP99Seconds:       Quantile(slowServer.latencies, 0.99),
		RedirectedShare:      float64(len(slowServer.latencies)) / float64(len(trace)),
		RedirectedBytesShare: Share(redirectedBytes, bytes),
	}
}

// IsLarge says whether a write is above the threshold, which has lost a part of S_max.
func (s Settings) IsLarge(bytes, lostRatio float64) bool {
	return bytes > s.SizeBytes*(1-lostRatio)
}

// LostRatio is the part of S_max that the threshold has lost after a look at the queue.
func (s Settings) LostRatio(before float64, waiting int) float64 {
	switch {
	case waiting == 0:
		return 0
	case float64(waiting) > s.QueueRequests:
		return min(1, before+s.StepRatio)
	default:
		return before
	}
}

// Share is 0 of nothing.
func Share(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}

// Mean is 0 of none.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, value := range values {
		sum += value
	}
	return Share(sum, float64(len(values)))
}

// rankTolerance keeps a product that is whole but for its rounding from counting as one more.
const rankTolerance = 1e-9

// Quantile is the least value that a share of the values does not exceed; 0 of none.
func Quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(share*float64(len(sorted)) - rankTolerance))
	return sorted[max(0, rank-1)]
}
