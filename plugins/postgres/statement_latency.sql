-- Latency of client statements, by interval.

CREATE FUNCTION statement_latency_intervals(
    intervals integer DEFAULT 60,
    OUT interval_start timestamptz,
    OUT class text,
    OUT count bigint,
    OUT errors bigint,
    OUT mean_seconds double precision,
    OUT p50_seconds double precision,
    OUT p99_seconds double precision,
    OUT p999_seconds double precision,
    OUT max_seconds double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL SAFE ROWS 120;

COMMENT ON FUNCTION statement_latency_intervals IS
'latency of client statements in the last closed intervals, oldest first';

CREATE FUNCTION statement_latency_summary(
    lookback interval DEFAULT '10 s',
    OUT class text,
    OUT covered_seconds double precision,
    OUT count bigint,
    OUT errors bigint,
    OUT mean_seconds double precision,
    OUT p50_seconds double precision,
    OUT p99_seconds double precision,
    OUT p999_seconds double precision,
    OUT max_seconds double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL SAFE ROWS 2;

COMMENT ON FUNCTION statement_latency_summary IS
'latency of client statements in the last closed intervals together, from their merged buckets';

CREATE FUNCTION statement_latency_buckets(
    lookback interval DEFAULT '10 s',
    OUT class text,
    OUT lower_seconds double precision,
    OUT upper_seconds double precision,
    OUT count bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME'
LANGUAGE C VOLATILE PARALLEL SAFE ROWS 200;

COMMENT ON FUNCTION statement_latency_buckets IS
'histogram of the last closed intervals: statements of at least lower_seconds and less than upper_seconds; empty buckets are left out';

CREATE VIEW statement_latency AS
    SELECT * FROM statement_latency_intervals();

COMMENT ON VIEW statement_latency IS
'latency of client statements in the last 60 closed intervals';

REVOKE ALL ON FUNCTION statement_latency_intervals FROM PUBLIC;
REVOKE ALL ON FUNCTION statement_latency_summary FROM PUBLIC;
REVOKE ALL ON FUNCTION statement_latency_buckets FROM PUBLIC;

GRANT EXECUTE ON FUNCTION statement_latency_intervals TO pg_monitor;
GRANT EXECUTE ON FUNCTION statement_latency_summary TO pg_monitor;
GRANT EXECUTE ON FUNCTION statement_latency_buckets TO pg_monitor;
GRANT SELECT ON statement_latency TO pg_monitor;
