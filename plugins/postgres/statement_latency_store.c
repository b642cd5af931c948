/*-------------------------------------------------------------------------
 *
 * statement_latency_store.c
 *	  Shared-memory ring of latency histograms, one for each interval.
 *
 * An interval's number is the wall-clock time divided by the length of an
 * interval, and its slot in the ring that number modulo RING_SLOTS.  Nobody is
 * in charge of rotating the ring: who first records into an interval takes its
 * slot over from an older one by advancing the slot's generation, a single
 * compare-and-swap.  Counters are not cleared then.  Each carries, in its upper
 * half, the generation that it was last written in; a writer that finds an
 * older one starts the counter afresh, and a reader takes it for zero.  So
 * there is no moment at which writers have to wait, and a backend that slept
 * between looking up the slot and counting cannot disturb a later interval.
 *
 * Each slot is split into shards, chosen by backend, so that backends on many
 * cores seldom write to the same cache line.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "statement_latency.h"
#include "statement_latency_store.h"

#define RING_SLOTS	64
#define SHARDS		8

StaticAssertDecl(LATENCY_READABLE_INTERVALS + 1 < RING_SLOTS,
				 "a reader's oldest interval must not share a slot with the next one");

/* Words of two halves: generation, and a saturating value. */
#define TWO_HALVES(high, low)		(((uint64) (high) << 32) | (uint32) (low))
#define HIGH_HALF(word)		((uint32) ((word) >> 32))
#define LOW_HALF(word)		((uint32) (word))

typedef struct LatencyShard
{
	pg_atomic_uint64 max_microseconds;
	pg_atomic_uint64 errors;
	/* keeps the two off the cache lines of the shortest durations */
	char		pad[PG_CACHE_LINE_SIZE - 2 * sizeof(pg_atomic_uint64)];
	pg_atomic_uint64 counts[LATENCY_BUCKETS];
} LatencyShard;

StaticAssertDecl(sizeof(LatencyShard) % PG_CACHE_LINE_SIZE == 0,
				 "shards must not share cache lines");

typedef struct LatencySlot
{
	/* generation, and the lower half of the interval's number */
	pg_atomic_uint64 owner;
	char		pad[PG_CACHE_LINE_SIZE - sizeof(pg_atomic_uint64)];
	LatencyShard shards[SHARDS][LATENCY_CLASSES];
} LatencySlot;

typedef struct LatencyStore
{
	/* the interval in which the server started */
	pg_atomic_uint64 first_interval;
	char		pad[PG_CACHE_LINE_SIZE - sizeof(pg_atomic_uint64)];
	LatencySlot slots[RING_SLOTS];
} LatencyStore;

bool		statement_latency_enabled = true;
int			statement_latency_interval_ms = 1000;

static LatencyStore *store = NULL;

/* The slot that this backend found last, and the interval that it is for */
typedef struct RecentSlot
{
	LatencySlot *slot;
	uint32		generation;
	TimestampTz start;			/* inclusive */
	TimestampTz end;			/* exclusive */
} RecentSlot;

static RecentSlot recent;

void
statement_latency_define_settings(void)
{
	DefineCustomBoolVariable("sluice.statement_latency",
							 "Measures the latency of client statements.",
							 "See the view sluice.statement_latency. A role whose statements are not to be counted can have it switched off.",
							 &statement_latency_enabled,
							 true,
							 PGC_SUSET,
							 0,
							 NULL, NULL, NULL);

	/* All backends have to agree on the number of an interval. */
	DefineCustomIntVariable("sluice.statement_latency_interval",
							"Sets the length of the intervals that statement latency is measured in.",
							NULL,
							&statement_latency_interval_ms,
							1000,
							100, 10 * 60 * 1000,
							PGC_POSTMASTER,
							GUC_UNIT_MS,
							NULL, NULL, NULL);
}

Size
statement_latency_shmem_size(void)
{
	return sizeof(LatencyStore);
}

static void
init_shard(LatencyShard *shard)
{
	pg_atomic_init_u64(&shard->max_microseconds, 0);
	pg_atomic_init_u64(&shard->errors, 0);
	for (int i = 0; i < LATENCY_BUCKETS; i++)
		pg_atomic_init_u64(&shard->counts[i], 0);
}

static void
init_slot(LatencySlot *slot)
{
	pg_atomic_init_u64(&slot->owner, 0);
	for (int shard = 0; shard < SHARDS; shard++)
		for (int class = 0; class < LATENCY_CLASSES; class++)
			init_shard(&slot->shards[shard][class]);
}

void
statement_latency_shmem_startup(void)
{
	bool		found;

	store = ShmemInitStruct("sluice statement latency",
							sizeof(LatencyStore), &found);
	if (found)
		return;

	pg_atomic_init_u64(&store->first_interval,
					   latency_store_interval_at(GetCurrentTimestamp()));
	for (int i = 0; i < RING_SLOTS; i++)
		init_slot(&store->slots[i]);
}

bool
latency_store_attached(void)
{
	return store != NULL;
}

uint64
latency_store_interval_at(TimestampTz when)
{
	return (uint64) Max(when, 0) / (statement_latency_interval_ms * UINT64CONST(1000));
}

TimestampTz
latency_store_interval_start(uint64 interval)
{
	return (TimestampTz) (interval * statement_latency_interval_ms * UINT64CONST(1000));
}

uint64
latency_store_first_interval(void)
{
	return pg_atomic_read_u64(&store->first_interval);
}

/*
 * Take a slot over for an interval; returns its owner word, which is another's
 * if that one was faster.
 */
static uint64
take_slot(LatencySlot *slot, uint64 owner, uint64 interval)
{
	uint64		taken = TWO_HALVES(HIGH_HALF(owner) + 1, interval);

	/* Intervals before the first are not reported: the clock was set back. */
	if (interval < pg_atomic_read_u64(&store->first_interval))
		pg_atomic_write_u64(&store->first_interval, interval);

	if (pg_atomic_compare_exchange_u64(&slot->owner, &owner, taken))
		return taken;
	return owner;
}

/*
 * Have `recent` name the slot to record into, and the generation to record with.
 *
 * A slot that belongs to a later interval means either that this backend did
 * not run for a whole turn of the ring, or that the clock was set back.  A look
 * at the clock tells which: in the first case the record goes to the present
 * interval, in the second the slot is taken over like any other.
 */
static void
look_up_slot(TimestampTz when)
{
	uint64		interval = latency_store_interval_at(when);
	LatencySlot *slot = &store->slots[interval % RING_SLOTS];
	uint64		owner = pg_atomic_read_u64(&slot->owner);

	while (LOW_HALF(owner) != (uint32) interval)
	{
		bool		is_later = (int32) (LOW_HALF(owner) - (uint32) interval) > 0;
		uint64		present = interval;

		if (is_later)
			present = latency_store_interval_at(GetCurrentTimestamp());

		if (present == interval)
			owner = take_slot(slot, owner, interval);
		else
		{
			interval = present;
			slot = &store->slots[interval % RING_SLOTS];
			owner = pg_atomic_read_u64(&slot->owner);
		}
	}

	recent.slot = slot;
	recent.generation = HIGH_HALF(owner);
	recent.start = latency_store_interval_start(interval);
	recent.end = latency_store_interval_start(interval + 1);
}

/*
 * What was found last is good while its interval lasts.  If the clock was set,
 * the slot may be another interval's by now; the generation keeps this backend
 * from disturbing it.
 */
static pg_attribute_hot LatencySlot *
find_slot(TimestampTz when, uint32 *generation)
{
	if (when < recent.start || when >= recent.end)
		look_up_slot(when);

	*generation = recent.generation;
	return recent.slot;
}

/*
 * Replace the value of a word by update(value, argument), starting from 0 if
 * the word is of an older generation.  Does nothing if it is of a newer one:
 * the interval has left the ring.
 */
static inline void
update_word(pg_atomic_uint64 *word, uint32 generation,
			uint32 (*update) (uint32 value, uint32 argument), uint32 argument)
{
	uint64		old = pg_atomic_read_u64(word);

	for (;;)
	{
		int32		ahead = (int32) (HIGH_HALF(old) - generation);
		uint64		new;

		if (ahead > 0)
			return;
		new = TWO_HALVES(generation, update(ahead == 0 ? LOW_HALF(old) : 0, argument));

		if (new == old)
			return;
		if (pg_atomic_compare_exchange_u64(word, &old, new))
			return;
	}
}

static inline uint32
add_saturating(uint32 value, uint32 addend)
{
	return value > PG_UINT32_MAX - addend ? PG_UINT32_MAX : value + addend;
}

static inline uint32
maximum(uint32 value, uint32 other)
{
	return Max(value, other);
}

pg_attribute_hot void
latency_store_record(LatencyClass class, TimestampTz start, TimestampTz end)
{
	/* The clock may have been set back in between. */
	uint64		microseconds = end > start ? (uint64) (end - start) : 0;
	uint32		generation;
	LatencySlot *slot = find_slot(end, &generation);
	LatencyShard *shard = &slot->shards[MyProcNumber % SHARDS][class];

	/* The maximum first: a reader never sees a count above the maximum. */
	update_word(&shard->max_microseconds, generation, maximum,
				(uint32) Min(microseconds, LATENCY_MAX_MICROSECONDS));
	update_word(&shard->counts[latency_bucket(microseconds)], generation,
				add_saturating, 1);
}

void
latency_store_count_error(LatencyClass class, TimestampTz when)
{
	uint32		generation;
	LatencySlot *slot = find_slot(when, &generation);

	update_word(&slot->shards[MyProcNumber % SHARDS][class].errors, generation,
				add_saturating, 1);
}

static inline uint32
read_word(pg_atomic_uint64 *word, uint32 generation)
{
	uint64		current = pg_atomic_read_u64(word);

	return HIGH_HALF(current) == generation ? LOW_HALF(current) : 0;
}

/* Add what was recorded in an interval, nothing if its slot is another's. */
void
latency_store_add_interval(uint64 interval, LatencyClass class,
						   LatencyHistogram *histogram)
{
	LatencySlot *slot = &store->slots[interval % RING_SLOTS];
	uint64		owner = pg_atomic_read_u64(&slot->owner);
	uint32		generation = HIGH_HALF(owner);

	if (LOW_HALF(owner) != (uint32) interval)
		return;

	for (int i = 0; i < SHARDS; i++)
	{
		LatencyShard *shard = &slot->shards[i][class];
		uint32		shard_max;

		for (int bucket = 0; bucket < LATENCY_BUCKETS; bucket++)
			histogram->counts[bucket] += read_word(&shard->counts[bucket], generation);

		/* The maximum last, see latency_store_record(). */
		pg_read_barrier();
		shard_max = read_word(&shard->max_microseconds, generation);
		histogram->max_microseconds = Max(histogram->max_microseconds, shard_max);
		histogram->errors += read_word(&shard->errors, generation);
	}
}
