/*-------------------------------------------------------------------------
 *
 * statement_latency.h
 *	  Latency of client statements, by interval, in shared memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef STATEMENT_LATENCY_H
#define STATEMENT_LATENCY_H

/* For _PG_init: sluice.statement_latency, sluice.statement_latency_interval. */
extern void statement_latency_define_settings(void);

/* For _PG_init, after the settings; only when preloaded by the postmaster. */
extern void statement_latency_install_hooks(void);

/* For shmem_request_hook: bytes of shared memory to ask for. */
extern Size statement_latency_shmem_size(void);

/* For shmem_startup_hook; the caller holds AddinShmemInitLock. */
extern void statement_latency_shmem_startup(void);

#endif							/* STATEMENT_LATENCY_H */
