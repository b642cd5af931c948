/*-------------------------------------------------------------------------
 *
 * statement_latency_transaction.h
 *	  When a client's statement begins, and when its transaction lets it end.
 *
 *-------------------------------------------------------------------------
 */
#ifndef STATEMENT_LATENCY_TRANSACTION_H
#define STATEMENT_LATENCY_TRANSACTION_H

#include "executor/execdesc.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"

#include "statement_latency_store.h"

/*
 * Planner, executor and utility calls that we are inside of, kept by the hooks
 * while statements are measured.  It is 0 when a transaction callback is called
 * for the client's own commit or error, and not for that of a procedure.
 */
extern int	latency_nesting_level;

/* Background and parallel workers and walsenders serve no client statements. */
static inline bool
latency_is_measured(void)
{
	return statement_latency_enabled && MyBackendType == B_BACKEND;
}

extern void latency_note_planning(void);
extern void latency_begin_statement(QueryDesc *query, LatencyClass class);
extern bool latency_is_current(QueryDesc *query);
extern void latency_end_statement(void);
extern void latency_end_transaction_control(TransactionStmtKind kind, bool chain,
											bool was_aborted);
extern bool latency_pending_is_ending(void);
extern void latency_register_callbacks(void);

#endif							/* STATEMENT_LATENCY_TRANSACTION_H */
