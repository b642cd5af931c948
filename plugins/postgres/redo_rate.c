/*-------------------------------------------------------------------------
 *
 * redo_rate.c
 *	  How fast this server replays WAL, measured while it does.
 *
 * A background worker samples the replay position during recovery, and sleeps
 * once recovery has ended.  Time in which a standby had nothing left to replay,
 * or replayed late by order, does not count.  The rate is kept in a file, so
 * that it outlives a restart; it informs an estimate only, so that a lost file
 * does no harm.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>
#include <unistd.h>

#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "replication/walreceiver.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/guc.h"
#include "utils/wait_event.h"

#include "lease.h"
#include "redo_rate.h"

#define SAMPLE_INTERVAL_MS	100

/* What was measured since, a crash of this server loses. */
#define SAVE_INTERVAL_US	INT64CONST(60000000)

/* After a crash of any process the postmaster starts the worker anew. */
#define RESTART_S			5

/* Without progress for this long, replay waits for WAL, as from an archive. */
#define MAX_STALL_US		INT64CONST(5000000)

/* Less than this says nothing about the rate. */
#define MIN_REPLAYED_BYTES	(UINT64CONST(1) << 20)

/* Older measurements fade when this much more has been replayed. */
#define MEMORY_BYTES		(UINT64CONST(1) << 30)

#define REDO_RATE_FILE		PGSTAT_STAT_PERMANENT_DIRECTORY "/sluice_redo_rate"
#define REDO_RATE_TMPFILE	REDO_RATE_FILE ".tmp"

typedef struct RedoRate
{
	slock_t		mutex;
	double		bytes;
	double		seconds;
} RedoRate;

static RedoRate *redo_rate = NULL;

PGDLLEXPORT void sluice_redo_rate_main(Datum main_arg);

Size
redo_rate_shmem_size(void)
{
	return MAXALIGN(sizeof(RedoRate));
}

static void
load_redo_rate(void)
{
	FILE	   *file = AllocateFile(REDO_RATE_FILE, PG_BINARY_R);
	double		bytes;
	double		seconds;

	if (file == NULL)
		return;
	if (fscanf(file, "%lf bytes %lf seconds", &bytes, &seconds) == 2 &&
		isfinite(bytes) && isfinite(seconds) && bytes > 0 && seconds > 0)
	{
		redo_rate->bytes = bytes;
		redo_rate->seconds = seconds;
	}
	FreeFile(file);
}

static void
save_redo_rate(void)
{
	FILE	   *file;

	if (redo_rate_bytes_per_second() <= 0)
		return;
	file = AllocateFile(REDO_RATE_TMPFILE, PG_BINARY_W);
	if (file == NULL ||
		fprintf(file, "%.0f bytes %.6f seconds\n", redo_rate->bytes, redo_rate->seconds) < 0 ||
		FreeFile(file) != 0 ||
		rename(REDO_RATE_TMPFILE, REDO_RATE_FILE) != 0)
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("could not write file \"%s\": %m", REDO_RATE_FILE)));
}

/* Called with AddinShmemInitLock held. */
void
redo_rate_shmem_startup(void)
{
	bool		found;

	redo_rate = ShmemInitStruct("sluice redo rate", redo_rate_shmem_size(), &found);
	if (found)
		return;
	memset(redo_rate, 0, sizeof(RedoRate));
	SpinLockInit(&redo_rate->mutex);
	load_redo_rate();
}

double
redo_rate_bytes_per_second(void)
{
	double		rate;

	SpinLockAcquire(&redo_rate->mutex);
	rate = redo_rate->seconds > 0 ? redo_rate->bytes / redo_rate->seconds : 0;
	SpinLockRelease(&redo_rate->mutex);
	return rate;
}

static void
add_redo(double bytes, double seconds)
{
	double		fade = bytes >= MEMORY_BYTES ? 0 : 1 - bytes / MEMORY_BYTES;

	SpinLockAcquire(&redo_rate->mutex);
	redo_rate->bytes = redo_rate->bytes * fade + bytes;
	redo_rate->seconds = redo_rate->seconds * fade + seconds;
	SpinLockRelease(&redo_rate->mutex);
}

typedef struct RedoSampler
{
	XLogRecPtr	last;
	XLogRecPtr	received;		/* when 'last' was looked up, invalid if not
								 * streaming */
	int64		last_us;
	int64		stalled_us;		/* without progress so far */
	uint64		bytes;			/* not yet added to the shared sums */
	int64		busy_us;
} RedoSampler;

/*
 * Did replay go on from the last sample up to 'replayed' without a wait?  In
 * crash recovery it always does.  What is streamed it waits for when it gets
 * to where the stream was; and a delay or a pause it keeps at any time.
 */
static bool
replayed_without_wait(const RedoSampler *sampler, XLogRecPtr replayed)
{
	if (sampler->last == InvalidXLogRecPtr || recovery_min_apply_delay > 0 ||
		GetRecoveryPauseState() != RECOVERY_NOT_PAUSED)
		return false;
	return sampler->received == InvalidXLogRecPtr || replayed < sampler->received;
}

/* Take in that replay has come to 'replayed'. */
static void
sample_redo(RedoSampler *sampler, XLogRecPtr replayed, int64 now_us)
{
	if (replayed_without_wait(sampler, replayed))
		sampler->stalled_us += now_us - sampler->last_us;
	else
		sampler->stalled_us = 0;

	if (replayed > sampler->last && sampler->stalled_us > 0 &&
		sampler->stalled_us < MAX_STALL_US)
	{
		sampler->bytes += replayed - sampler->last;
		sampler->busy_us += sampler->stalled_us;
	}
	if (replayed > sampler->last)
		sampler->stalled_us = 0;
	sampler->last = replayed;
	sampler->last_us = now_us;
	sampler->received = GetWalRcvFlushRecPtr(NULL, NULL);

	if (sampler->bytes < MIN_REPLAYED_BYTES)
		return;
	add_redo(sampler->bytes, sampler->busy_us / 1e6);
	sampler->bytes = 0;
	sampler->busy_us = 0;
}

static void
nap(long timeout_ms)
{
	int			events = WL_LATCH_SET | WL_EXIT_ON_PM_DEATH;

	if (timeout_ms > 0)
		events |= WL_TIMEOUT;
	(void) WaitLatch(MyLatch, events, timeout_ms, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
}

/* Measure until recovery ends, or the server stops. */
static void
follow_recovery(void)
{
	RedoSampler sampler = {0};
	int64		saved_us = monotonic_us();

	while (!ShutdownRequestPending && RecoveryInProgress())
	{
		int64		now_us = monotonic_us();

		sample_redo(&sampler, GetXLogReplayRecPtr(NULL), now_us);
		if (now_us - saved_us >= SAVE_INTERVAL_US)
		{
			save_redo_rate();
			saved_us = now_us;
		}
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		nap(SAMPLE_INTERVAL_MS);
	}
	save_redo_rate();
}

void
sluice_redo_rate_main(Datum main_arg)
{
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();

	if (RecoveryInProgress())
		follow_recovery();

	/* A worker that exits is not started again after a crash. */
	while (!ShutdownRequestPending)
		nap(0);
	proc_exit(0);
}

/* Called while shared_preload_libraries are loaded. */
void
redo_rate_register_worker(void)
{
	BackgroundWorker worker = {
		.bgw_name = "sluice redo rate",
		.bgw_type = "sluice redo rate",
		.bgw_library_name = "sluice",
		.bgw_function_name = "sluice_redo_rate_main",
		.bgw_flags = BGWORKER_SHMEM_ACCESS,
		.bgw_start_time = BgWorkerStart_PostmasterStart,
		.bgw_restart_time = RESTART_S,
	};

	RegisterBackgroundWorker(&worker);
}
