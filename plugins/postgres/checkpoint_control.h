/*-------------------------------------------------------------------------
 *
 * checkpoint_control.h
 *	  Scheduling and pacing of checkpoints at the word of leases.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CHECKPOINT_CONTROL_H
#define CHECKPOINT_CONTROL_H

extern void checkpoint_control_install_hook(void);
extern void checkpoint_control_wake(void);

#endif							/* CHECKPOINT_CONTROL_H */
