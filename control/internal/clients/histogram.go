package clients

import (
	"math"
	"slices"
	"time"
)

// A bucket is as wide as a 32nd of its lower bound at most, or as a microsecond: a percentile is too high by so much.
const (
	subBuckets  = 32
	bucketCount = 896
)

// bucketEnd is the time that all requests of a bucket are below.
func bucketEnd(bucket int) time.Duration {
	if bucket < 2*subBuckets {
		return time.Duration(bucket+1) * time.Microsecond
	}
	exponent, mantissa := bucket/subBuckets-1, bucket%subBuckets+subBuckets
	return time.Duration(mantissa+1) << exponent * time.Microsecond
}

// histogram adds up what clients have told of requests.
type histogram struct {
	counts        map[int]uint64
	count, errors uint64
	sumSeconds    float64
	max           time.Duration
}

func newHistogram() *histogram { return &histogram{counts: make(map[int]uint64)} }

func (h *histogram) add(told Requests) {
	for _, bucket := range told.Buckets {
		h.counts[int(bucket[0])] += bucket[1]
		h.count += bucket[1]
	}
	h.errors += told.Errors
	h.sumSeconds += told.SumSeconds
	h.max = max(h.max, seconds(told.MaxSeconds))
}

func (h *histogram) mean() time.Duration {
	if h.count == 0 {
		return 0
	}
	return seconds(min(h.max.Seconds(), h.sumSeconds/float64(h.count)))
}

// quantiles are the ends of the buckets in which these shares of the requests are reached, which must ascend.
func (h *histogram) quantiles(shares ...float64) []time.Duration {
	found := make([]time.Duration, len(shares))
	buckets := make([]int, 0, len(h.counts))
	for bucket := range h.counts {
		buckets = append(buckets, bucket)
	}
	slices.Sort(buckets)
	reached, next := uint64(0), 0
	for _, bucket := range buckets {
		reached += h.counts[bucket]
		for next < len(shares) && float64(reached) >= shares[next]*float64(h.count) {
			found[next] = min(h.max, bucketEnd(bucket))
			next++
		}
	}
	return found
}

// below is how many requests took less than a power of two of microseconds, at which a bucket ends.
func (h *histogram) below(end time.Duration) (count uint64) {
	for bucket, requests := range h.counts {
		if bucketEnd(bucket) <= end {
			count += requests
		}
	}
	return count
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }
