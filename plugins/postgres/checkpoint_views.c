/*-------------------------------------------------------------------------
 *
 * checkpoint_views.c
 *	  SQL functions under the views on leases and progress.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "checkpoint_progress.h"
#include "lease.h"
#include "pace_mode.h"
#include "redo_rate.h"
#include "wal_bound.h"

PG_FUNCTION_INFO_V1(sluice_leases);
PG_FUNCTION_INFO_V1(sluice_lease_ends);
PG_FUNCTION_INFO_V1(sluice_checkpoint_progress);

#define US_PER_S	1e6

#define LEASE_COLUMNS		11
#define LEASE_END_COLUMNS	2
#define PROGRESS_COLUMNS	23

/* A row under construction; columns are added in order. */
typedef struct RowBuilder
{
	int			ncolumns;
	Datum		values[PROGRESS_COLUMNS];
	bool		nulls[PROGRESS_COLUMNS];
} RowBuilder;

static const char *const phase_names[NUM_CHECKPOINT_PHASES] = {
	[PHASE_NONE] = "none",
	[PHASE_START] = "start",
	[PHASE_WRITE] = "write",
	[PHASE_SYNC] = "sync",
};

static void
add_datum(RowBuilder *row, Datum value, bool isnull)
{
	row->values[row->ncolumns] = value;
	row->nulls[row->ncolumns] = isnull;
	row->ncolumns++;
}

static void
add_text(RowBuilder *row, const char *value)
{
	add_datum(row, CStringGetTextDatum(value), false);
}

static void
add_int64(RowBuilder *row, int64 value, bool isnull)
{
	add_datum(row, Int64GetDatum(value), isnull);
}

static void
add_double(RowBuilder *row, double value, bool isnull)
{
	add_datum(row, Float8GetDatum(value), isnull);
}

static void
add_interval_us(RowBuilder *row, int64 us, bool isnull)
{
	Interval   *interval = palloc0(sizeof(Interval));

	interval->time = us;
	add_datum(row, IntervalPGetDatum(interval), isnull);
}

static void
add_lease(RowBuilder *row, LeaseKind kind, const Lease *lease, int64 now_us)
{
	const LeaseOrder *order = &lease->order;
	TimestampTz now = GetCurrentTimestamp();

	add_int64(row, lease->id, false);
	add_text(row, lease_kind_names[kind]);
	if (kind == LEASE_PACE)
		add_text(row, pace_mode_names[order->mode]);
	else
		add_datum(row, (Datum) 0, true);
	add_int64(row, order->rate_bytes_per_second, order->rate_bytes_per_second == 0);
	add_interval_us(row, order->duration_us, order->duration_us == 0);
	add_interval_us(row, order->sync_gap_us, order->sync_gap_us == 0);
	add_int64(row, order->wal_bytes, order->wal_bytes == 0);
	add_text(row, lease->owner);
	add_datum(row, TimestampTzGetDatum(now - (now_us - lease->granted_us)), false);
	add_datum(row, TimestampTzGetDatum(now + (lease->expires_us - now_us)), false);
	add_interval_us(row, lease->expires_us - now_us, false);
	Assert(row->ncolumns == LEASE_COLUMNS);
}

/* The live leases, one row each. */
Datum
sluice_leases(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	int64		now_us = monotonic_us();

	lease_require_attached();
	InitMaterializedSRF(fcinfo, 0);
	for (LeaseKind kind = 0; kind < NUM_LEASE_KINDS; kind++)
	{
		RowBuilder	row = {0};
		Lease		lease;

		if (!lease_current(kind, now_us, &lease))
			continue;
		add_lease(&row, kind, &lease, now_us);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, row.values, row.nulls);
	}
	return (Datum) 0;
}

/* How many leases have ended in each way since the server started. */
Datum
sluice_lease_ends(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	int64		ended[NUM_LEASE_ENDS];

	lease_require_attached();
	InitMaterializedSRF(fcinfo, 0);
	lease_count_ended(ended);
	for (LeaseEnd end = 0; end < NUM_LEASE_ENDS; end++)
	{
		RowBuilder	row = {0};

		add_text(&row, lease_end_names[end]);
		add_int64(&row, ended[end], false);
		Assert(row.ncolumns == LEASE_END_COLUMNS);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, row.values, row.nulls);
	}
	return (Datum) 0;
}

/* The end of a deferral is noted only when the next checkpoint is due. */
static bool
is_deferred(const CheckpointProgress *progress, int64 now_us)
{
	Lease		lease;

	return lease_current(LEASE_DEFERRAL, now_us, &lease) &&
		lease.id == progress->deferred_lease_id;
}

static const char *
state_name(const CheckpointProgress *progress, int64 now_us)
{
	if (progress->is_held)
		return "held";
	if (progress->phase != PHASE_NONE)
		return "running";
	return is_deferred(progress, now_us) ? "deferred" : "idle";
}

static void
add_work(RowBuilder *row, const CheckpointProgress *progress, int64 now_us)
{
	bool		idle = progress->phase == PHASE_NONE;
	bool		no_files = idle || progress->phase != PHASE_SYNC;
	int64		age_us = now_us - progress->start_us;

	add_text(row, state_name(progress, now_us));
	add_datum(row, CStringGetTextDatum(progress->is_restartpoint ? "restartpoint" : "checkpoint"), idle);
	add_text(row, phase_names[progress->phase]);
	add_datum(row, CStringGetTextDatum(pace_mode_names[progress->pace]), idle);
	add_datum(row, TimestampTzGetDatum(GetCurrentTimestamp() - age_us), idle);
	add_double(row, age_us / US_PER_S, idle);
	add_double(row, progress->throttled_us / US_PER_S, idle);
	add_int64(row, progress->buffers_done, idle);
	add_int64(row, progress->buffers_total, idle);
	add_int64(row, progress->bytes_written, idle);
	add_double(row, progress->rate_bytes_per_second, idle);
	add_int64(row, progress->files_done, no_files);
	add_int64(row, progress->files_total, no_files);
}

/* Time until the last buffer, at the rate of this checkpoint so far. */
static void
add_write_time_left(RowBuilder *row, const CheckpointProgress *progress, int64 now_us)
{
	double		per_buffer_s;

	if (progress->phase != PHASE_WRITE || progress->buffers_done == 0)
	{
		add_double(row, 0, true);
		return;
	}
	per_buffer_s = (now_us - progress->start_us) / US_PER_S / progress->buffers_done;
	add_double(row, per_buffer_s * (progress->buffers_total - progress->buffers_done), false);
}

static void
add_wal(RowBuilder *row)
{
	uint64		distance = wal_distance_bytes(checkpoint_progress_redo());
	uint64		bound = wal_bound_bytes();
	double		redo_rate = redo_rate_bytes_per_second();
	bool		unknown = redo_rate <= 0;

	add_int64(row, distance, false);
	add_int64(row, bound, false);
	add_int64(row, (int64) bound - (int64) distance, false);
	add_int64(row, wal_to_trigger_bytes(), false);
	add_double(row, redo_rate, unknown);
	add_double(row, unknown ? 0 : distance / redo_rate, unknown);
}

/* One row on the running checkpoint, and on the WAL since the last. */
Datum
sluice_checkpoint_progress(PG_FUNCTION_ARGS)
{
	TupleDesc	tupdesc;
	RowBuilder	row = {0};
	CheckpointProgress progress;
	int64		now_us = monotonic_us();

	lease_require_attached();
	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	checkpoint_progress_read(&progress);
	add_work(&row, &progress, now_us);
	add_write_time_left(&row, &progress, now_us);
	add_wal(&row);
	add_int64(&row, progress.checkpoints_done, false);
	add_int64(&row, progress.checkpoints_failed, false);
	add_int64(&row, progress.deferrals, false);
	Assert(row.ncolumns == tupdesc->natts);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc),
													  row.values, row.nulls)));
}
