/*-------------------------------------------------------------------------
 *
 * pace_mode.h
 *	  Names of the paces.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PACE_MODE_H
#define PACE_MODE_H

#include "checkpoint_pace.h"

extern const char *const pace_mode_names[];

extern PaceMode pace_mode_from_name(const char *name);

#endif							/* PACE_MODE_H */
