/*-------------------------------------------------------------------------
 *
 * sluice.c
 *	  Loads the extension: settings, shared memory and hooks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/guc.h"

#include "checkpoint_control.h"
#include "checkpoint_progress.h"
#include "lease.h"
#include "redo_rate.h"
#include "sluice.h"
#include "statement_latency.h"
#include "wal_bound.h"

PG_MODULE_MAGIC;

int			sluice_max_time_to_live_s = 600;

static shmem_request_hook_type prev_shmem_request_hook = NULL;
static shmem_startup_hook_type prev_shmem_startup_hook = NULL;

static void
request_shmem(void)
{
	if (prev_shmem_request_hook)
		prev_shmem_request_hook();

	RequestAddinShmemSpace(lease_shmem_size());
	RequestAddinShmemSpace(checkpoint_progress_shmem_size());
	RequestAddinShmemSpace(redo_rate_shmem_size());
	RequestAddinShmemSpace(statement_latency_shmem_size());
}

static void
start_shmem(void)
{
	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	lease_shmem_startup();
	checkpoint_progress_shmem_startup();
	redo_rate_shmem_startup();
	statement_latency_shmem_startup();
	LWLockRelease(AddinShmemInitLock);
}

static void
define_settings(void)
{
	DefineCustomIntVariable("sluice.wal_bound",
							"WAL since the last redo point at which every order to a checkpoint ends.",
							"0 stands for \"max_wal_size\", on a standby for twice that.",
							&sluice_wal_bound_mb,
							0, 0, MAX_KILOBYTES / 1024,
							PGC_SIGHUP, GUC_UNIT_MB,
							NULL, NULL, NULL);

	DefineCustomIntVariable("sluice.max_time_to_live",
							"Longest time to live that an order can ask for.",
							NULL,
							&sluice_max_time_to_live_s,
							600, 1, 24 * 3600,
							PGC_SIGHUP, GUC_UNIT_S,
							NULL, NULL, NULL);

	statement_latency_define_settings();
	MarkGUCPrefixReserved("sluice");
}

void
_PG_init(void)
{
	/* Without preloading there is no shared memory; the functions say so. */
	if (!process_shared_preload_libraries_in_progress)
		return;

	define_settings();

	prev_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = request_shmem;
	prev_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = start_shmem;

	checkpoint_control_install_hook();
	statement_latency_install_hooks();
	redo_rate_register_worker();
}
