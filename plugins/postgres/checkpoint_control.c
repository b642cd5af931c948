/*-------------------------------------------------------------------------
 *
 * checkpoint_control.c
 *	  Scheduling and pacing of checkpoints at the word of leases.
 *
 * checkpoint_control_hook asks at each buffer and each file whether to nap.
 * The answer follows the live lease.  When a lease ends while a checkpoint is
 * running, that checkpoint glides: it goes on at the slowest pace that ends
 * it within checkpoint_timeout and leaves room below the WAL bound for the
 * next one.  At the WAL bound all leases end, and the checkpoint goes on
 * without a nap.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "postmaster/bgwriter.h"
#include "storage/latch.h"
#include "storage/proc.h"

#include "checkpoint_control.h"
#include "checkpoint_progress.h"
#include "lease.h"
#include "wal_bound.h"

#define US_PER_MS		INT64_C(1000)
#define US_PER_S		INT64_C(1000000)

/* How long a deferred or held checkpoint naps before the hook is asked again. */
#define HOLD_NAP_MS		100

/* Upstream's nap between two writes, see CheckpointWriteDelay() */
#define UPSTREAM_NAP_US	INT64_C(100000)

/* The checkpointer's own */
static PaceStretch stretch;
static int64 stretch_lease_id;	/* 0 if no lease governs the stretch */
static bool has_napped;			/* since the last checkpoint began */
static bool put_off_to_bound;	/* a deferral of the next one ended at it */
static bool starts_late;		/* and no lease governs this one yet */
static int64 last_sync_us;
static int64 last_sync_done;

/* Have the checkpointer look at the leases now rather than after its nap. */
void
checkpoint_control_wake(void)
{
#if PG_VERSION_NUM >= 180000
	ProcNumber	checkpointer = ((volatile PROC_HDR *) ProcGlobal)->checkpointerProc;

	if (checkpointer != INVALID_PROC_NUMBER)
		SetLatch(&GetPGProcByNumber(checkpointer)->procLatch);
#else
	if (ProcGlobal->checkpointerLatch)
		SetLatch(ProcGlobal->checkpointerLatch);
#endif
}

static bool
at_wal_bound(void)
{
	return wal_distance_bytes(checkpoint_progress()->redo) >= wal_bound_bytes();
}

/* End all leases because the WAL bound has been reached, and make haste. */
static void
yield_to_wal_bound(int64 now_us)
{
	for (LeaseKind kind = 0; kind < NUM_LEASE_KINDS; kind++)
	{
		Lease		lease;

		if (lease_current(kind, now_us, &lease) &&
			lease_end(kind, lease.id, LEASE_END_WAL_BOUND))
			ereport(LOG,
					(errmsg("sluice: %s lease of \"%s\" ended at the WAL bound of %llu MB",
							lease_kind_names[kind], lease.owner,
							(unsigned long long) (wal_bound_bytes() >> 20)),
					 errhint("Start checkpoints earlier, or raise \"max_wal_size\" or \"sluice.wal_bound\".")));
	}
	stretch.mode = PACE_FULL;
	stretch_lease_id = 0;
}

static PaceSample
take_sample(int64 now_us)
{
	const CheckpointProgress *progress = checkpoint_progress();
	PaceSample	sample = {
		.now_us = now_us,
		.bytes_written = progress->bytes_written,
		.wal_position = wal_position(),
	};

	if (progress->buffers_total > 0)
		sample.fraction = (double) progress->buffers_done / progress->buffers_total;
	return sample;
}

/* Time for all writes: no more than upstream, which naps once between two. */
static double
time_room_us(double most_us)
{
	return Min(most_us, (double) checkpoint_progress()->buffers_total * UPSTREAM_NAP_US);
}

/*
 * Begin the stretch that follows the end of the lease that governed.
 *
 * While a checkpoint runs, WAL is bounded by the redo point of the last one;
 * once it is done, by its own, and all of the next one is still to do.
 */
static void
begin_glide(int64 now_us)
{
	PaceSample	sample = take_sample(now_us);
	double		left = 1.0 - sample.fraction;
	double		room_for_both = wal_to_bound_bytes(GetRedoRecPtr());
	uint64		room = wal_to_bound_bytes(checkpoint_progress()->redo);

	stretch = pace_glide(&sample, time_room_us(CheckPointTimeout * US_PER_S),
						 Min(room, room_for_both * left / (left + 1.0)));
	stretch_lease_id = 0;
}

/*
 * Upstream's schedule counts from the start of a checkpoint.  For one that an
 * order has put off past upstream's trigger or up to the WAL bound, go by that
 * bound as well.
 */
static void
begin_late(int64 now_us)
{
	PaceSample	sample = take_sample(now_us);
	double		most_us = CheckPointTimeout * CheckPointCompletionTarget * US_PER_S;
	double		upstreams_room = CheckPointCompletionTarget * CheckPointSegments * wal_segment_size;
	uint64		room = wal_to_bound_bytes(checkpoint_progress()->redo);

	stretch = pace_glide(&sample, time_room_us(most_us), Min(room, upstreams_room));
	starts_late = false;
}

/* Bring the stretch in line with the live pace lease, if any. */
static void
follow_lease(int64 now_us)
{
	Lease		lease;

	if (lease_current(LEASE_PACE, now_us, &lease))
	{
		if (lease.id == stretch_lease_id)
			return;
		stretch.mode = lease.order.mode;
		stretch.rate_bytes_per_second = lease.order.rate_bytes_per_second;
		stretch.duration_us = lease.order.duration_us;
		stretch.start = take_sample(now_us);
		stretch_lease_id = lease.id;
		starts_late = false;
		return;
	}
	if (starts_late)
		begin_late(now_us);
	else if (stretch_lease_id == 0)
		return;
	else if (stretch.mode == PACE_STOCK)
		stretch_lease_id = 0;
	else
		begin_glide(now_us);
}

/* Does somebody want this checkpoint, or the one after it, without any nap? */
static bool
is_immediate(int pending_flags)
{
	return ((pending_flags | checkpoint_progress()->flags) & CHECKPOINT_IMMEDIATE) != 0;
}

/*
 * Is somebody waiting for this checkpoint, or for the one after it?  Nobody
 * waits for the one that promotion requests, but a restartpoint that is still
 * running then is of no more use, and in its way.
 */
static bool
is_awaited(int pending_flags)
{
	const CheckpointProgress *progress = checkpoint_progress();

	return ((pending_flags | progress->flags) & CHECKPOINT_WAIT) != 0 ||
		(progress->is_restartpoint && !RecoveryInProgress());
}

/* A nap must not outlast the lease that orders it. */
static int
cap_nap_ms(LeaseKind kind, int64 now_us, int nap_ms)
{
	Lease		lease;

	if (!lease_current(kind, now_us, &lease))
		return nap_ms;
	return Min(nap_ms, (lease.expires_us - now_us) / US_PER_MS + 1);
}

static int
write_nap_ms(int pending_flags, int64 now_us)
{
	PaceSample	sample;
	int			nap_ms;

	follow_lease(now_us);
	if (stretch.mode == PACE_STOCK || is_immediate(pending_flags))
		return NAP_STOCK;
	if ((stretch.mode == PACE_HOLD || stretch.mode == PACE_GLIDE) &&
		is_awaited(pending_flags))
		return NAP_STOCK;

	sample = take_sample(now_us);
	nap_ms = pace_nap_ms(&stretch, &sample);
	if (nap_ms <= 0)
		return nap_ms;
	if (at_wal_bound())
	{
		yield_to_wal_bound(now_us);
		return NAP_NONE;
	}
	return cap_nap_ms(LEASE_PACE, now_us, nap_ms);
}

/* Time left of the ordered gap since the last file was synced. */
static int
sync_gap_nap_ms(int64 now_us, int64 files_done)
{
	Lease		lease;
	int64		left_us;

	if (files_done != last_sync_done)
	{
		last_sync_done = files_done;
		last_sync_us = now_us;
	}
	if (!lease_current(LEASE_SYNC_GAP, now_us, &lease))
		return NAP_STOCK;
	left_us = Min(last_sync_us + lease.order.sync_gap_us, lease.expires_us) - now_us;
	return left_us > 0 ? Min(left_us / US_PER_MS + 1, HOLD_NAP_MS) : NAP_NONE;
}

static int
sync_nap_ms(int pending_flags, int64 now_us, int64 files_done)
{
	int			nap_ms;

	follow_lease(now_us);
	nap_ms = sync_gap_nap_ms(now_us, files_done);
	if (stretch.mode == PACE_HOLD)
		nap_ms = cap_nap_ms(LEASE_PACE, now_us, HOLD_NAP_MS);
	if (nap_ms <= 0 || is_immediate(pending_flags) || is_awaited(pending_flags))
		return NAP_STOCK;
	if (!at_wal_bound())
		return nap_ms;
	yield_to_wal_bound(now_us);
	return NAP_STOCK;
}

static int
deferral_nap_ms(int64 now_us)
{
	Lease		lease;
	uint64		distance;

	if (!lease_current(LEASE_DEFERRAL, now_us, &lease))
	{
		note_deferred(0);
		return NAP_NONE;
	}
	distance = wal_distance_bytes(checkpoint_progress_redo());
	if (distance >= wal_bound_bytes())
	{
		yield_to_wal_bound(now_us);
		put_off_to_bound = true;
	}
	else if (distance >= (uint64) lease.order.wal_bytes)
		(void) lease_end(LEASE_DEFERRAL, lease.id, LEASE_END_WAL_BOUND);
	else
	{
		note_deferred(lease.id);
		return cap_nap_ms(LEASE_DEFERRAL, now_us, HOLD_NAP_MS);
	}
	note_deferred(0);
	return NAP_NONE;
}

static void
begin_checkpoint(int flags, int64 now_us)
{
	starts_late = put_off_to_bound ||
		(has_napped && wal_to_trigger_bytes() < -wal_segment_size);
	put_off_to_bound = false;
	memset(&stretch, 0, sizeof(stretch));
	stretch_lease_id = 0;
	has_napped = false;
	last_sync_us = 0;
	last_sync_done = -1;
	note_started(flags, now_us);
}

static int
control_checkpoint(CheckpointPoint point, int flags, int64 done, int64 total)
{
	int64		now_us = monotonic_us();
	int			nap_ms = NAP_STOCK;

	switch (point)
	{
		case CHECKPOINT_POINT_DUE:
			nap_ms = deferral_nap_ms(now_us);
			break;
		case CHECKPOINT_POINT_START:
			begin_checkpoint(flags, now_us);
			break;
		case CHECKPOINT_POINT_WRITE:
			note_buffers(done, total, now_us);
			nap_ms = write_nap_ms(flags, now_us);
			note_answer(stretch.mode, nap_ms, now_us);
			break;
		case CHECKPOINT_POINT_SYNC:
			note_files(done, total, now_us);
			nap_ms = sync_nap_ms(flags, now_us, done);
			note_answer(stretch.mode, nap_ms, now_us);
			break;
		case CHECKPOINT_POINT_END:
			note_ended(done);
			break;
	}
	has_napped |= nap_ms > 0;
	return nap_ms;
}

void
checkpoint_control_install_hook(void)
{
	checkpoint_control_hook = control_checkpoint;
}
