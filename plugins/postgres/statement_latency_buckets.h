/*-------------------------------------------------------------------------
 *
 * statement_latency_buckets.h
 *	  Log-linear buckets for durations of 1 us .. 2^32 us (71.6 minutes).
 *
 * Free of server headers, so that a plain program can test the arithmetic.
 *
 * Durations are whole microseconds.  Up to 2 * SUB_BUCKETS us each has a bucket
 * of its own; from there on, every power of two is cut into SUB_BUCKETS buckets
 * of equal width, so the width is at most 1/SUB_BUCKETS (3.1%) of the lower
 * bound.  Longer durations fall into the last bucket.
 *
 *-------------------------------------------------------------------------
 */
#ifndef STATEMENT_LATENCY_BUCKETS_H
#define STATEMENT_LATENCY_BUCKETS_H

#include <stdint.h>

#define LATENCY_SUB_BUCKET_BITS		5
#define LATENCY_SUB_BUCKETS			(1 << LATENCY_SUB_BUCKET_BITS)
#define LATENCY_RANGE_BITS			32
#define LATENCY_MAX_MICROSECONDS	UINT32_MAX

/*
 * Number of buckets: the linear part is as long as two powers of two of the
 * logarithmic part.
 */
#define LATENCY_BUCKETS \
	((LATENCY_RANGE_BITS - LATENCY_SUB_BUCKET_BITS + 1) * LATENCY_SUB_BUCKETS)

/*
 * The bucket that holds a duration.
 *
 * Shifting away all but the SUB_BUCKET_BITS + 1 leading bits leaves a number in
 * SUB_BUCKETS .. 2 * SUB_BUCKETS - 1; adding SUB_BUCKETS for each bit shifted
 * makes the index continuous over the powers of two and the linear part.
 */
static inline int
latency_bucket(uint64_t microseconds)
{
	uint32_t	duration = LATENCY_MAX_MICROSECONDS;
	int			shift;

	if (microseconds < LATENCY_MAX_MICROSECONDS)
		duration = (uint32_t) microseconds;

	if (duration < 2 * LATENCY_SUB_BUCKETS)
		return (int) duration;

	/* position of the leading one, less the bits that are kept below it */
	shift = 31 - __builtin_clz(duration) - LATENCY_SUB_BUCKET_BITS;

	return shift * LATENCY_SUB_BUCKETS + (int) (duration >> shift);
}

/* The shortest duration, in microseconds, that falls into a bucket. */
static inline uint64_t
latency_bucket_lower(int bucket)
{
	int			shift;

	if (bucket < 2 * LATENCY_SUB_BUCKETS)
		return (uint64_t) bucket;

	shift = bucket / LATENCY_SUB_BUCKETS - 1;

	return (uint64_t) (bucket - shift * LATENCY_SUB_BUCKETS) << shift;
}

/* The shortest duration, in microseconds, that is too long for a bucket. */
static inline uint64_t
latency_bucket_upper(int bucket)
{
	return latency_bucket_lower(bucket + 1);
}

#endif							/* STATEMENT_LATENCY_BUCKETS_H */
