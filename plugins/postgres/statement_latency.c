/*-------------------------------------------------------------------------
 *
 * statement_latency.c
 *	  Finds the statements of clients among all that is executed.
 *
 * One statement is what the client sent as one: the plans that rewrite rules
 * made of it count once, and what functions, triggers and parallel workers
 * execute on its behalf does not count at all.  Of a portal that is read in
 * steps each step counts.  BEGIN and savepoint commands are not counted: they
 * do no work, but are so many that they would move percentiles.  Fast-path
 * function calls and commands of replication connections are not seen.
 *
 * What is called for every statement is pg_attribute_hot, here and in the
 * other files of statement latency, so that the linker puts it side by side,
 * on a page of its own.  It is few instructions; most of what they cost is
 * that they have to be brought to the processor.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/executor.h"
#include "nodes/execnodes.h"
#include "optimizer/planner.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/portal.h"

#include "statement_latency.h"
#include "statement_latency_transaction.h"

/* Release 18 dropped the argument execute_once. */
#if PG_VERSION_NUM >= 180000
#define EXECUTOR_RUN_PARAMETERS \
	QueryDesc *queryDesc, ScanDirection direction, uint64 count
#define EXECUTOR_RUN_ARGUMENTS queryDesc, direction, count
#else
#define EXECUTOR_RUN_PARAMETERS \
	QueryDesc *queryDesc, ScanDirection direction, uint64 count, bool execute_once
#define EXECUTOR_RUN_ARGUMENTS queryDesc, direction, count, execute_once
#endif

#define UTILITY_PARAMETERS \
	PlannedStmt *pstmt, const char *queryString, bool readOnlyTree, \
	ProcessUtilityContext context, ParamListInfo params, \
	QueryEnvironment *queryEnv, DestReceiver *dest, QueryCompletion *qc
#define UTILITY_ARGUMENTS \
	pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc

int			latency_nesting_level = 0;
int			latency_outermost_depth = 0;

static planner_hook_type prev_planner = NULL;
static ExecutorStart_hook_type prev_ExecutorStart = NULL;
static ExecutorRun_hook_type prev_ExecutorRun = NULL;
static ExecutorFinish_hook_type prev_ExecutorFinish = NULL;
static ProcessUtility_hook_type prev_ProcessUtility = NULL;

/*
 * Is this the (last) plan of what the client sent as one statement?
 *
 * At nesting level 0 there are also the queries of deferred triggers, and of
 * functions called while a message is parsed or bound; they have no portal, or
 * are executed while the pending statement's transaction ends.
 */
static pg_attribute_hot pg_attribute_aligned(4096)
bool
is_client_statement(PlannedStmt *plan)
{
	return latency_nesting_level == 0 && latency_is_measured() &&
		ActivePortal != NULL && ActivePortal->stmts != NIL &&
		llast(ActivePortal->stmts) == (void *) plan &&
		!latency_pending_is_ending();
}

static LatencyClass
class_of_utility(Node *statement)
{
	switch (nodeTag(statement))
	{
			/* These write, but are not logged by log_statement = mod. */
		case T_CheckPointStmt:
		case T_ReindexStmt:
		case T_VacuumStmt:
			return LATENCY_WRITE;

		case T_TransactionStmt:
			switch (((TransactionStmt *) statement)->kind)
			{
				case TRANS_STMT_PREPARE:
				case TRANS_STMT_COMMIT_PREPARED:
				case TRANS_STMT_ROLLBACK_PREPARED:
					return LATENCY_WRITE;
				default:
					return LATENCY_READ;
			}

		default:
			return GetCommandLogLevel(statement) <= LOGSTMT_MOD ?
				LATENCY_WRITE : LATENCY_READ;
	}
}

static pg_attribute_hot LatencyClass
class_of_statement(PlannedStmt *plan)
{
	/* Only rules on writing commands make several plans of a statement. */
	if (list_length(ActivePortal->stmts) > 1)
		return LATENCY_WRITE;

	if (plan->utilityStmt != NULL)
		return class_of_utility(plan->utilityStmt);

	if (plan->commandType != CMD_SELECT || plan->hasModifyingCTE ||
		plan->rowMarks != NIL)
		return LATENCY_WRITE;

	return LATENCY_READ;
}

static PlannedStmt *
plan_query(Query *parse, const char *query_string, int cursorOptions,
		   ParamListInfo boundParams)
{
	if (prev_planner)
		return prev_planner(parse, query_string, cursorOptions, boundParams);
	return standard_planner(parse, query_string, cursorOptions, boundParams);
}

static PlannedStmt *
latency_planner(Query *parse, const char *query_string, int cursorOptions,
				ParamListInfo boundParams)
{
	PlannedStmt *result;
	int			level;

	if (!latency_is_measured())
		return plan_query(parse, query_string, cursorOptions, boundParams);

	if (latency_nesting_level == 0)
		latency_note_planning();

	/* Planning may evaluate functions that execute queries. */
	level = latency_enter_call();
	result = plan_query(parse, query_string, cursorOptions, boundParams);
	latency_nesting_level = level;

	return result;
}

static pg_attribute_hot void
latency_ExecutorStart(QueryDesc *queryDesc, int eflags)
{
	if (is_client_statement(queryDesc->plannedstmt))
		latency_begin_statement(queryDesc, class_of_statement(queryDesc->plannedstmt));
	else if (latency_current_query == queryDesc)
		latency_current_query = NULL;	/* was closed unexecuted */

	if (prev_ExecutorStart)
		prev_ExecutorStart(queryDesc, eflags);
	else
		standard_ExecutorStart(queryDesc, eflags);
}

static void
run_executor(EXECUTOR_RUN_PARAMETERS)
{
	if (prev_ExecutorRun)
		prev_ExecutorRun(EXECUTOR_RUN_ARGUMENTS);
	else
		standard_ExecutorRun(EXECUTOR_RUN_ARGUMENTS);
}

/*
 * With the extended protocol, a SELECT's executor is shut down only when its
 * portal is, perhaps with the next statement.  So a SELECT ends here.
 */
static pg_attribute_hot void
latency_ExecutorRun(EXECUTOR_RUN_PARAMETERS)
{
	bool		is_select;
	int			level;

	if (!latency_is_measured())
	{
		run_executor(EXECUTOR_RUN_ARGUMENTS);
		return;
	}

	/* It is asked for more rows, or portals take turns. */
	if (latency_current_query != queryDesc &&
		is_client_statement(queryDesc->plannedstmt))
		latency_begin_statement(queryDesc,
								class_of_statement(queryDesc->plannedstmt));
	is_select = latency_current_query == queryDesc &&
		ActivePortal != NULL && ActivePortal->strategy == PORTAL_ONE_SELECT;

	level = latency_enter_call();
	run_executor(EXECUTOR_RUN_ARGUMENTS);
	latency_nesting_level = level;

	if (is_select)
		latency_end_statement();
}

static void
finish_executor(QueryDesc *queryDesc)
{
	if (prev_ExecutorFinish)
		prev_ExecutorFinish(queryDesc);
	else
		standard_ExecutorFinish(queryDesc);
}

/*
 * All but SELECT end here, after their AFTER triggers.  What is finished while
 * its portal is closed was not executed.
 */
static pg_attribute_hot void
latency_ExecutorFinish(QueryDesc *queryDesc)
{
	int			level;

	if (!latency_is_measured())
	{
		finish_executor(queryDesc);
		return;
	}

	level = latency_enter_call();
	finish_executor(queryDesc);
	latency_nesting_level = level;

	if (latency_current_query == queryDesc && ActivePortal != NULL)
		latency_end_statement();
}

static void
process_utility(UTILITY_PARAMETERS)
{
	if (prev_ProcessUtility)
		prev_ProcessUtility(UTILITY_ARGUMENTS);
	else
		standard_ProcessUtility(UTILITY_ARGUMENTS);
}

/* Here errors are caught: in an aborted transaction no callback tells of them. */
static void
latency_ProcessUtility(UTILITY_PARAMETERS)
{
	/* The statement may be freed with its transaction: copy what is needed. */
	Node	   *statement = pstmt->utilityStmt;
	bool		is_control = IsA(statement, TransactionStmt);
	TransactionStmt control = {0};
	bool		was_aborted = IsAbortedTransactionBlockState();
	bool		is_client = is_client_statement(pstmt);
	int			level;

	if (!latency_is_measured())
	{
		process_utility(UTILITY_ARGUMENTS);
		return;
	}

	if (is_control)
		control = *(TransactionStmt *) statement;
	if (is_client)
		latency_begin_statement(NULL, class_of_statement(pstmt));

	level = latency_enter_call();
	PG_TRY();
	{
		process_utility(UTILITY_ARGUMENTS);
	}
	PG_FINALLY();
	{
		latency_nesting_level = level;
	}
	PG_END_TRY();

	if (!is_client)
		return;
	if (is_control)
		latency_end_transaction_control(control.kind, control.chain, was_aborted);
	else
		latency_end_statement();
}

void
statement_latency_install_hooks(void)
{
	prev_planner = planner_hook;
	planner_hook = latency_planner;
	prev_ExecutorStart = ExecutorStart_hook;
	ExecutorStart_hook = latency_ExecutorStart;
	prev_ExecutorRun = ExecutorRun_hook;
	ExecutorRun_hook = latency_ExecutorRun;
	prev_ExecutorFinish = ExecutorFinish_hook;
	ExecutorFinish_hook = latency_ExecutorFinish;
	prev_ProcessUtility = ProcessUtility_hook;
	ProcessUtility_hook = latency_ProcessUtility;

	latency_register_callbacks();
}
