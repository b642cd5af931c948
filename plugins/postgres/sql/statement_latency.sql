CREATE EXTENSION sluice;

-- Settings
SHOW sluice.statement_latency;
SHOW sluice.statement_latency_interval;
SELECT name, context, unit, min_val, max_val
FROM pg_settings WHERE name LIKE 'sluice.statement_latency%' ORDER BY name;

-- Let some intervals with statements of both classes close.
CREATE TABLE latency_target (i int);
INSERT INTO latency_target VALUES (1);
DO $$
BEGIN
    FOR attempt IN 1 .. 600 LOOP
        EXIT WHEN (SELECT count(*) = 2 FROM sluice.statement_latency_summary('60 s') WHERE count > 0);
        PERFORM pg_sleep(0.1);
    END LOOP;
END $$;

-- Every row is consistent in itself; without statements there is no latency.
SELECT class, bool_or(count > 0) AS has_statements
FROM sluice.statement_latency GROUP BY class ORDER BY class;
SELECT count(*) AS inconsistent FROM sluice.statement_latency
WHERE count > 0 AND NOT (
    0 <= p50_seconds AND p50_seconds <= p99_seconds AND p99_seconds <= p999_seconds
    AND p999_seconds <= max_seconds AND mean_seconds BETWEEN 0 AND max_seconds
    AND errors >= 0);
SELECT count(*) AS inconsistent FROM sluice.statement_latency
WHERE (count = 0) IS DISTINCT FROM (max_seconds IS NULL);

-- Intervals are whole, without gaps, and closed; both classes have a row.
SELECT count(*) AS misplaced FROM sluice.statement_latency
WHERE interval_start <> date_trunc('second', interval_start)
   OR interval_start + interval '1 second' > clock_timestamp();
SELECT count(*) AS gaps FROM (
    SELECT interval_start - lag(interval_start) OVER (PARTITION BY class ORDER BY interval_start) AS step
    FROM sluice.statement_latency) steps
WHERE step <> interval '1 second';
SELECT DISTINCT array_agg(class ORDER BY class) AS classes
FROM sluice.statement_latency GROUP BY interval_start;
SELECT count(*) FROM sluice.statement_latency_intervals(1);

-- Buckets: disjoint, at most 1/32 wide or 1 us, and as many as the summary says.
SELECT count(*) AS too_wide FROM sluice.statement_latency_buckets('60 s')
WHERE upper_seconds - lower_seconds > greatest(lower_seconds / 32, 1e-6) + 1e-9
   OR count <= 0;
SELECT count(*) AS overlapping FROM (
    SELECT lower_seconds < lag(upper_seconds) OVER (PARTITION BY class ORDER BY lower_seconds) AS is_overlapping
    FROM sluice.statement_latency_buckets('60 s')) buckets
WHERE is_overlapping;
SELECT covered_seconds BETWEEN 1 AND 60 AS covered
FROM sluice.statement_latency_summary('1 minute');
SELECT DISTINCT covered_seconds FROM sluice.statement_latency_summary('1 microsecond');

-- Bad arguments
SELECT * FROM sluice.statement_latency_intervals(0);
SELECT * FROM sluice.statement_latency_intervals(-2147483648);
SELECT * FROM sluice.statement_latency_intervals(61);
SELECT * FROM sluice.statement_latency_intervals(NULL);
SELECT * FROM sluice.statement_latency_summary(NULL);
SELECT * FROM sluice.statement_latency_summary('0');
SELECT * FROM sluice.statement_latency_summary('-1 s');
SELECT * FROM sluice.statement_latency_summary('60.000001 s');
SELECT * FROM sluice.statement_latency_summary('178000000 years');
SELECT * FROM sluice.statement_latency_summary('infinity');
SELECT * FROM sluice.statement_latency_summary('-infinity');
SELECT * FROM sluice.statement_latency_buckets('-178000000 years');
SELECT * FROM sluice.statement_latency_buckets(NULL);
SET sluice.statement_latency_interval = '1 s';

-- Only members of pg_monitor can read, and only superusers switch it off.
CREATE ROLE regress_latency_user;
CREATE ROLE regress_latency_monitor IN ROLE pg_monitor;
GRANT USAGE ON SCHEMA sluice TO regress_latency_user;
SET ROLE regress_latency_user;
SELECT count(*) FROM sluice.statement_latency;
SELECT count(*) FROM sluice.statement_latency_intervals();
SELECT count(*) FROM sluice.statement_latency_summary();
SELECT count(*) FROM sluice.statement_latency_buckets();
SET sluice.statement_latency = off;
SET ROLE regress_latency_monitor;
SELECT count(*) > 0 AS can_read FROM sluice.statement_latency;
SELECT count(*) > 0 AS can_read FROM sluice.statement_latency_intervals();
SELECT count(*) > 0 AS can_read FROM sluice.statement_latency_summary();
SELECT count(*) >= 0 AS can_read FROM sluice.statement_latency_buckets();
SET sluice.statement_latency = off;
RESET ROLE;

DROP TABLE latency_target;
REVOKE USAGE ON SCHEMA sluice FROM regress_latency_user;
DROP ROLE regress_latency_user, regress_latency_monitor;
DROP EXTENSION sluice;
