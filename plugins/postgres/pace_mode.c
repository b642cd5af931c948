/*-------------------------------------------------------------------------
 *
 * pace_mode.c
 *	  Names of the paces.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pace_mode.h"

const char *const pace_mode_names[] = {
	[PACE_STOCK] = "stock",
	[PACE_HOLD] = "hold",
	[PACE_RATE] = "rate",
	[PACE_DURATION] = "duration",
	[PACE_FULL] = "full",
	[PACE_GLIDE] = "glide",
};

/* The pace of this name, if it can be ordered, else an error. */
PaceMode
pace_mode_from_name(const char *name)
{
	for (PaceMode mode = 0; mode < NUM_ORDERED_PACE_MODES; mode++)
	{
		if (strcmp(name, pace_mode_names[mode]) == 0)
			return mode;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown pace \"%s\"", name),
			 errhint("Use \"hold\", \"rate\", \"duration\", \"full\" or \"stock\".")));
	return PACE_STOCK;			/* not reached */
}
