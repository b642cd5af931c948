/*-------------------------------------------------------------------------
 *
 * statement_latency_transaction.h
 *	  When a client's statement begins, and when its transaction lets it end.
 *
 *-------------------------------------------------------------------------
 */
#ifndef STATEMENT_LATENCY_TRANSACTION_H
#define STATEMENT_LATENCY_TRANSACTION_H

#include "access/xact.h"
#include "executor/execdesc.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"

#include "statement_latency_store.h"

/*
 * Planner, executor and utility calls that we are inside of, kept by the hooks
 * while statements are measured.  It is 0 when a transaction callback is called
 * for the client's own commit or error, and not for that of a procedure.
 *
 * Most hooks do not catch errors, for that would cost every statement.  After
 * one the level is too high: until the next hook outside returns, or, when no
 * such hook is left, until the callback for the abort.
 */
extern int	latency_nesting_level;

/* Depth of subtransactions where the outermost of those calls was made */
extern int	latency_outermost_depth;

/* The query of the statement being executed; NULL for utility statements */
extern QueryDesc *latency_current_query;

/* Background and parallel workers and walsenders serve no client statements. */
static inline bool
latency_is_measured(void)
{
	return statement_latency_enabled && MyBackendType == B_BACKEND;
}

/* Returns the level to set when the call has returned. */
static inline int
latency_enter_call(void)
{
	int			level = latency_nesting_level;

	if (level == 0)
		latency_outermost_depth = GetCurrentTransactionNestLevel();
	latency_nesting_level = level + 1;
	return level;
}

extern void latency_note_planning(void);
extern void latency_begin_statement(QueryDesc *query, LatencyClass class);
extern void latency_end_statement(void);
extern void latency_end_transaction_control(TransactionStmtKind kind, bool chain,
											bool was_aborted);
extern bool latency_pending_is_ending(void);
extern void latency_register_callbacks(void);

#endif							/* STATEMENT_LATENCY_TRANSACTION_H */
