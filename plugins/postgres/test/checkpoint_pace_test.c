/*-------------------------------------------------------------------------
 *
 * checkpoint_pace_test.c
 *	  Drives the arithmetic of paces with a clock and a disk of its own.
 *
 * A simulated checkpoint writes pages without taking time, or with a given
 * time for each, and naps as it is told.  Prints TAP.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../checkpoint_pace.h"

#define PAGE_BYTES	8192
#define US_PER_S	INT64_C(1000000)

typedef struct Simulation
{
	int64_t		total_pages;
	int64_t		page_us;		/* time that a write takes */
	double		wal_bytes_per_us;
	int64_t		pages;
	PaceSample	sample;
} Simulation;

static int	ntests = 0;
static bool all_ok = true;

static void
check(bool ok, const char *what)
{
	printf("%sok %d - %s\n", ok ? "" : "not ", ++ntests, what);
	all_ok = all_ok && ok;
}

static void
pass_time(Simulation *sim, int64_t us)
{
	sim->sample.now_us += us;
	sim->sample.wal_position += (uint64_t) (us * sim->wal_bytes_per_us);
}

static void
write_page(Simulation *sim)
{
	pass_time(sim, sim->page_us);
	sim->pages++;
	sim->sample.bytes_written += PAGE_BYTES;
	sim->sample.fraction = (double) sim->pages / sim->total_pages;
}

/* Run until all is written or the time is over; returns the pages written. */
static int64_t
run(Simulation *sim, PaceStretch *stretch, int64_t until_us)
{
	int64_t		before = sim->pages;

	while (sim->pages < sim->total_pages && sim->sample.now_us < until_us)
	{
		int			nap_ms = pace_nap_ms(stretch, &sim->sample);

		if (nap_ms > 0)
			pass_time(sim, nap_ms * 1000);
		else
			write_page(sim);
	}
	return sim->pages - before;
}

static bool
near(double value, double expected, double relative_error)
{
	return fabs(value - expected) <= relative_error * expected;
}

static void
test_rate(int64_t rate, int64_t page_us, const char *what)
{
	Simulation	sim = {.total_pages = INT64_MAX / PAGE_BYTES,.page_us = page_us};
	PaceStretch stretch = {.mode = PACE_RATE,.rate_bytes_per_second = rate};

	run(&sim, &stretch, 5 * US_PER_S);
	check(near(sim.sample.bytes_written, 5.0 * rate, 0.02), what);
}

static void
test_rate_after_stall(void)
{
	Simulation	sim = {.total_pages = INT64_MAX / PAGE_BYTES};
	PaceStretch stretch = {.mode = PACE_RATE,.rate_bytes_per_second = 10000000};
	int64_t		burst;

	run(&sim, &stretch, US_PER_S);
	pass_time(&sim, 30 * US_PER_S);
	burst = run(&sim, &stretch, sim.sample.now_us + 1) * PAGE_BYTES;
	check(burst <= 10000000 / 4 + PAGE_BYTES, "a stall earns at most 250 ms of credit");
}

static void
test_duration(void)
{
	Simulation	sim = {.total_pages = 20000};
	PaceStretch stretch = {.mode = PACE_DURATION,.duration_us = 10 * US_PER_S};

	run(&sim, &stretch, 5 * US_PER_S);
	check(near(sim.pages, 10000, 0.02), "a duration is linear");
	run(&sim, &stretch, 60 * US_PER_S);
	check(near(sim.sample.now_us, 10 * US_PER_S, 0.01), "a duration ends in time");
}

static void
test_hold_and_full(void)
{
	Simulation	sim = {.total_pages = 1000};
	PaceStretch hold = {.mode = PACE_HOLD};
	PaceStretch full = {.mode = PACE_FULL};
	PaceStretch stock = {.mode = PACE_STOCK};

	check(run(&sim, &hold, 10 * US_PER_S) == 0, "a hold writes nothing");
	check(pace_nap_ms(&stock, &sim.sample) == NAP_STOCK, "stock is left to the server");
	run(&sim, &full, 20 * US_PER_S);
	check(sim.sample.now_us < 11 * US_PER_S, "full does not nap");
}

static void
test_glide_in_time(void)
{
	Simulation	sim = {.total_pages = 10000};
	PaceStretch glide;
	int64_t		start_us;
	int64_t		first;

	while (sim.pages < 2500)
		write_page(&sim);
	pass_time(&sim, 200 * US_PER_S);	/* as under a hold */
	glide = pace_glide(&sim.sample, 300 * US_PER_S, UINT64_C(1) << 40);
	start_us = sim.sample.now_us;
	first = run(&sim, &glide, start_us + 22 * US_PER_S + US_PER_S / 2);
	check(near(first, 750, 0.05), "a glide does not catch up");
	run(&sim, &glide, start_us + 1000 * US_PER_S);
	check(near(sim.sample.now_us - start_us, 225 * US_PER_S, 0.01),
		  "a glide takes the share of the time that its work has");
}

static void
test_glide_in_wal(void)
{
	Simulation	sim = {.total_pages = 10000,.wal_bytes_per_us = 10};
	PaceStretch glide = pace_glide(&sim.sample, 300 * US_PER_S, 100000000);

	run(&sim, &glide, 1000 * US_PER_S);
	check(sim.pages == 10000 && sim.sample.wal_position <= 95000000,
		  "a glide ends before the WAL bound");
	check(sim.sample.wal_position >= 80000000, "a glide uses the room up to the WAL bound");
}

static void
test_glide_without_room(void)
{
	Simulation	sim = {.total_pages = 10000};
	PaceStretch glide = pace_glide(&sim.sample, 300 * US_PER_S, 0);

	run(&sim, &glide, 1000 * US_PER_S);
	check(sim.sample.now_us == 0, "a glide without room does not nap");
}

int
main(void)
{
	test_rate(2000000, 0, "2 MB/s on an instant disk");
	test_rate(20000000, 0, "20 MB/s on an instant disk");
	test_rate(20000000, 300, "20 MB/s on a disk of 27 MB/s");
	test_rate(65536, 1000, "64 KiB/s");
	test_rate(INT64_C(2000000000), 1, "2 GB/s");
	test_rate_after_stall();
	test_duration();
	test_hold_and_full();
	test_glide_in_time();
	test_glide_in_wal();
	test_glide_without_room();
	printf("1..%d\n", ntests);
	return all_ok ? 0 : 1;
}
