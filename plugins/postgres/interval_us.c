/*-------------------------------------------------------------------------
 *
 * interval_us.c
 *	  Length of an interval in microseconds.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/int.h"

#include "interval_us.h"

/*
 * A month counts as 30 days and a day as 24 hours, as in comparisons of
 * intervals.  Returns false, with nothing in *us, if the length is out of
 * range, which that of an infinite interval is.
 */
bool
interval_to_us(const Interval *interval, int64 *us)
{
	int64		days = (int64) interval->month * DAYS_PER_MONTH + interval->day;
	int64		days_us;

	return !pg_mul_s64_overflow(days, USECS_PER_DAY, &days_us) &&
		!pg_add_s64_overflow(days_us, interval->time, us);
}
