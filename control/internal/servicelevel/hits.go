package servicelevel

import "math"

// ZipfianConstant is that of YCSB.
const ZipfianConstant = 0.99

// exactRanks is up to which rank harmonic numbers are added up; beyond it they follow from Euler's and Maclaurin's
// formula, whose error there is below one part in 1e12.
const exactRanks = 1000

// harmonics are the generalised harmonic numbers of ranks 0 to exactRanks.
var harmonics = func() [exactRanks + 1]float64 {
	var sums [exactRanks + 1]float64
	for rank := 1; rank <= exactRanks; rank++ {
		sums[rank] = sums[rank-1] + math.Pow(float64(rank), -ZipfianConstant)
	}
	return sums
}()

// harmonic is the generalised harmonic number of a count of rows, the sum of 1/r^0.99 over their ranks r. Between two
// whole counts it is a straight line.
func harmonic(rows float64) float64 {
	if rows <= 0 {
		return 0
	}
	if rows < exactRanks {
		whole := math.Floor(rows)
		below, above := harmonics[int(whole)], harmonics[int(whole)+1]
		return below + (rows-whole)*(above-below)
	}
	const theta, first = ZipfianConstant, float64(exactRanks)
	return harmonics[exactRanks] +
		(math.Pow(rows, 1-theta)-math.Pow(first, 1-theta))/(1-theta) +
		(math.Pow(rows, -theta)-math.Pow(first, -theta))/2 +
		theta*(math.Pow(first, -theta-1)-math.Pow(rows, -theta-1))/12
}

// HitShare is the share of reads that a cache of a size answers, 0 to 1, if it holds the rows that are read most:
// of random reads cache / data, of zipfian ones H(rows in the cache) / H(rows), with H the generalised harmonic
// number. It rests on rows that are cached one by one, and is too high where a cache holds blocks of many rows.
func (p Profile) HitShare(cacheBytes float64) float64 {
	switch {
	case cacheBytes <= 0:
		return 0
	case cacheBytes >= p.DataBytes:
		return 1
	case p.Locality == Zipfian:
		return min(1, harmonic(cacheBytes/p.RowBytes)/harmonic(p.DataBytes/p.RowBytes))
	default:
		return cacheBytes / p.DataBytes
	}
}

// LikelyLocality is the locality whose model is nearer to a hit share that a cache of a size was measured to have.
func (p Profile) LikelyLocality(cacheBytes, measuredHitShare float64) Locality {
	random, zipfian := p, p
	random.Locality, zipfian.Locality = Random, Zipfian
	if math.Abs(random.HitShare(cacheBytes)-measuredHitShare) < math.Abs(zipfian.HitShare(cacheBytes)-measuredHitShare) {
		return Random
	}
	return Zipfian
}
