/*-------------------------------------------------------------------------
 *
 * statement_latency_report.c
 *	  SQL functions that read the latency of client statements.
 *
 * A percentile is by nearest rank: of n durations in ascending order, p99 is
 * the one at rank ceil(0.99 n), and what is shown is the longest duration that
 * its bucket can hold.  So it is never too low, and too high by 3.1% at most.
 * The maximum is exact up to the range of the buckets, and no percentile is
 * shown above it.  The mean takes each duration for the middle of its bucket.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "interval_us.h"
#include "statement_latency_store.h"

PG_FUNCTION_INFO_V1(statement_latency_intervals);
PG_FUNCTION_INFO_V1(statement_latency_summary);
PG_FUNCTION_INFO_V1(statement_latency_buckets);

static const char *const class_names[LATENCY_CLASSES] = {
	[LATENCY_READ] = "read",
	[LATENCY_WRITE] = "write",
};

/* Closed intervals, from first on */
typedef struct IntervalRange
{
	uint64		first;
	int			count;
} IntervalRange;

static void
check_store(void)
{
	if (latency_store_attached())
		return;

	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("statement latency is not being measured"),
			 errhint("Add \"sluice\" to \"shared_preload_libraries\" and restart the server.")));
}

static void
check_not_null(FunctionCallInfo fcinfo, const char *argument)
{
	if (!PG_ARGISNULL(0))
		return;

	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("argument \"%s\" must not be null", argument),
			 errhint("Leave it out for the default.")));
}

/* The newest closed intervals, but none from before the server's start. */
static IntervalRange
newest_intervals(int count)
{
	uint64		open = latency_store_interval_at(GetCurrentTimestamp());
	uint64		oldest = latency_store_first_interval();
	IntervalRange range;

	range.count = open > oldest ? (int) Min(open - oldest, (uint64) count) : 0;
	range.first = open - range.count;

	return range;
}

/* The intervals that a time span reaches back to, rounded up to whole ones. */
static IntervalRange
intervals_of_lookback(FunctionCallInfo fcinfo)
{
	int64		length = (int64) statement_latency_interval_ms * 1000;
	int64		lookback;

	check_store();
	check_not_null(fcinfo, "lookback");

	if (!interval_to_us(PG_GETARG_INTERVAL_P(0), &lookback) || lookback <= 0 ||
		lookback > LATENCY_READABLE_INTERVALS * length)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"lookback\" must be greater than 0 and at most %g seconds",
						LATENCY_READABLE_INTERVALS * length / 1e6),
				 errhint("The last %d intervals of \"sluice.statement_latency_interval\" are kept; a longer interval reaches further back.",
						 LATENCY_READABLE_INTERVALS)));

	return newest_intervals((int) ((lookback + length - 1) / length));
}

static void
read_intervals(IntervalRange range, LatencyClass class,
			   LatencyHistogram *histogram)
{
	memset(histogram, 0, sizeof(LatencyHistogram));
	for (int i = 0; i < range.count; i++)
		latency_store_add_interval(range.first + i, class, histogram);
}

static uint64
total_count(const LatencyHistogram *histogram)
{
	uint64		count = 0;

	for (int bucket = 0; bucket < LATENCY_BUCKETS; bucket++)
		count += histogram->counts[bucket];

	return count;
}

static double
seconds(double microseconds)
{
	return microseconds / USECS_PER_SEC;
}

static double
mean_seconds(const LatencyHistogram *histogram, uint64 count)
{
	double		sum = 0;

	for (int bucket = 0; bucket < LATENCY_BUCKETS; bucket++)
	{
		uint64		shortest = latency_bucket_lower(bucket);
		uint64		longest = latency_bucket_upper(bucket) - 1;

		sum += histogram->counts[bucket] * ((shortest + longest) / 2.0);
	}

	return Min(seconds(sum / count), seconds(histogram->max_microseconds));
}

static double
percentile_seconds(const LatencyHistogram *histogram, uint64 count,
				   int per_mille)
{
	uint64		rank = (count * per_mille + 999) / 1000;
	uint64		seen = 0;

	for (int bucket = 0; bucket < LATENCY_BUCKETS; bucket++)
	{
		seen += histogram->counts[bucket];
		if (seen >= rank)
			return seconds(Min(latency_bucket_upper(bucket) - 1,
							   histogram->max_microseconds));
	}

	return seconds(histogram->max_microseconds);
}

/*
 * Fill in count, errors, mean, p50, p99, p99.9 and maximum; without any
 * statement the latencies are null.
 */
#define STATISTICS_COLUMNS 7

static void
fill_statistics(const LatencyHistogram *histogram, Datum *values, bool *nulls)
{
	uint64		count = total_count(histogram);

	values[0] = Int64GetDatum(count);
	values[1] = Int64GetDatum(histogram->errors);
	if (count == 0)
	{
		memset(&nulls[2], true, STATISTICS_COLUMNS - 2);
		return;
	}

	values[2] = Float8GetDatum(mean_seconds(histogram, count));
	values[3] = Float8GetDatum(percentile_seconds(histogram, count, 500));
	values[4] = Float8GetDatum(percentile_seconds(histogram, count, 990));
	values[5] = Float8GetDatum(percentile_seconds(histogram, count, 999));
	values[6] = Float8GetDatum(seconds(histogram->max_microseconds));
}

/* statement_latency_intervals(intervals integer), oldest first */
Datum
statement_latency_intervals(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	IntervalRange range;
	int			intervals;

	check_store();
	check_not_null(fcinfo, "intervals");
	intervals = PG_GETARG_INT32(0);
	if (intervals < 1 || intervals > LATENCY_READABLE_INTERVALS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"intervals\" must be between 1 and %d",
						LATENCY_READABLE_INTERVALS),
				 errhint("A longer \"sluice.statement_latency_interval\" reaches further back.")));

	InitMaterializedSRF(fcinfo, 0);
	range = newest_intervals(intervals);

	for (int i = 0; i < range.count; i++)
	{
		IntervalRange one = {range.first + i, 1};

		for (int class = 0; class < LATENCY_CLASSES; class++)
		{
			LatencyHistogram histogram;
			Datum		values[2 + STATISTICS_COLUMNS];
			bool		nulls[2 + STATISTICS_COLUMNS] = {0};

			read_intervals(one, class, &histogram);
			values[0] = TimestampTzGetDatum(latency_store_interval_start(one.first));
			values[1] = CStringGetTextDatum(class_names[class]);
			fill_statistics(&histogram, &values[2], &nulls[2]);
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		}
	}

	return (Datum) 0;
}

/* statement_latency_summary(lookback interval), a row for each class */
Datum
statement_latency_summary(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	IntervalRange range = intervals_of_lookback(fcinfo);
	double		covered_seconds = range.count * statement_latency_interval_ms / 1e3;

	InitMaterializedSRF(fcinfo, 0);

	for (int class = 0; class < LATENCY_CLASSES; class++)
	{
		LatencyHistogram histogram;
		Datum		values[2 + STATISTICS_COLUMNS];
		bool		nulls[2 + STATISTICS_COLUMNS] = {0};

		read_intervals(range, class, &histogram);
		values[0] = CStringGetTextDatum(class_names[class]);
		values[1] = Float8GetDatum(covered_seconds);
		fill_statistics(&histogram, &values[2], &nulls[2]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}

	return (Datum) 0;
}

/* statement_latency_buckets(lookback interval), buckets that are not empty */
Datum
statement_latency_buckets(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	IntervalRange range = intervals_of_lookback(fcinfo);

	InitMaterializedSRF(fcinfo, 0);

	for (int class = 0; class < LATENCY_CLASSES; class++)
	{
		LatencyHistogram histogram;

		read_intervals(range, class, &histogram);
		for (int bucket = 0; bucket < LATENCY_BUCKETS; bucket++)
		{
			Datum		values[4];
			bool		nulls[4] = {0};

			if (histogram.counts[bucket] == 0)
				continue;
			values[0] = CStringGetTextDatum(class_names[class]);
			values[1] = Float8GetDatum(seconds(latency_bucket_lower(bucket)));
			values[2] = Float8GetDatum(seconds(latency_bucket_upper(bucket)));
			values[3] = Int64GetDatum(histogram.counts[bucket]);
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		}
	}

	return (Datum) 0;
}
