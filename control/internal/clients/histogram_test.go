package clients

import (
	"math/bits"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// bucketOf is the bucket of a request that took so long, as clients work it out.
func bucketOf(took time.Duration) int {
	microseconds := uint64(max(0, took.Microseconds()))
	if microseconds < 2*subBuckets {
		return int(microseconds)
	}
	exponent := bits.Len64(microseconds) - bits.Len64(2*subBuckets-1)
	return min(bucketCount-1, subBuckets*exponent+int(microseconds>>exponent))
}

// A request is in the bucket that it is below the end of, and not below the end of the one before.
func TestBucketsHoldWhatTheySay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		took := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "took"))
		bucket := bucketOf(took)
		if end := bucketEnd(bucket); took >= end {
			t.Errorf("%v is in bucket %d, which ends at %v", took, bucket, end)
		}
		if bucket > 0 && took < bucketEnd(bucket-1) {
			t.Errorf("%v is in bucket %d, but the one before ends at %v", took, bucket, bucketEnd(bucket-1))
		}
	})
	if is := bucketOf(100 * time.Hour); is != bucketCount-1 {
		t.Errorf("what is longer than all buckets is in bucket %d", is)
	}
}

func TestEndsOfHistogramsForPrometheusAreEndsOfBuckets(t *testing.T) {
	for i := range boundsCount {
		bound := leastBound << i
		if end := bucketEnd(bucketOf(bound) - 1); end != bound {
			t.Errorf("a bucket ends at %v, not at %v", end, bound)
		}
	}
}

// requestsOf are those that took so long.
func requestsOf(class, scope string, times ...time.Duration) Requests {
	told := Requests{Class: class, Scope: scope}
	counts := map[int]uint64{}
	for _, took := range times {
		counts[bucketOf(took)]++
		told.SumSeconds += took.Seconds()
		told.MaxSeconds = max(told.MaxSeconds, took.Seconds())
	}
	for bucket, count := range counts {
		told.Buckets = append(told.Buckets, [2]uint64{uint64(bucket), count})
	}
	return told
}

// Percentiles of what several clients tell are those of all requests, too high by a 32nd at most.
func TestHistogramsOfSeveralClientsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Int64Range(64, int64(time.Minute/time.Microsecond)), 1, 200).Draw(t, "microseconds")
		merged := newHistogram()
		var slowest time.Duration
		for _, microseconds := range all {
			took := time.Duration(microseconds) * time.Microsecond
			merged.add(requestsOf("read", "", took))
			slowest = max(slowest, took)
		}
		if merged.count != uint64(len(all)) || merged.max != slowest {
			t.Fatalf("%d requests, the longest %v, of %d, %v", merged.count, merged.max, len(all), slowest)
		}
		for _, share := range []float64{0.5, 0.99} {
			got, below, far := merged.quantiles(share)[0], 0, 0
			for _, microseconds := range all {
				took := time.Duration(microseconds) * time.Microsecond
				if took <= got {
					below++
				}
				if took+took/subBuckets+time.Microsecond < got {
					far++
				}
			}
			if float64(below) < share*float64(len(all)) {
				t.Errorf("%d of %d requests are within the quantile %v, %v", below, len(all), share, got)
			}
			if float64(far) >= share*float64(len(all)) {
				t.Errorf("%d of %d requests are far below the quantile %v, %v", far, len(all), share, got)
			}
		}
	})
}

func TestAnEmptyHistogramIsZero(t *testing.T) {
	empty := newHistogram()
	if latency := empty.latency("read", time.Second); latency.Mean+latency.P50+latency.P999+latency.Max != 0 || latency.Count != 0 {
		t.Errorf("it is %+v", latency)
	}
}
