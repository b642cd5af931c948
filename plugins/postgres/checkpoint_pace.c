/*-------------------------------------------------------------------------
 *
 * checkpoint_pace.c
 *	  How long a checkpoint has to nap to keep an ordered pace.
 *
 *-------------------------------------------------------------------------
 */
#include <stdint.h>

#include "checkpoint_pace.h"

/* Shorter naps cost more in wakeups than they gain in smoothness. */
#define MIN_NAP_MS		10

/* As upstream's; the WAL bound is looked at once a nap. */
#define MAX_NAP_MS		100

/* The growth of WAL cannot be foreseen, so a glide looks at it this often. */
#define MAX_GLIDE_NAP_MS	50

/*
 * Time of which the bytes that could not be written, because a write blocked,
 * are made up for.  More would turn a slow device into a burst afterwards.
 */
#define MAX_CREDIT_US	INT64_C(250000)

#define US_PER_MS		INT64_C(1000)
#define US_PER_S		INT64_C(1000000)

/* Share of the WAL up to the bound that a glide leaves free. */
#define GLIDE_WAL_MARGIN	0.1

static int
clamp_nap_ms(double nap_us, int max_nap_ms)
{
	double		nap_ms = nap_us / US_PER_MS + 1;

	if (nap_ms < MIN_NAP_MS)
		return MIN_NAP_MS;
	if (nap_ms > max_nap_ms)
		return max_nap_ms;
	return (int) nap_ms;
}

static int
rate_nap_ms(PaceStretch *stretch, const PaceSample *sample)
{
	double		bytes_per_us = (double) stretch->rate_bytes_per_second / US_PER_S;
	int64_t		elapsed_us = sample->now_us - stretch->start.now_us;
	int64_t		bytes = sample->bytes_written - stretch->start.bytes_written;
	double		ahead_us = bytes / bytes_per_us - elapsed_us;

	if (ahead_us > 0)
		return clamp_nap_ms(ahead_us, MAX_NAP_MS);

	if (ahead_us < -MAX_CREDIT_US)
	{
		stretch->start = *sample;
		stretch->start.now_us -= MAX_CREDIT_US;
	}
	return NAP_NONE;
}

/* Part of the stretch's own work that is done, 0 to 1. */
static double
stretch_fraction(const PaceStretch *stretch, const PaceSample *sample)
{
	double		todo = 1.0 - stretch->start.fraction;

	if (todo <= 0.0)
		return 1.0;
	return (sample->fraction - stretch->start.fraction) / todo;
}

static int
duration_nap_ms(const PaceStretch *stretch, const PaceSample *sample)
{
	double		ahead_us = stretch_fraction(stretch, sample) * stretch->duration_us -
		(sample->now_us - stretch->start.now_us);

	return ahead_us > 0 ? clamp_nap_ms(ahead_us, MAX_NAP_MS) : NAP_NONE;
}

static int
glide_nap_ms(const PaceStretch *stretch, const PaceSample *sample)
{
	double		wal_grown = sample->wal_position - stretch->start.wal_position;
	double		done = stretch_fraction(stretch, sample);
	double		ahead_us = done * stretch->duration_us -
		(sample->now_us - stretch->start.now_us);

	if (ahead_us <= 0 || wal_grown >= done * stretch->wal_room_bytes)
		return NAP_NONE;
	return clamp_nap_ms(ahead_us, MAX_GLIDE_NAP_MS);
}

/*
 * Time in ms to nap before the next write, NAP_NONE, or NAP_STOCK.
 *
 * 'stretch' is changed only by PACE_RATE, which moves its start forward when
 * there is more unused credit than it may keep.
 */
int
pace_nap_ms(PaceStretch *stretch, const PaceSample *sample)
{
	switch (stretch->mode)
	{
		case PACE_HOLD:
			return MAX_NAP_MS;
		case PACE_RATE:
			return rate_nap_ms(stretch, sample);
		case PACE_DURATION:
			return duration_nap_ms(stretch, sample);
		case PACE_FULL:
			return NAP_NONE;
		case PACE_GLIDE:
			return glide_nap_ms(stretch, sample);
		case PACE_STOCK:
			break;
	}
	return NAP_STOCK;
}

/*
 * The stretch that follows a lease: spread what is left over the room that is
 * left in time and in WAL, whichever ends first.  Upstream's schedule counts
 * from the start of the checkpoint, and would catch up in one burst.
 */
PaceStretch
pace_glide(const PaceSample *start, int64_t time_room_us, uint64_t wal_room_bytes)
{
	PaceStretch stretch = {.mode = PACE_GLIDE,.start = *start};

	stretch.duration_us = (1.0 - start->fraction) * time_room_us;
	stretch.wal_room_bytes = (1.0 - GLIDE_WAL_MARGIN) * wal_room_bytes;
	return stretch;
}
