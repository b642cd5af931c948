/*-------------------------------------------------------------------------
 *
 * redo_rate.h
 *	  How fast this server replays WAL, measured while it does.
 *
 *-------------------------------------------------------------------------
 */
#ifndef REDO_RATE_H
#define REDO_RATE_H

extern Size redo_rate_shmem_size(void);
extern void redo_rate_shmem_startup(void);
extern void redo_rate_register_worker(void);

/* 0 as long as no redo has been seen */
extern double redo_rate_bytes_per_second(void);

#endif							/* REDO_RATE_H */
