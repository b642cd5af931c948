/*-------------------------------------------------------------------------
 *
 * checkpoint_progress.h
 *	  What the checkpointer is doing, in shared memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CHECKPOINT_PROGRESS_H
#define CHECKPOINT_PROGRESS_H

#include "access/xlogdefs.h"

#include "checkpoint_pace.h"

typedef enum CheckpointPhase
{
	PHASE_NONE,
	PHASE_START,				/* before the first buffer */
	PHASE_WRITE,
	PHASE_SYNC,
} CheckpointPhase;

#define NUM_CHECKPOINT_PHASES (PHASE_SYNC + 1)

typedef struct CheckpointProgress
{
	CheckpointPhase phase;
	bool		is_restartpoint;
	int64		deferred_lease_id;	/* puts off one that is due; 0 for none */
	bool		is_held;
	bool		last_failed;	/* the last one that had work to do */
	int			flags;			/* CHECKPOINT_xxx of the running one */
	PaceMode	pace;
	int64		start_us;		/* monotonic clock */
	int64		throttled_us;	/* napped at the word of this module */
	int64		buffers_done;
	int64		buffers_total;
	int64		bytes_written;
	int64		files_done;
	int64		files_total;
	double		rate_bytes_per_second;	/* over the last half second or more */
	XLogRecPtr	redo;			/* where recovery would start now */
	int64		checkpoints_done;
	int64		checkpoints_failed;
	int64		deferrals;
} CheckpointProgress;

extern Size checkpoint_progress_shmem_size(void);
extern void checkpoint_progress_shmem_startup(void);
extern void checkpoint_progress_read(CheckpointProgress *progress);
extern XLogRecPtr checkpoint_progress_redo(void);

/* For the checkpointer only */
extern const CheckpointProgress *checkpoint_progress(void);
extern void note_started(int flags, int64 now_us);
extern void note_buffers(int64 done, int64 total, int64 now_us);
extern void note_files(int64 done, int64 total, int64 now_us);
extern void note_answer(PaceMode pace, int nap_ms, int64 now_us);
extern void note_deferred(int64 lease_id);
extern void note_ended(int64 outcome);

#endif							/* CHECKPOINT_PROGRESS_H */
