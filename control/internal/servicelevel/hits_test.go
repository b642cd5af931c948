package servicelevel

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestHarmonicNumbers compares the formula with sums.
func TestHarmonicNumbers(t *testing.T) {
	sum := 0.0
	for rank := 1; rank <= 200_000; rank++ {
		sum += math.Pow(float64(rank), -ZipfianConstant)
		if rank%997 != 0 && rank > 3 {
			continue
		}
		if got := harmonic(float64(rank)); math.Abs(got-sum) > 1e-9*sum {
			t.Fatalf("the harmonic number of %d rows is %v, want %v", rank, got, sum)
		}
	}
}

func TestHitShares(t *testing.T) {
	published := Profile{DataBytes: 10e9, RowBytes: 1000, Locality: Zipfian}
	random := Profile{DataBytes: 10e9, RowBytes: 1000, Locality: Random}
	for _, test := range []struct {
		profile Profile
		cache   float64
		want    float64
	}{
		{random, 0, 0}, {random, 1e9, 0.1}, {random, 10e9, 1}, {random, 11e9, 1},
		{published, 0, 0}, {published, 0.5e9, 0.8077}, {published, 1e9, 0.8517}, {published, 5e9, 0.9553}, {published, 10e9, 1},
	} {
		if got := test.profile.HitShare(test.cache); math.Abs(got-test.want) > 5e-4 {
			t.Errorf("%s, %v bytes of cache: hits are %v, want %v", test.profile.Locality, test.cache, got, test.want)
		}
	}
	if got := published.LikelyLocality(0.5e9, 0.06); got != Random {
		t.Errorf("6%% hits are taken for %s", got)
	}
	if got := random.LikelyLocality(0.5e9, 0.7); got != Zipfian {
		t.Errorf("70%% hits are taken for %s", got)
	}
}

// More cache never has fewer hits, and each step gains no more than the one before: what the plan rests on.
func TestHitSharesRiseAndAreConcave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		profile := profiles().Draw(t, "profile")
		step := profile.DataBytes / rapid.Float64Range(1.5, 500).Draw(t, "steps")
		last, gained := 0.0, math.Inf(1)
		for cached := step; cached < profile.DataBytes+2*step; cached += step {
			hits := profile.HitShare(cached)
			gain := hits - last
			if gain < 0 || gain > gained+1e-9 || hits > 1 {
				t.Fatalf("%v bytes have %v hits, %v more; the step before gained %v", cached, hits, gain, gained)
			}
			last, gained = hits, gain
		}
	})
}

func profiles() *rapid.Generator[Profile] {
	return rapid.Custom(func(t *rapid.T) Profile {
		row := rapid.Float64Range(1, 1e5).Draw(t, "row_bytes")
		return Profile{
			RowBytes: row, DataBytes: row * rapid.Float64Range(1, 1e8).Draw(t, "rows"),
			Locality:  rapid.SampledFrom([]Locality{Random, Zipfian}).Draw(t, "locality"),
			ReadShare: rapid.Float64Range(0.01, 1).Draw(t, "read_share"),
		}
	})
}

func TestResponse(t *testing.T) {
	costs := Costs{ReadSeconds: 0.005, ParallelReads: 1, HitSeconds: 0.001, MostUtilisation: 0.5}
	for _, test := range []struct {
		statistic Statistic
		misses    float64
		busy      float64
		want      float64
	}{
		{Mean, 0, 0.5, 0.001}, {Mean, 1, 0.5, 0.011}, {Mean, 0.5, 0.75, 0.011}, {Mean, 0.5, 1, math.Inf(1)},
		{P99, 0.01, 0.5, 0.001}, {P99, 0.01 * math.E, 0.5, 0.011}, {P50, 0.4, 0.9, 0.001}, {P999, math.E * 0.001, 0, 0.006},
	} {
		if got := costs.Response(test.statistic, test.misses, test.busy); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%s with %v misses at %v: %v, want %v", test.statistic, test.misses, test.busy, got, test.want)
		}
	}
}

func TestMostMissesIsTheInverseOfTheResponse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		costs := costsOf().Draw(t, "costs")
		target := Target{
			Statistic: rapid.SampledFrom([]Statistic{Mean, P50, P99, P999}).Draw(t, "statistic"),
			Seconds:   rapid.Float64Range(1e-4, 1).Draw(t, "seconds"),
		}
		misses := costs.MostMisses(target, costs.MostUtilisation)
		switch {
		case misses < 0:
			if target.Seconds >= costs.HitSeconds {
				t.Fatalf("%v has no solution, though a hit takes %v", target, costs.HitSeconds)
			}
		case costs.Response(target.Statistic, misses, costs.MostUtilisation) > target.Seconds*(1+1e-9):
			t.Fatalf("with %v misses the response is above %v", misses, target)
		case misses < 1 && costs.Response(target.Statistic, misses*1.01, costs.MostUtilisation) < target.Seconds*(1-1e-9):
			t.Fatalf("%v is reached with more misses than %v", target, misses)
		}
	})
}

func costsOf() *rapid.Generator[Costs] {
	return rapid.Custom(func(t *rapid.T) Costs {
		return Costs{
			ReadSeconds: rapid.Float64Range(1e-4, 0.02).Draw(t, "read_seconds"), ParallelReads: rapid.Float64Range(1, 64).Draw(t, "parallel_reads"),
			HitSeconds: rapid.Float64Range(1e-5, 5e-3).Draw(t, "hit_seconds"), MostUtilisation: rapid.Float64Range(0.1, 0.9).Draw(t, "most_utilisation"),
		}
	})
}
