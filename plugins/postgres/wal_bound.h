/*-------------------------------------------------------------------------
 *
 * wal_bound.h
 *	  WAL that recovery would have to replay, and the hard bound on it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef WAL_BOUND_H
#define WAL_BOUND_H

#include "access/xlogdefs.h"

extern PGDLLIMPORT int sluice_wal_bound_mb;

extern XLogRecPtr wal_position(void);
extern uint64 wal_bound_bytes(void);
extern uint64 wal_distance_bytes(XLogRecPtr redo);
extern uint64 wal_to_bound_bytes(XLogRecPtr redo);
extern int64 wal_to_trigger_bytes(void);

#endif							/* WAL_BOUND_H */
