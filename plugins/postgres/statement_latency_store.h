/*-------------------------------------------------------------------------
 *
 * statement_latency_store.h
 *	  Shared-memory ring of latency histograms, one for each interval.
 *
 *-------------------------------------------------------------------------
 */
#ifndef STATEMENT_LATENCY_STORE_H
#define STATEMENT_LATENCY_STORE_H

#include "datatype/timestamp.h"

#include "statement_latency_buckets.h"

typedef enum LatencyClass
{
	LATENCY_READ,
	LATENCY_WRITE,
} LatencyClass;

#define LATENCY_CLASSES (LATENCY_WRITE + 1)

/*
 * Closed intervals that can be read.  The ring is longer: the slot of the open
 * interval, and some that are about to be taken while a reader is at work.
 */
#define LATENCY_READABLE_INTERVALS 60

/* Histogram of one class, of one or several intervals. */
typedef struct LatencyHistogram
{
	uint64		errors;
	uint64		max_microseconds;
	uint64		counts[LATENCY_BUCKETS];
} LatencyHistogram;

/* Settings */
extern PGDLLIMPORT bool statement_latency_enabled;
extern PGDLLIMPORT int statement_latency_interval_ms;

/* Is the shared memory there, i.e. was the library preloaded? */
extern bool latency_store_attached(void);

/* Recording: neither lock, nor allocate, nor raise errors. */
extern void latency_store_record(LatencyClass class, TimestampTz start,
								 TimestampTz end);
extern void latency_store_count_error(LatencyClass class, TimestampTz when);

/* Reading */
extern uint64 latency_store_interval_at(TimestampTz when);
extern uint64 latency_store_first_interval(void);
extern TimestampTz latency_store_interval_start(uint64 interval);
extern void latency_store_add_interval(uint64 interval, LatencyClass class,
									   LatencyHistogram *histogram);

#endif							/* STATEMENT_LATENCY_STORE_H */
