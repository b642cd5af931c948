package servicelevel

import "math"

// Costs are those of a store's requests on the nodes of a cluster, all of them alike.
type Costs struct {
	// ReadSeconds is how long a device takes for the read that a miss leads to, with nothing else to do:
	// sluice calibrate reads measures it.
	ReadSeconds float64
	// ParallelReads is how many of them a device does at a time.
	ParallelReads float64
	// HitSeconds is what a request takes beside the device.
	HitSeconds float64
	// MostUtilisation is the share of a device's time that may be promised, below 1: what it is planned with.
	MostUtilisation float64
}

// Response is what a target's statistic comes to in the model, in seconds, where a share of the reads misses the cache
// and the device is in use for a share of its time. A miss takes the time of a queue M/M/1, exponential with the mean
// ReadSeconds / (1 - utilisation) (Kleinrock, Queueing Systems I, section 3.2); a hit takes none of it.
func (c Costs) Response(statistic Statistic, missShare, utilisation float64) float64 {
	if utilisation >= 1 {
		return math.Inf(1)
	}
	mean := c.ReadSeconds / (1 - utilisation)
	quantile, isQuantile := statistic.Quantile()
	if !isQuantile {
		return c.HitSeconds + missShare*mean
	}
	if missShare <= 1-quantile {
		return c.HitSeconds
	}
	return c.HitSeconds + mean*math.Log(missShare/(1-quantile))
}

// MostMisses is the largest share of misses with which a target is held at a utilisation; negative if none is small
// enough.
func (c Costs) MostMisses(target Target, utilisation float64) float64 {
	room := target.Seconds - c.HitSeconds
	if room < 0 {
		return -1
	}
	mean := c.ReadSeconds / (1 - utilisation)
	quantile, isQuantile := target.Statistic.Quantile()
	if !isQuantile {
		return min(1, room/mean)
	}
	return min(1, (1-quantile)*math.Exp(min(room/mean, math.MaxInt16)))
}
