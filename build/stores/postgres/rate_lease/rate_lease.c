/*-------------------------------------------------------------------------
 *
 * rate_lease.c
 *	  Keeps up a lease on a checkpoint rate in every server that preloads it.
 *
 * For running upstream's test suites with an order in force: their servers
 * come and go, so the order has to come from within.  The worker is connected
 * to no database and needs no extension in one, as tests drop databases and
 * look at catalogs; it calls the SQL function by its C name.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

PG_MODULE_MAGIC;

/* Slow, as the suites leave few dirty buffers: some 12 of them per second. */
#define RATE_BYTES_PER_SECOND	INT64CONST(100000)
#define TIME_TO_LIVE_S			5
#define RENEWAL_MS				1000

PGDLLEXPORT void rate_lease_main(Datum main_arg);

/* Order the rate once; returns false if the order is refused. */
static bool
renew(PGFunction set_checkpoint_pace)
{
	LOCAL_FCINFO(call, 6);
	MemoryContext context = CurrentMemoryContext;
	Interval	time_to_live = {.time = TIME_TO_LIVE_S * USECS_PER_SEC};
	volatile bool granted = true;

	InitFunctionCallInfoData(*call, NULL, 6, InvalidOid, NULL, NULL);
	for (int i = 0; i < 6; i++)
		call->args[i].isnull = false;
	call->args[0].value = CStringGetTextDatum("rate");
	call->args[1].value = CStringGetTextDatum("rate_lease");
	call->args[2].value = IntervalPGetDatum(&time_to_live);
	call->args[3].value = Int64GetDatum(RATE_BYTES_PER_SECOND);
	call->args[4].isnull = true;
	call->args[5].value = BoolGetDatum(true);

	PG_TRY();
	{
		set_checkpoint_pace(call);
	}
	PG_CATCH();
	{
		/* The WAL bound may be reached: the next renewal comes after it. */
		MemoryContextSwitchTo(context);
		FlushErrorState();
		granted = false;
	}
	PG_END_TRY();
	return granted;
}

void
rate_lease_main(Datum main_arg)
{
	PGFunction	set_checkpoint_pace;
	bool		reported = false;

	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	set_checkpoint_pace = (PGFunction)
		load_external_function("sluice", "sluice_set_checkpoint_pace", true, NULL);

	for (;;)
	{
		bool		granted;

		StartTransactionCommand();
		granted = renew(set_checkpoint_pace);
		CommitTransactionCommand();
		if (granted && !reported)
			ereport(LOG, (errmsg("rate_lease: a lease on the checkpoint rate is in force")));
		reported |= granted;

		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 RENEWAL_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

void
_PG_init(void)
{
	BackgroundWorker worker = {
		.bgw_name = "rate lease",
		.bgw_type = "rate lease",
		.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
		.bgw_start_time = BgWorkerStart_ConsistentState,
		.bgw_restart_time = 1,
		.bgw_library_name = "rate_lease",
		.bgw_function_name = "rate_lease_main",
	};

	if (process_shared_preload_libraries_in_progress)
		RegisterBackgroundWorker(&worker);
}
