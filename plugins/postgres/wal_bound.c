/*-------------------------------------------------------------------------
 *
 * wal_bound.c
 *	  WAL that recovery would have to replay, and the hard bound on it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xlogrecovery.h"

#include "wal_bound.h"

/* Setting sluice.wal_bound; 0 stands for what wal_bound_bytes() says. */
int			sluice_wal_bound_mb = 0;

/* Insert position, or replay position during recovery. */
XLogRecPtr
wal_position(void)
{
	return RecoveryInProgress() ? GetXLogReplayRecPtr(NULL) : GetInsertRecPtr();
}

/*
 * The distance at which every lease ends.
 *
 * A restartpoint can start when the primary's checkpoint record has come, and
 * so has about max_wal_size behind it from the first buffer on.
 */
uint64
wal_bound_bytes(void)
{
	uint64		bound_mb = sluice_wal_bound_mb;

	if (bound_mb == 0)
		bound_mb = (RecoveryInProgress() ? 2 : 1) * (uint64) max_wal_size_mb;
	return bound_mb << 20;
}

/* WAL from where recovery would start up to now. */
uint64
wal_distance_bytes(XLogRecPtr redo)
{
	XLogRecPtr	position = wal_position();

	return position > redo ? position - redo : 0;
}

/* WAL that may still come before the bound, if recovery starts at redo. */
uint64
wal_to_bound_bytes(XLogRecPtr redo)
{
	uint64		bound = wal_bound_bytes();
	uint64		distance = wal_distance_bytes(redo);

	return bound > distance ? bound - distance : 0;
}

/* WAL until upstream asks for a checkpoint, see XLogCheckpointNeeded(). */
int64
wal_to_trigger_bytes(void)
{
	XLogRecPtr	redo = GetRedoRecPtr();
	XLogRecPtr	trigger = redo - XLogSegmentOffset(redo, wal_segment_size) +
		(uint64) CheckPointSegments * wal_segment_size;

	return (int64) (trigger - wal_position());
}
