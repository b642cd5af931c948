CREATE EXTENSION sluice;
SHOW sluice.wal_bound;
SHOW sluice.max_time_to_live;

-- An order is a lease, listed until it ends.
SELECT sluice.set_checkpoint_pace('rate', 'alice', '1 minute', rate_bytes_per_second => 10000000) AS lease \gset
SELECT sluice.set_sync_gap('300 ms', 'alice', '1 minute') > :lease AS later;
SELECT sluice.defer_checkpoint(500000000, 'bob', '1 minute') > :lease AS later;
SELECT kind, mode, rate_bytes_per_second, duration, sync_gap, wal_bytes, owner,
       expires_at - granted_at = '1 minute' AS as_ordered,
       time_left BETWEEN '0 s' AND '1 minute' AS live
FROM sluice.leases ORDER BY lease_id;

-- The same order by the same owner renews the lease, another one replaces it.
SELECT sluice.set_checkpoint_pace('rate', 'alice', '2 minutes', rate_bytes_per_second => 10000000) = :lease AS renewed;
SELECT sluice.set_checkpoint_pace('duration', 'alice', '1 minute', duration => '10 s') > :lease AS replaced;
SELECT mode, rate_bytes_per_second, duration FROM sluice.leases WHERE kind = 'pace';

-- Another owner has to ask for it.
SELECT sluice.set_checkpoint_pace('hold', 'bob', '1 minute', replace => true) AS lease \gset
SELECT mode, owner FROM sluice.leases WHERE kind = 'pace';
\set VERBOSITY terse
DO $$
BEGIN
    PERFORM sluice.set_checkpoint_pace('full', 'alice', '1 minute');
EXCEPTION WHEN object_in_use THEN
    RAISE NOTICE '%', regexp_replace(SQLERRM, '[0-9.]+ s', 'N s');
END $$;
\set VERBOSITY default

-- Clearing is by id or by owner, and says whether there was anything to clear.
SELECT sluice.clear_lease(:lease);
SELECT sluice.clear_lease(:lease);
SELECT sluice.clear_leases('bob');
SELECT sluice.clear_leases('alice');
SELECT sluice.clear_leases('nobody');
SELECT count(*) FROM sluice.leases;
SELECT * FROM sluice.lease_ends WHERE leases > 0 ORDER BY ended_by;

-- Bad input is refused, and changes nothing.
SELECT sluice.set_checkpoint_pace('slow', 'alice', '1 s');
SELECT sluice.set_checkpoint_pace('glide', 'alice', '1 s');
SELECT sluice.set_checkpoint_pace(NULL, 'alice', '1 s');
SELECT sluice.set_checkpoint_pace('hold', NULL, '1 s');
SELECT sluice.set_checkpoint_pace('hold', '', '1 s');
SELECT sluice.set_checkpoint_pace('hold', repeat('x', 64), '1 s');
SELECT sluice.set_checkpoint_pace('hold', 'alice', NULL);
SELECT sluice.set_checkpoint_pace('hold', 'alice', '0');
SELECT sluice.set_checkpoint_pace('hold', 'alice', '-1 s');
SELECT sluice.set_checkpoint_pace('hold', 'alice', '601 s');
SELECT sluice.set_checkpoint_pace('hold', 'alice', '1 month');
SELECT sluice.set_checkpoint_pace('hold', 'alice', '1 month -30 days');
SELECT sluice.set_checkpoint_pace('hold', 'alice', 'infinity');
SELECT sluice.set_checkpoint_pace('hold', 'alice', '-infinity');
SELECT sluice.set_checkpoint_pace('hold', 'alice', '2147483647 days');
-- In microseconds, 329 s more than a negative multiple of 2^64.
SELECT sluice.set_checkpoint_pace('hold', 'alice', '-640511947 days');
SELECT sluice.set_checkpoint_pace('hold', 'alice', '1 s', rate_bytes_per_second => 1000000);
SELECT sluice.set_checkpoint_pace('hold', 'alice', '1 s', duration => '1 s');
SELECT sluice.set_checkpoint_pace('hold', 'alice', '1 s', replace => NULL);
SELECT sluice.set_checkpoint_pace('rate', 'alice', '1 s');
SELECT sluice.set_checkpoint_pace('rate', 'alice', '1 s', rate_bytes_per_second => 0);
SELECT sluice.set_checkpoint_pace('rate', 'alice', '1 s', rate_bytes_per_second => -1);
SELECT sluice.set_checkpoint_pace('rate', 'alice', '1 s', rate_bytes_per_second => 9223372036854775807);
SELECT sluice.set_checkpoint_pace('duration', 'alice', '1 s');
SELECT sluice.set_checkpoint_pace('duration', 'alice', '1 s', duration => '25 hours');
SELECT sluice.set_sync_gap('0', 'alice', '1 s');
SELECT sluice.set_sync_gap('61 s', 'alice', '1 s');
SELECT sluice.defer_checkpoint(0, 'alice', '1 s');
SELECT sluice.defer_checkpoint(9223372036854775807, 'alice', '1 s');
SELECT sluice.defer_checkpoint(NULL, 'alice', '1 s');
SELECT sluice.start_checkpoint('alice', '1 s');
SELECT sluice.start_checkpoint('alice', '1 s', rate_bytes_per_second => 1000000, duration => '1 s');
-- Without a lease: it starts one as the server does.
SELECT sluice.request_checkpoint();
CHECKPOINT;
SELECT sluice.clear_lease(NULL);
SELECT sluice.clear_leases(NULL);
SELECT count(*) FROM sluice.leases;
SET sluice.no_such_setting = 1;

-- Orders need pg_checkpoint, reading needs pg_monitor.
CREATE ROLE regress_sluice_public;
CREATE ROLE regress_sluice_monitor IN ROLE pg_monitor;
CREATE ROLE regress_sluice_checkpoint IN ROLE pg_checkpoint;
SET ROLE regress_sluice_public;
SELECT * FROM sluice.leases;
SELECT sluice.clear_leases('alice');
SET ROLE regress_sluice_monitor;
SELECT count(*) FROM sluice.leases;
SELECT state, checkpoints_failed FROM sluice.checkpoint_progress;
SELECT sluice.clear_leases('alice');
SET ROLE regress_sluice_checkpoint;
SELECT sluice.set_checkpoint_pace('full', 'carol', '1 minute') > 0 AS granted;
SELECT owner FROM sluice.leases;
SELECT sluice.clear_leases('carol');
RESET ROLE;
DROP ROLE regress_sluice_public, regress_sluice_monitor, regress_sluice_checkpoint;

-- Progress is one row, whether or not a checkpoint is running.
SELECT state, kind, phase, pace, buffers_done FROM sluice.checkpoint_progress;
SELECT wal_distance_bytes >= 0, wal_bound_bytes = 1024 * 1024::bigint * 1024,
       wal_to_bound_bytes = wal_bound_bytes - wal_distance_bytes
FROM sluice.checkpoint_progress;
DROP EXTENSION sluice;
