/*-------------------------------------------------------------------------
 *
 * checkpoint_progress.c
 *	  What the checkpointer is doing, in shared memory.
 *
 * Only the checkpointer writes, so it may read without the lock.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "executor/instrument.h"
#include "storage/shmem.h"
#include "storage/spin.h"

#include "checkpoint_progress.h"

/* The current rate is measured over at least this time. */
#define RATE_WINDOW_US	INT64_C(500000)

#define US_PER_S		INT64_C(1000000)

typedef struct ProgressShared
{
	slock_t		mutex;
	CheckpointProgress progress;
} ProgressShared;

static ProgressShared *shared = NULL;

/* The checkpointer's own */
static int64 bytes_before;		/* written by this process before this one */
static int64 nap_start_us;		/* 0 if the last answer was not a nap */
static int64 window_start_us;
static int64 window_start_bytes;

Size
checkpoint_progress_shmem_size(void)
{
	return MAXALIGN(sizeof(ProgressShared));
}

/* Called with AddinShmemInitLock held. */
void
checkpoint_progress_shmem_startup(void)
{
	bool		found;

	shared = ShmemInitStruct("sluice checkpoint progress",
							 checkpoint_progress_shmem_size(), &found);
	if (found)
		return;
	memset(shared, 0, sizeof(ProgressShared));
	SpinLockInit(&shared->mutex);
}

/* Copy the progress as of the checkpointer's last step. */
void
checkpoint_progress_read(CheckpointProgress *progress)
{
	SpinLockAcquire(&shared->mutex);
	*progress = shared->progress;
	SpinLockRelease(&shared->mutex);
}

const CheckpointProgress *
checkpoint_progress(void)
{
	return &shared->progress;
}

/*
 * Where recovery would start now.  GetRedoRecPtr() is that of a running or
 * failed checkpoint, which recovery cannot use.
 */
XLogRecPtr
checkpoint_progress_redo(void)
{
	CheckpointProgress progress;

	checkpoint_progress_read(&progress);
	if (progress.phase == PHASE_NONE && !progress.last_failed)
		return GetRedoRecPtr();
	return progress.redo;
}

void
note_started(int flags, int64 now_us)
{
	CheckpointProgress *progress = &shared->progress;
	XLogRecPtr	redo = checkpoint_progress_redo();
	bool		is_restartpoint = RecoveryInProgress();

	bytes_before = pgBufferUsage.shared_blks_written * BLCKSZ;
	nap_start_us = 0;
	window_start_us = now_us;
	window_start_bytes = 0;

	SpinLockAcquire(&shared->mutex);
	progress->phase = PHASE_START;
	progress->is_restartpoint = is_restartpoint;
	progress->deferred_lease_id = 0;
	progress->is_held = false;
	progress->flags = flags;
	progress->pace = PACE_STOCK;
	progress->start_us = now_us;
	progress->throttled_us = 0;
	progress->buffers_done = 0;
	progress->buffers_total = 0;
	progress->bytes_written = 0;
	progress->files_done = 0;
	progress->files_total = 0;
	progress->rate_bytes_per_second = 0;
	progress->redo = redo;
	SpinLockRelease(&shared->mutex);
}

/* What every step has in common.  The caller holds the mutex. */
static void
note_step_locked(int64 now_us)
{
	CheckpointProgress *progress = &shared->progress;
	int64		window_us = now_us - window_start_us;

	if (nap_start_us != 0)
		progress->throttled_us += now_us - nap_start_us;
	progress->bytes_written = pgBufferUsage.shared_blks_written * BLCKSZ - bytes_before;
	if (window_us < RATE_WINDOW_US)
		return;
	progress->rate_bytes_per_second =
		(double) (progress->bytes_written - window_start_bytes) * US_PER_S / window_us;
	window_start_us = now_us;
	window_start_bytes = progress->bytes_written;
}

void
note_buffers(int64 done, int64 total, int64 now_us)
{
	SpinLockAcquire(&shared->mutex);
	note_step_locked(now_us);
	shared->progress.phase = PHASE_WRITE;
	shared->progress.buffers_done = done;
	shared->progress.buffers_total = total;
	SpinLockRelease(&shared->mutex);
}

void
note_files(int64 done, int64 total, int64 now_us)
{
	SpinLockAcquire(&shared->mutex);
	note_step_locked(now_us);
	shared->progress.phase = PHASE_SYNC;
	shared->progress.files_done = done;
	shared->progress.files_total = total;
	SpinLockRelease(&shared->mutex);
}

/* Note what the checkpointer was told after a step. */
void
note_answer(PaceMode pace, int nap_ms, int64 now_us)
{
	nap_start_us = nap_ms > 0 ? now_us : 0;

	SpinLockAcquire(&shared->mutex);
	shared->progress.pace = nap_ms == NAP_STOCK ? PACE_STOCK : pace;
	shared->progress.is_held = nap_ms > 0 && pace == PACE_HOLD;
	SpinLockRelease(&shared->mutex);
}

/*
 * Note by which lease a checkpoint that is due is put off, 0 for none.  Nobody
 * tells when it is no longer due, because a setting was changed: what stays
 * noted then must not be taken for the work of a later lease.
 */
void
note_deferred(int64 lease_id)
{
	SpinLockAcquire(&shared->mutex);
	if (lease_id != 0 && shared->progress.deferred_lease_id == 0)
		shared->progress.deferrals++;
	shared->progress.deferred_lease_id = lease_id;
	SpinLockRelease(&shared->mutex);
}

/*
 * Takes what CHECKPOINT_POINT_END tells: 1 if it was performed, 0 if there was
 * nothing to do, -1 if it failed.
 */
void
note_ended(int64 outcome)
{
	CheckpointProgress *progress = &shared->progress;

	SpinLockAcquire(&shared->mutex);
	progress->phase = PHASE_NONE;
	progress->is_held = false;
	if (outcome > 0)
		progress->checkpoints_done++;
	else if (outcome < 0)
		progress->checkpoints_failed++;
	if (outcome != 0)
		progress->last_failed = outcome < 0;
	SpinLockRelease(&shared->mutex);
}
