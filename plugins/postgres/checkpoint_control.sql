/* checkpoint_control.sql: orders to checkpoints, and what can be seen of them */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION sluice" to load this file. \quit

CREATE FUNCTION set_checkpoint_pace(
    mode text,
    owner text,
    time_to_live interval,
    rate_bytes_per_second bigint DEFAULT NULL,
    duration interval DEFAULT NULL,
    replace boolean DEFAULT false)
RETURNS bigint
AS 'MODULE_PATHNAME', 'sluice_set_checkpoint_pace'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION set_checkpoint_pace IS
'lease the pace of the running checkpoint, and of those that start while the lease lives: hold, rate, duration, full or stock';

CREATE FUNCTION set_sync_gap(
    gap interval,
    owner text,
    time_to_live interval,
    replace boolean DEFAULT false)
RETURNS bigint
AS 'MODULE_PATHNAME', 'sluice_set_sync_gap'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION set_sync_gap IS
'lease a time between the files that a checkpoint syncs';

CREATE FUNCTION defer_checkpoint(
    wal_bytes bigint,
    owner text,
    time_to_live interval,
    replace boolean DEFAULT false)
RETURNS bigint
AS 'MODULE_PATHNAME', 'sluice_defer_checkpoint'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION defer_checkpoint IS
'put off the next checkpoint that is due by time or WAL, up to a WAL distance';

CREATE FUNCTION start_checkpoint(
    owner text,
    time_to_live interval,
    rate_bytes_per_second bigint DEFAULT NULL,
    duration interval DEFAULT NULL,
    replace boolean DEFAULT false)
RETURNS bigint
AS 'MODULE_PATHNAME', 'sluice_start_checkpoint'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION start_checkpoint IS
'start a checkpoint now, with a rate or a duration';

CREATE FUNCTION request_checkpoint()
RETURNS void
AS 'MODULE_PATHNAME', 'sluice_request_checkpoint'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION request_checkpoint IS
'start a checkpoint now, without a lease: at the pace that would hold for one that the server starts';

CREATE FUNCTION clear_lease(lease_id bigint)
RETURNS boolean
AS 'MODULE_PATHNAME', 'sluice_clear_lease'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION clear_lease IS
'end a lease before its time; false if it has ended already';

CREATE FUNCTION clear_leases(owner text)
RETURNS integer
AS 'MODULE_PATHNAME', 'sluice_clear_leases'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION clear_leases IS
'end all leases of an owner before their time; returns how many there were';

CREATE FUNCTION get_leases(
    OUT lease_id bigint,
    OUT kind text,
    OUT mode text,
    OUT rate_bytes_per_second bigint,
    OUT duration interval,
    OUT sync_gap interval,
    OUT wal_bytes bigint,
    OUT owner text,
    OUT granted_at timestamptz,
    OUT expires_at timestamptz,
    OUT time_left interval)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sluice_leases'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE VIEW leases AS SELECT * FROM get_leases();
COMMENT ON VIEW leases IS 'the orders in force';

CREATE FUNCTION get_lease_ends(OUT ended_by text, OUT leases bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sluice_lease_ends'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE VIEW lease_ends AS SELECT * FROM get_lease_ends();
COMMENT ON VIEW lease_ends IS 'how many orders have ended in each way since the server started';

CREATE FUNCTION get_checkpoint_progress(
    OUT state text,
    OUT kind text,
    OUT phase text,
    OUT pace text,
    OUT started_at timestamptz,
    OUT elapsed_seconds double precision,
    OUT throttled_seconds double precision,
    OUT buffers_done bigint,
    OUT buffers_total bigint,
    OUT bytes_written bigint,
    OUT rate_bytes_per_second double precision,
    OUT files_done bigint,
    OUT files_total bigint,
    OUT write_seconds_left double precision,
    OUT wal_distance_bytes bigint,
    OUT wal_bound_bytes bigint,
    OUT wal_to_bound_bytes bigint,
    OUT wal_to_trigger_bytes bigint,
    OUT redo_bytes_per_second double precision,
    OUT estimated_redo_seconds double precision,
    OUT checkpoints_done bigint,
    OUT checkpoints_failed bigint,
    OUT deferrals bigint)
AS 'MODULE_PATHNAME', 'sluice_checkpoint_progress'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

CREATE VIEW checkpoint_progress AS SELECT * FROM get_checkpoint_progress();
COMMENT ON VIEW checkpoint_progress IS
'the running checkpoint or restartpoint, and the WAL that recovery would replay now';

REVOKE ALL ON FUNCTION
    set_checkpoint_pace, set_sync_gap, defer_checkpoint, start_checkpoint,
    request_checkpoint, clear_lease, clear_leases,
    get_leases, get_lease_ends, get_checkpoint_progress
FROM PUBLIC;

GRANT EXECUTE ON FUNCTION
    set_checkpoint_pace, set_sync_gap, defer_checkpoint, start_checkpoint,
    request_checkpoint, clear_lease, clear_leases,
    get_leases, get_lease_ends, get_checkpoint_progress
TO pg_checkpoint;

GRANT EXECUTE ON FUNCTION get_leases, get_lease_ends, get_checkpoint_progress TO pg_monitor;
GRANT SELECT ON leases, lease_ends, checkpoint_progress TO pg_monitor, pg_checkpoint;
GRANT USAGE ON SCHEMA @extschema@ TO pg_monitor, pg_checkpoint;
