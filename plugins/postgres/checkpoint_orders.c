/*-------------------------------------------------------------------------
 *
 * checkpoint_orders.c
 *	  SQL functions that give and clear orders.
 *
 * All arguments are checked before anything is changed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "fmgr.h"
#include "postmaster/bgwriter.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "checkpoint_control.h"
#include "checkpoint_progress.h"
#include "interval_us.h"
#include "lease.h"
#include "pace_mode.h"
#include "sluice.h"
#include "wal_bound.h"

#define MIN_RATE_BYTES_PER_SECOND	INT64CONST(65536)
#define MAX_RATE_BYTES_PER_SECOND	INT64CONST(1000000000000)
#define MIN_DURATION_US		INT64CONST(10000)
#define MAX_DURATION_US		(24 * 3600 * INT64CONST(1000000))
#define MIN_TIME_TO_LIVE_US INT64CONST(1000)
#define MIN_SYNC_GAP_US		INT64CONST(1000)
#define MAX_SYNC_GAP_US		INT64CONST(60000000)
#define US_PER_S			INT64CONST(1000000)

#define PRINTABLE_ASCII \
	" !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"

PG_FUNCTION_INFO_V1(sluice_set_checkpoint_pace);
PG_FUNCTION_INFO_V1(sluice_set_sync_gap);
PG_FUNCTION_INFO_V1(sluice_defer_checkpoint);
PG_FUNCTION_INFO_V1(sluice_start_checkpoint);
PG_FUNCTION_INFO_V1(sluice_request_checkpoint);
PG_FUNCTION_INFO_V1(sluice_clear_lease);
PG_FUNCTION_INFO_V1(sluice_clear_leases);

/* Error for an argument that is missing although it has no default. */
static void
require_arg(FunctionCallInfo fcinfo, int argno, const char *name)
{
	if (PG_ARGISNULL(argno))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", name),
				 errhint("Give a value; only rate_bytes_per_second and duration may be left null.")));
}

static void
forbid_arg(FunctionCallInfo fcinfo, int argno, const char *name, const char *mode)
{
	if (!PG_ARGISNULL(argno))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("pace \"%s\" takes no %s", mode, name),
				 errhint("Leave out %s, or choose another mode.", name)));
}

/* An interval argument in microseconds, within bounds. */
static int64
interval_arg_us(FunctionCallInfo fcinfo, int argno, const char *name,
				int64 min_us, int64 max_us)
{
	Interval   *interval;
	int64		us;

	require_arg(fcinfo, argno, name);
	interval = PG_GETARG_INTERVAL_P(argno);

	/* A month has no fixed length. */
	if (interval->month != 0 || !interval_to_us(interval, &us) ||
		us < min_us || us > max_us)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be between %.15g s and %.15g s", name,
						(double) min_us / US_PER_S, (double) max_us / US_PER_S),
				 errhint("Give it as an interval, for example \"5 seconds\".")));
	return us;
}

static int64
time_to_live_arg_us(FunctionCallInfo fcinfo, int argno)
{
	int64		max_us = sluice_max_time_to_live_s * US_PER_S;

	return interval_arg_us(fcinfo, argno, "time_to_live", MIN_TIME_TO_LIVE_US, max_us);
}

static int64
rate_arg(FunctionCallInfo fcinfo, int argno)
{
	int64		rate;

	require_arg(fcinfo, argno, "rate_bytes_per_second");
	rate = PG_GETARG_INT64(argno);
	if (rate < MIN_RATE_BYTES_PER_SECOND || rate > MAX_RATE_BYTES_PER_SECOND)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rate_bytes_per_second must be between %lld and %lld",
						(long long) MIN_RATE_BYTES_PER_SECOND,
						(long long) MAX_RATE_BYTES_PER_SECOND),
				 errhint("To stop a checkpoint for a while, use mode \"hold\".")));
	return rate;
}

/* Every database reads the owner, whatever its encoding: so ASCII alone. */
static char *
owner_arg(FunctionCallInfo fcinfo, int argno)
{
	char	   *owner;
	size_t		length;

	require_arg(fcinfo, argno, "owner");
	owner = text_to_cstring(PG_GETARG_TEXT_PP(argno));
	length = strspn(owner, PRINTABLE_ASCII);
	if (length == 0 || length >= NAMEDATALEN || owner[length] != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("owner must have 1 to %d printable ASCII characters", NAMEDATALEN - 1),
				 errhint("Name whoever renews the lease, for example \"controller\".")));
	return owner;
}

/* An order that would end at once is refused. */
static void
require_wal_room(uint64 limit_bytes)
{
	uint64		distance = wal_distance_bytes(checkpoint_progress_redo());

	if (distance >= limit_bytes)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("WAL distance of %llu bytes has reached the order's end at %llu bytes",
						(unsigned long long) distance, (unsigned long long) limit_bytes),
				 errhint("Let a checkpoint finish first, or raise wal_bytes, \"max_wal_size\" or \"sluice.wal_bound\".")));
}

/* Does an order let a checkpoint go on at least as fast as upstream's? */
static bool
is_haste(LeaseKind kind, const LeaseOrder *order)
{
	return kind == LEASE_PACE &&
		(order->mode == PACE_FULL || order->mode == PACE_STOCK);
}

/*
 * Grant or error; returns the id of the lease.  Of each function, owner and
 * time_to_live are neighbours, and replace is the last argument.
 */
static int64
grant(FunctionCallInfo fcinfo, LeaseKind kind, const LeaseOrder *order, int owner_argno)
{
	char	   *owner = owner_arg(fcinfo, owner_argno);
	int64		time_to_live_us = time_to_live_arg_us(fcinfo, owner_argno + 1);
	int			replace_argno = PG_NARGS() - 1;
	Lease		lease;

	require_arg(fcinfo, replace_argno, "replace");
	if (!is_haste(kind, order))
		require_wal_room(wal_bound_bytes());
	if (!lease_try_grant(kind, order, owner, time_to_live_us,
						 PG_GETARG_BOOL(replace_argno), &lease))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("the %s lease is held by \"%s\" for another %.1f s",
						lease_kind_names[kind], lease.owner,
						(double) (lease.expires_us - monotonic_us()) / US_PER_S),
				 errhint("Wait until it expires, or pass replace => true.")));
	checkpoint_control_wake();
	return lease.id;
}

/* Fill in what the mode needs, and refuse what it does not. */
static void
pace_order(FunctionCallInfo fcinfo, LeaseOrder *order, int rate_argno, int duration_argno)
{
	const char *mode = pace_mode_names[order->mode];

	if (order->mode == PACE_RATE)
		order->rate_bytes_per_second = rate_arg(fcinfo, rate_argno);
	else
		forbid_arg(fcinfo, rate_argno, "rate_bytes_per_second", mode);

	if (order->mode == PACE_DURATION)
		order->duration_us = interval_arg_us(fcinfo, duration_argno, "duration",
											 MIN_DURATION_US, MAX_DURATION_US);
	else
		forbid_arg(fcinfo, duration_argno, "duration", mode);
}

/* set_checkpoint_pace(mode, owner, time_to_live, rate, duration, replace) */
Datum
sluice_set_checkpoint_pace(PG_FUNCTION_ARGS)
{
	LeaseOrder	order;

	lease_require_attached();
	memset(&order, 0, sizeof(order));
	require_arg(fcinfo, 0, "mode");
	order.mode = pace_mode_from_name(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	pace_order(fcinfo, &order, 3, 4);
	PG_RETURN_INT64(grant(fcinfo, LEASE_PACE, &order, 1));
}

/* set_sync_gap(gap, owner, time_to_live, replace) */
Datum
sluice_set_sync_gap(PG_FUNCTION_ARGS)
{
	LeaseOrder	order;

	lease_require_attached();
	memset(&order, 0, sizeof(order));
	order.sync_gap_us = interval_arg_us(fcinfo, 0, "gap", MIN_SYNC_GAP_US, MAX_SYNC_GAP_US);
	PG_RETURN_INT64(grant(fcinfo, LEASE_SYNC_GAP, &order, 1));
}

/* defer_checkpoint(wal_bytes, owner, time_to_live, replace) */
Datum
sluice_defer_checkpoint(PG_FUNCTION_ARGS)
{
	LeaseOrder	order;

	lease_require_attached();
	memset(&order, 0, sizeof(order));
	require_arg(fcinfo, 0, "wal_bytes");
	order.wal_bytes = PG_GETARG_INT64(0);
	if (order.wal_bytes <= 0 || (uint64) order.wal_bytes > wal_bound_bytes())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("wal_bytes must be between 1 and the WAL bound of %llu",
						(unsigned long long) wal_bound_bytes()),
				 errhint("To defer for longer, raise \"max_wal_size\" or \"sluice.wal_bound\".")));
	require_wal_room(order.wal_bytes);
	PG_RETURN_INT64(grant(fcinfo, LEASE_DEFERRAL, &order, 1));
}

/* start_checkpoint(owner, time_to_live, rate, duration, replace) */
Datum
sluice_start_checkpoint(PG_FUNCTION_ARGS)
{
	LeaseOrder	order;
	int64		id;

	lease_require_attached();
	memset(&order, 0, sizeof(order));
	if (PG_ARGISNULL(2) == PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("give either rate_bytes_per_second or duration"),
				 errhint("For one at the server's own pace use request_checkpoint(), for one at full speed the command CHECKPOINT.")));
	order.mode = PG_ARGISNULL(2) ? PACE_DURATION : PACE_RATE;
	pace_order(fcinfo, &order, 2, 3);
	id = grant(fcinfo, LEASE_PACE, &order, 0);
	/* A restartpoint ignores the flag; with it, no deferral puts off either. */
	RequestCheckpoint(CHECKPOINT_FORCE);
	PG_RETURN_INT64(id);
}

/*
 * request_checkpoint(): one at the pace that is in force, as the server would
 * start it by itself.  No lease begins or ends, and a running checkpoint goes
 * on as it did.
 */
Datum
sluice_request_checkpoint(PG_FUNCTION_ARGS)
{
	lease_require_attached();
	RequestCheckpoint(CHECKPOINT_FORCE);
	PG_RETURN_VOID();
}

/* clear_lease(lease_id): was there such a live lease? */
Datum
sluice_clear_lease(PG_FUNCTION_ARGS)
{
	bool		cleared;

	lease_require_attached();
	require_arg(fcinfo, 0, "lease_id");
	cleared = lease_clear(PG_GETARG_INT64(0));
	if (cleared)
		checkpoint_control_wake();
	PG_RETURN_BOOL(cleared);
}

/* clear_leases(owner): how many were there? */
Datum
sluice_clear_leases(PG_FUNCTION_ARGS)
{
	int			cleared;

	lease_require_attached();
	cleared = lease_clear_owner(owner_arg(fcinfo, 0));
	if (cleared > 0)
		checkpoint_control_wake();
	PG_RETURN_INT32(cleared);
}
