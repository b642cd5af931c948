/*-------------------------------------------------------------------------
 *
 * statement_latency_transaction.c
 *	  When a client's statement begins, and when its transaction lets it end.
 *
 * A client waits for the commit of its statement, not only for the executor.
 * That commit, with the flush of WAL and the wait for synchronous standbys
 * (both in RecordTransactionCommit, or EndPrepare), follows after all executor
 * and utility hooks.  So a statement that ends its transaction is kept pending
 * until the callback for XACT_EVENT_COMMIT or XACT_EVENT_PREPARE, which
 * CommitTransaction and PrepareTransaction call soon after.  The callback must
 * not raise errors: it is too late to abort.  What comes later still (release
 * of locks, unlinking of dropped files) is not measured.
 *
 * Which statement ends its transaction is not known when it is executed: in a
 * Query message of several statements, or a pipeline of the extended protocol,
 * another may follow in the same implicit transaction.  So outside of explicit
 * transaction blocks every statement is kept pending, and the next one, if it
 * comes first, settles it with the time at which its own execution ended or, in
 * a pipeline, at which the server had read the next message.
 *
 * The start is when the server had read the message.  Outside of transaction
 * blocks that is the message that started the transaction (Parse or Bind).  In
 * a block, with the extended protocol, it is Bind if planning or executor
 * startup happens there, else Execute; Parse may be long ago and is left out.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/ipc.h"
#include "tcop/pquery.h"
#include "utils/timestamp.h"

#include "statement_latency_transaction.h"

typedef enum PendingKind
{
	PENDING_NOTHING,
	PENDING_STATEMENT,			/* its transaction may end with it */
	PENDING_COMMIT,				/* COMMIT or PREPARE TRANSACTION */
	PENDING_ROLLBACK,
} PendingKind;

/* The statement being executed */
typedef struct CurrentStatement
{
	TimestampTz start;
	LatencyClass class;
	bool		had_xid;
	CommandId	command_id;
} CurrentStatement;

/* The statement that was executed, but whose transaction goes on */
typedef struct PendingStatement
{
	PendingKind kind;
	LatencyClass class;
	TimestampTz start;
	TimestampTz end;			/* of execution; 0 if not known */
	TimestampTz message;		/* when its last message had been read */
} PendingStatement;

QueryDesc  *latency_current_query = NULL;
static CurrentStatement current;
static PendingStatement pending;

/* Are we in a transaction block that was begun by a command? */
static bool in_explicit_block = false;

/* Has the present transaction not executed a statement yet? */
static bool first_in_transaction = true;

/* Has an error aborted the transaction, so that ROLLBACK has nothing to do? */
static bool transaction_failed = false;

/* Between ROLLBACK TO and the subtransaction that it starts anew */
static bool rolling_back_to_savepoint = false;

/* Message that was planned last, and for which an error was counted last */
static TimestampTz planned_message = 0;
static TimestampTz failed_message = 0;

/* End of the statement that was recorded last */
static TimestampTz last_end = 0;

/* Only with an xid does a commit flush WAL, or wait for standbys. */
static LatencyClass
class_of_transaction(LatencyClass class)
{
	return TransactionIdIsValid(GetTopTransactionIdIfAny()) ? LATENCY_WRITE : class;
}

static void
record(LatencyClass class, TimestampTz start, TimestampTz end)
{
	latency_store_record(class, start, end);
	last_end = end;
}

/* Another message came before the end of the pending statement's transaction. */
static void
settle_pending(TimestampTz next_message)
{
	if (pending.kind != PENDING_NOTHING)
		record(pending.class, pending.start,
			   pending.end != 0 ? pending.end : next_message);
	pending.kind = PENDING_NOTHING;
}

/*
 * Is the transaction of the pending statement ending right now?  If so, what
 * is executed (deferred triggers, holdable cursors) is part of that statement.
 */
pg_attribute_hot bool
latency_pending_is_ending(void)
{
	if (pending.kind == PENDING_NOTHING ||
		pending.message != GetCurrentStatementStartTimestamp())
		return false;

	/*
	 * An implicit block is closed before its transaction is committed, and
	 * cannot have savepoints: a subtransaction is a deferred trigger's.
	 */
	return pending.kind != PENDING_STATEMENT ||
		!IsTransactionBlock() || IsSubTransaction();
}

void
latency_note_planning(void)
{
	planned_message = GetCurrentStatementStartTimestamp();
}

/* The message to start from, unless it is the transaction's first. */
static TimestampTz
statement_message(bool is_planned)
{
	/* What was planned before the last statement was not executed. */
	if (is_planned && planned_message > Max(last_end, pending.message))
		return planned_message;
	return GetCurrentStatementStartTimestamp();
}

/* The query is NULL for utility statements, which are not planned. */
pg_attribute_hot void
latency_begin_statement(QueryDesc *query, LatencyClass class)
{
	TimestampTz start = statement_message(query != NULL);

	settle_pending(start);
	if (first_in_transaction && !IsTransactionBlock())
		start = GetCurrentTransactionStartTimestamp();

	latency_current_query = query;
	/* The statements of one Query message share its time. */
	current.start = Max(start, last_end);
	current.class = class;
	current.had_xid = TransactionIdIsValid(GetTopTransactionIdIfAny());
	current.command_id = GetCurrentCommandId(false);
	planned_message = 0;
	rolling_back_to_savepoint = false;
}

/*
 * The class that the statement turned out to have: a SELECT may call a function
 * that writes, which shows in the first xid or, after another statement took
 * that, in the command counter.
 */
static LatencyClass
class_of_current(void)
{
	if (current.class == LATENCY_READ &&
		((!current.had_xid && TransactionIdIsValid(GetTopTransactionIdIfAny())) ||
		 current.command_id != GetCurrentCommandId(false)))
		return LATENCY_WRITE;
	return current.class;
}

static void
forget_current(void)
{
	latency_current_query = NULL;
	current.class = LATENCY_READ;
	planned_message = 0;
}

static void
make_pending(PendingKind kind, TimestampTz end)
{
	pending.kind = kind;
	pending.class = class_of_current();
	pending.start = current.start;
	pending.end = end;
	pending.message = GetCurrentStatementStartTimestamp();
}

/*
 * The clock is read only if others of the same Query message may follow.  In a
 * pipeline, results are on their way only when the next message is read.
 */
pg_attribute_hot void
latency_end_statement(void)
{
	bool		in_block = IsTransactionBlock();

	first_in_transaction = false;
	transaction_failed = false;

	/* Blocks also end by errors, or while we are switched off. */
	if (!in_block)
		in_explicit_block = false;

	if (in_explicit_block)
		record(class_of_current(), current.start, GetCurrentTimestamp());
	else
		make_pending(PENDING_STATEMENT, in_block ? GetCurrentTimestamp() : 0);
	forget_current();
}

static void
end_transaction_end(TransactionStmtKind kind, bool chain, bool was_aborted)
{
	in_explicit_block = chain;
	first_in_transaction = true;

	if (was_aborted && transaction_failed)
	{
		/* No callback will come: the transaction ended with the error. */
		record(class_of_transaction(LATENCY_READ), current.start,
			   GetCurrentTimestamp());
	}
	else
	{
		/* COMMIT after the failure of a subtransaction rolls back, too. */
		make_pending(kind == TRANS_STMT_ROLLBACK || was_aborted ?
					 PENDING_ROLLBACK : PENDING_COMMIT, 0);
	}

	transaction_failed = false;
	forget_current();
}

/*
 * End of a transaction control command; was_aborted says whether it found the
 * transaction block in the aborted state.
 */
void
latency_end_transaction_control(TransactionStmtKind kind, bool chain,
								bool was_aborted)
{
	switch (kind)
	{
		case TRANS_STMT_BEGIN:
		case TRANS_STMT_START:
			in_explicit_block = true;
			break;
		case TRANS_STMT_SAVEPOINT:
		case TRANS_STMT_RELEASE:
			break;
		case TRANS_STMT_ROLLBACK_TO:
			rolling_back_to_savepoint = true;
			break;
		case TRANS_STMT_COMMIT:
		case TRANS_STMT_PREPARE:
		case TRANS_STMT_ROLLBACK:
			end_transaction_end(kind, chain, was_aborted);
			return;
		case TRANS_STMT_COMMIT_PREPARED:
		case TRANS_STMT_ROLLBACK_PREPARED:
			latency_end_statement();
			return;
	}

	first_in_transaction = false;
	transaction_failed = false;
	forget_current();
}

/*
 * Without an xid nothing was flushed or waited for, and the transaction's end
 * is now; pgstat_report_stat() takes the same reading of the clock for its own.
 */
static TimestampTz
commit_end(void)
{
	return TransactionIdIsValid(GetTopTransactionIdIfAny()) ?
		GetCurrentTimestamp() : GetCurrentTransactionStopTimestamp();
}

static void
transaction_committed(void)
{
	/* A procedure's or VACUUM's own commit: the statement goes on. */
	if (latency_nesting_level > 0)
	{
		current.class = class_of_transaction(current.class);
		return;
	}

	if (pending.kind != PENDING_NOTHING)
		record(class_of_transaction(pending.class), pending.start, commit_end());
	pending.kind = PENDING_NOTHING;
	first_in_transaction = true;
	forget_current();
}

static void
count_error(LatencyClass class)
{
	TimestampTz message = GetCurrentStatementStartTimestamp();

	/* One error can abort several levels of subtransactions. */
	if (!latency_is_measured() || message == failed_message)
		return;

	failed_message = message;
	latency_store_count_error(class, GetCurrentTimestamp());
}

/*
 * The transaction was aborted by an error, if not by ROLLBACK.  The pending
 * statement is the failed one if its commit failed, else the error is of one
 * that was to follow.
 */
static void
transaction_aborted(void)
{
	/* An error has left all calls, and its portal. */
	if (ActivePortal == NULL)
		latency_nesting_level = 0;

	/* ROLLBACK in a procedure, or a session terminated at work. */
	if (latency_nesting_level > 0)
	{
		if (proc_exit_inprogress)
			count_error(current.class);
		return;
	}

	if (pending.kind == PENDING_ROLLBACK)
		record(class_of_transaction(pending.class), pending.start,
			   GetCurrentTimestamp());
	else if (latency_pending_is_ending())
	{
		count_error(class_of_transaction(pending.class));
		in_explicit_block = false;
	}
	else
	{
		settle_pending(GetCurrentStatementStartTimestamp());
		/* A client that leaves in the middle of a transaction is no error. */
		if (!proc_exit_inprogress)
			count_error(current.class);
		transaction_failed = true;
	}

	pending.kind = PENDING_NOTHING;
	first_in_transaction = true;
	forget_current();
}

/* PRE events come before the flush, PARALLEL ones from workers. */
static pg_attribute_hot void
latency_xact_callback(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_PREPARE)
		transaction_committed();
	else if (event == XACT_EVENT_ABORT)
		transaction_aborted();
}

/* An error after SAVEPOINT aborts the subtransaction only. */
static void
latency_subxact_callback(SubXactEvent event, SubTransactionId mySubid,
						 SubTransactionId parentSubid, void *arg)
{
	/* An error that a function catches aborts a subtransaction of its own. */
	if (event == SUBXACT_EVENT_ABORT_SUB &&
		GetCurrentTransactionNestLevel() <= latency_outermost_depth)
		latency_nesting_level = 0;

	if (latency_nesting_level > 0 || proc_exit_inprogress)
		return;

	if (event == SUBXACT_EVENT_START_SUB)
		rolling_back_to_savepoint = false;
	else if (event == SUBXACT_EVENT_ABORT_SUB &&
			 !rolling_back_to_savepoint &&
			 !latency_pending_is_ending())
		count_error(current.class);
}

void
latency_register_callbacks(void)
{
	RegisterXactCallback(latency_xact_callback, NULL);
	RegisterSubXactCallback(latency_subxact_callback, NULL);
}
