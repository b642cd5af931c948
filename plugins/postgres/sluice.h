/*-------------------------------------------------------------------------
 *
 * sluice.h
 *	  Settings of the extension.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SLUICE_H
#define SLUICE_H

extern PGDLLIMPORT int sluice_max_time_to_live_s;

#endif							/* SLUICE_H */
