package servicelevel

import (
	"math"
	"time"

	"sluice.dev/control/internal/store"
)

const (
	// bucketGrowth is the ratio of two bounds: a percentile is too high by so much at most.
	bucketGrowth = 1.05
	// leastBucket and bucketCount reach from 10 us to 20 minutes.
	leastBucketSeconds = 1e-5
	bucketCount        = 382
)

// histogram adds up intervals of several nodes. An interval tells its percentiles and no more, so that each part of
// its requests is counted at the upper end of its range: a percentile is never too low.
type histogram struct {
	counts [bucketCount]float64
	total  float64
}

func (h *histogram) add(latency store.Latency) {
	for _, part := range []struct {
		share float64
		most  time.Duration
	}{{0.5, latency.P50}, {0.49, latency.P99}, {0.009, latency.P999}, {0.001, latency.Max}} {
		h.counts[bucketOf(part.most.Seconds())] += part.share * float64(latency.Count)
	}
	h.total += float64(latency.Count)
}

func bucketOf(seconds float64) int {
	if seconds <= leastBucketSeconds {
		return 0
	}
	return min(bucketCount-1, int(math.Ceil(math.Log(seconds/leastBucketSeconds)/math.Log(bucketGrowth))))
}

// quantile is the upper bound of the bucket in which a share of the requests is reached, in seconds.
func (h *histogram) quantile(share float64) float64 {
	// Sums of shares are short of the whole by what a float cannot hold.
	const tolerance = 1e-9
	reached := 0.0
	for bucket, count := range h.counts {
		reached += count
		if reached >= h.total*(share-tolerance) {
			return leastBucketSeconds * math.Pow(bucketGrowth, float64(bucket))
		}
	}
	return leastBucketSeconds * math.Pow(bucketGrowth, bucketCount-1)
}
