/*-------------------------------------------------------------------------
 *
 * lease.c
 *	  Orders with an owner and a time to live, in shared memory.
 *
 * A lease that has expired is ended by whoever looks first; there is no
 * process that has to be alive for that.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/shmem.h"
#include "utils/timestamp.h"

#include "lease.h"

const char *const lease_kind_names[NUM_LEASE_KINDS] = {
	[LEASE_PACE] = "pace",
	[LEASE_SYNC_GAP] = "sync_gap",
	[LEASE_DEFERRAL] = "deferral",
};

const char *const lease_end_names[NUM_LEASE_ENDS] = {
	[LEASE_END_EXPIRED] = "expired",
	[LEASE_END_CLEARED] = "cleared",
	[LEASE_END_REPLACED] = "replaced",
	[LEASE_END_WAL_BOUND] = "wal_bound",
};

static LeaseTable *table = NULL;

Size
lease_shmem_size(void)
{
	return MAXALIGN(sizeof(LeaseTable));
}

/* Called with AddinShmemInitLock held. */
void
lease_shmem_startup(void)
{
	bool		found;

	table = ShmemInitStruct("sluice leases", lease_shmem_size(), &found);
	if (found)
		return;
	memset(table, 0, sizeof(LeaseTable));
	/* Ids of a server that crashed must not name leases of this one. */
	table->last_id = GetCurrentTimestamp();
	SpinLockInit(&table->mutex);
}

/* Error unless the shared memory is there, that is, the library was preloaded. */
void
lease_require_attached(void)
{
	if (table == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("sluice must be loaded via \"shared_preload_libraries\""),
				 errhint("Add \"sluice\" to that setting and restart the server.")));
}

/* The caller holds the mutex. */
static void
end_locked(LeaseKind kind, LeaseEnd end)
{
	table->leases[kind].id = 0;
	table->ended[end]++;
}

/* Is there a lease that has not expired?  The caller holds the mutex. */
static bool
live_locked(LeaseKind kind, int64 now_us)
{
	Lease	   *lease = &table->leases[kind];

	if (lease->id == 0)
		return false;
	if (now_us < lease->expires_us)
		return true;
	end_locked(kind, LEASE_END_EXPIRED);
	return false;
}

static bool
same_order(const LeaseOrder *a, const LeaseOrder *b)
{
	return a->mode == b->mode &&
		a->rate_bytes_per_second == b->rate_bytes_per_second &&
		a->duration_us == b->duration_us &&
		a->sync_gap_us == b->sync_gap_us &&
		a->wal_bytes == b->wal_bytes;
}

/*
 * Grant a lease, or renew it if owner and order are those of the live one, in
 * which case it keeps its id and its effect goes on without a break.
 *
 * Returns false, with the live lease in *lease, if another owner has one and
 * 'replace' is not set.
 */
bool
lease_try_grant(LeaseKind kind, const LeaseOrder *order, const char *owner,
				int64 time_to_live_us, bool replace, Lease *lease)
{
	int64		now_us = monotonic_us();
	Lease	   *slot = &table->leases[kind];
	bool		same_owner;
	bool		renewal = false;

	SpinLockAcquire(&table->mutex);
	if (live_locked(kind, now_us))
	{
		same_owner = strcmp(slot->owner, owner) == 0;
		if (!same_owner && !replace)
		{
			*lease = *slot;
			SpinLockRelease(&table->mutex);
			return false;
		}
		renewal = same_owner && same_order(&slot->order, order);
		if (!renewal)
			end_locked(kind, LEASE_END_REPLACED);
	}
	if (!renewal)
	{
		slot->id = ++table->last_id;
		slot->order = *order;
		slot->granted_us = now_us;
		strlcpy(slot->owner, owner, sizeof(slot->owner));
	}
	slot->expires_us = now_us + time_to_live_us;
	*lease = *slot;
	SpinLockRelease(&table->mutex);
	return true;
}

/* Copy the live lease of this kind into *lease; false if there is none. */
bool
lease_current(LeaseKind kind, int64 now_us, Lease *lease)
{
	bool		live;

	SpinLockAcquire(&table->mutex);
	live = live_locked(kind, now_us);
	*lease = table->leases[kind];
	SpinLockRelease(&table->mutex);
	return live;
}

/* End the lease with this id, unless it has ended or was replaced. */
bool
lease_end(LeaseKind kind, int64 id, LeaseEnd end)
{
	bool		ended = false;

	SpinLockAcquire(&table->mutex);
	if (id != 0 && table->leases[kind].id == id)
	{
		end_locked(kind, end);
		ended = true;
	}
	SpinLockRelease(&table->mutex);
	return ended;
}

/* Clear the lease with this id; false if there is no such live lease. */
bool
lease_clear(int64 id)
{
	int64		now_us = monotonic_us();
	bool		cleared = false;

	SpinLockAcquire(&table->mutex);
	for (LeaseKind kind = 0; kind < NUM_LEASE_KINDS; kind++)
	{
		if (live_locked(kind, now_us) && table->leases[kind].id == id)
		{
			end_locked(kind, LEASE_END_CLEARED);
			cleared = true;
		}
	}
	SpinLockRelease(&table->mutex);
	return cleared;
}

/* Clear all live leases of an owner; returns how many there were. */
int
lease_clear_owner(const char *owner)
{
	int64		now_us = monotonic_us();
	int			cleared = 0;

	SpinLockAcquire(&table->mutex);
	for (LeaseKind kind = 0; kind < NUM_LEASE_KINDS; kind++)
	{
		if (live_locked(kind, now_us) && strcmp(table->leases[kind].owner, owner) == 0)
		{
			end_locked(kind, LEASE_END_CLEARED);
			cleared++;
		}
	}
	SpinLockRelease(&table->mutex);
	return cleared;
}

/* How many leases have ended in each way since the server started. */
void
lease_count_ended(int64 ended[NUM_LEASE_ENDS])
{
	SpinLockAcquire(&table->mutex);
	memcpy(ended, table->ended, sizeof(table->ended));
	SpinLockRelease(&table->mutex);
}
