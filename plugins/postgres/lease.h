/*-------------------------------------------------------------------------
 *
 * lease.h
 *	  Orders with an owner and a time to live, in shared memory.
 *
 * There is at most one lease of each kind.  Times are of the monotonic clock,
 * in microseconds, so that a step of the wall clock neither ends a lease nor
 * prolongs it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef LEASE_H
#define LEASE_H

#include "portability/instr_time.h"
#include "storage/spin.h"

#include "checkpoint_pace.h"

typedef enum LeaseKind
{
	LEASE_PACE,
	LEASE_SYNC_GAP,
	LEASE_DEFERRAL,
} LeaseKind;

#define NUM_LEASE_KINDS (LEASE_DEFERRAL + 1)

typedef enum LeaseEnd
{
	LEASE_END_EXPIRED,
	LEASE_END_CLEARED,
	LEASE_END_REPLACED,
	LEASE_END_WAL_BOUND,
} LeaseEnd;

#define NUM_LEASE_ENDS (LEASE_END_WAL_BOUND + 1)

/* What is ordered; fields that the kind or mode does not use are 0. */
typedef struct LeaseOrder
{
	PaceMode	mode;			/* LEASE_PACE */
	int64		rate_bytes_per_second;	/* PACE_RATE */
	int64		duration_us;	/* PACE_DURATION */
	int64		sync_gap_us;	/* LEASE_SYNC_GAP */
	int64		wal_bytes;		/* LEASE_DEFERRAL */
} LeaseOrder;

typedef struct Lease
{
	int64		id;				/* 0 if there is none */
	LeaseOrder	order;
	int64		granted_us;
	int64		expires_us;
	char		owner[NAMEDATALEN];
} Lease;

typedef struct LeaseTable
{
	slock_t		mutex;
	int64		last_id;
	Lease		leases[NUM_LEASE_KINDS];
	int64		ended[NUM_LEASE_ENDS];
} LeaseTable;

extern const char *const lease_kind_names[NUM_LEASE_KINDS];
extern const char *const lease_end_names[NUM_LEASE_ENDS];

static inline int64
monotonic_us(void)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	return (int64) INSTR_TIME_GET_MICROSEC(now);
}

extern Size lease_shmem_size(void);
extern void lease_shmem_startup(void);
extern void lease_require_attached(void);

extern bool lease_try_grant(LeaseKind kind, const LeaseOrder *order,
							const char *owner, int64 time_to_live_us,
							bool replace, Lease *lease);
extern bool lease_current(LeaseKind kind, int64 now_us, Lease *lease);
extern bool lease_end(LeaseKind kind, int64 id, LeaseEnd end);
extern bool lease_clear(int64 id);
extern int	lease_clear_owner(const char *owner);
extern void lease_count_ended(int64 ended[NUM_LEASE_ENDS]);

#endif							/* LEASE_H */
