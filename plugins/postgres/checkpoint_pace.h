/*-------------------------------------------------------------------------
 *
 * checkpoint_pace.h
 *	  How long a checkpoint has to nap to keep an ordered pace.
 *
 * Arithmetic only: no clock, no shared memory, no server function, so that
 * the unit test can drive it with a clock of its own.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CHECKPOINT_PACE_H
#define CHECKPOINT_PACE_H

typedef enum PaceMode
{
	PACE_STOCK,					/* upstream's schedule */
	PACE_HOLD,					/* nothing is written or synced */
	PACE_RATE,					/* a fixed number of bytes per second */
	PACE_DURATION,				/* linear, done after a fixed time */
	PACE_FULL,					/* no nap at all */
	PACE_GLIDE,					/* after a lease: linear in time and in WAL */
} PaceMode;

#define NUM_ORDERED_PACE_MODES	(PACE_FULL + 1)

/* Answers of pace_nap_ms() besides a time */
#define NAP_NONE		0
#define NAP_STOCK		(-1)

/* How far a checkpoint has come. */
typedef struct PaceSample
{
	int64_t		now_us;			/* monotonic clock */
	int64_t		bytes_written;	/* by this checkpoint */
	double		fraction;		/* of its buffers processed, 0 to 1 */
	uint64_t	wal_position;	/* insert or replay position, bytes */
} PaceSample;

/* One stretch of a checkpoint under one pace. */
typedef struct PaceStretch
{
	PaceMode	mode;
	int64_t		rate_bytes_per_second;	/* RATE */
	int64_t		duration_us;	/* DURATION, GLIDE */
	uint64_t	wal_room_bytes; /* GLIDE: done when WAL has grown by this */
	PaceSample	start;
} PaceStretch;

extern int	pace_nap_ms(PaceStretch *stretch, const PaceSample *sample);
extern PaceStretch pace_glide(const PaceSample *start, int64_t time_room_us,
							  uint64_t wal_room_bytes);

#endif							/* CHECKPOINT_PACE_H */
