/*-------------------------------------------------------------------------
 *
 * statement_latency_buckets_test.c
 *	  Tests the arithmetic of the latency buckets.  Prints TAP.
 *
 *-------------------------------------------------------------------------
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../statement_latency_buckets.h"

static int	ntests = 0;
static bool all_ok = true;

static void
check(bool ok, const char *what)
{
	printf("%sok %d - %s\n", ok ? "" : "not ", ++ntests, what);
	all_ok = all_ok && ok;
}

/* The bucket found for a duration must be the one whose bounds hold it. */
static bool
is_held(uint64_t microseconds)
{
	int			bucket = latency_bucket(microseconds);

	return latency_bucket_lower(bucket) <= microseconds &&
		microseconds < latency_bucket_upper(bucket);
}

static bool
bounds_are_seamless(void)
{
	if (latency_bucket_lower(0) != 0)
		return false;
	for (int bucket = 1; bucket < LATENCY_BUCKETS; bucket++)
	{
		if (latency_bucket_lower(bucket) != latency_bucket_upper(bucket - 1) ||
			latency_bucket_lower(bucket) <= latency_bucket_lower(bucket - 1))
			return false;
	}
	return latency_bucket_upper(LATENCY_BUCKETS - 1) ==
		(uint64_t) LATENCY_MAX_MICROSECONDS + 1;
}

static bool
bounds_are_held(void)
{
	for (int bucket = 0; bucket < LATENCY_BUCKETS; bucket++)
	{
		uint64_t	lower = latency_bucket_lower(bucket);
		uint64_t	longest = latency_bucket_upper(bucket) - 1;

		if (latency_bucket(lower) != bucket || latency_bucket(longest) != bucket)
			return false;
	}
	return true;
}

static bool
short_durations_are_held(void)
{
	for (uint64_t microseconds = 0; microseconds < 10 * 1000 * 1000; microseconds++)
	{
		if (!is_held(microseconds))
			return false;
	}
	return true;
}

/* Steps of a prime visit all powers of two at varying distances. */
static bool
long_durations_are_held(void)
{
	for (uint64_t microseconds = 1; microseconds < LATENCY_MAX_MICROSECONDS;
		 microseconds += 9973)
	{
		if (!is_held(microseconds))
			return false;
	}
	return true;
}

static bool
relative_width_is_bounded(void)
{
	for (int bucket = 1; bucket < LATENCY_BUCKETS; bucket++)
	{
		uint64_t	lower = latency_bucket_lower(bucket);
		uint64_t	width = latency_bucket_upper(bucket) - lower;

		if (width != 1 && width * LATENCY_SUB_BUCKETS > lower)
			return false;
	}
	return true;
}

static bool
short_durations_are_exact(void)
{
	for (int microseconds = 0; microseconds < 2 * LATENCY_SUB_BUCKETS; microseconds++)
	{
		if (latency_bucket(microseconds) != microseconds)
			return false;
	}
	return latency_bucket(2 * LATENCY_SUB_BUCKETS) == 2 * LATENCY_SUB_BUCKETS &&
		latency_bucket(2 * LATENCY_SUB_BUCKETS + 1) == 2 * LATENCY_SUB_BUCKETS;
}

static bool
long_durations_saturate(void)
{
	int			last = LATENCY_BUCKETS - 1;

	return latency_bucket(LATENCY_MAX_MICROSECONDS - 1) == last &&
		latency_bucket(LATENCY_MAX_MICROSECONDS) == last &&
		latency_bucket((uint64_t) LATENCY_MAX_MICROSECONDS + 1) == last &&
		latency_bucket(UINT64_MAX) == last;
}

int
main(void)
{
	check(bounds_are_seamless(), "buckets rise from 0 to the range without gap or overlap");
	check(bounds_are_held(), "bounds fall into their bucket");
	check(short_durations_are_held(), "every duration up to 10 s falls between the bounds of its bucket");
	check(long_durations_are_held(), "durations up to the range fall between the bounds of their bucket");
	check(relative_width_is_bounded(), "buckets are 1 us wide, or 1/32 of their lower bound at most");
	check(short_durations_are_exact(), "durations up to 63 us have a bucket of their own");
	check(long_durations_saturate(), "longer durations fall into the last bucket");
	printf("1..%d\n", ntests);
	return all_ok ? 0 : 1;
}
