package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"sluice.dev/control/internal/store"
)

// latencyIntervals is how many of the last intervals a snapshot has, of each class of statements: as
// many as somebody may have missed whose snapshots are still fresh enough to act on.
const latencyIntervals = 5

const (
	progressQuery = `
		SELECT state, kind, phase, elapsed_seconds, throttled_seconds, rate_bytes_per_second,
		       buffers_done, buffers_total, bytes_written, files_done, files_total, write_seconds_left,
		       wal_distance_bytes, wal_bound_bytes, wal_to_bound_bytes, wal_to_trigger_bytes,
		       redo_bytes_per_second, estimated_redo_seconds,
		       checkpoints_done, checkpoints_failed, deferrals,
		       current_setting('block_size')::int8 AS block_bytes,
		       pg_is_in_recovery() AS in_recovery
		FROM sluice.checkpoint_progress`

	leasesQuery = `
		SELECT lease_id, kind, mode, rate_bytes_per_second, wal_bytes, owner,
		       extract(epoch FROM duration)::float8 AS duration_seconds,
		       extract(epoch FROM sync_gap)::float8 AS sync_gap_seconds,
		       extract(epoch FROM time_left)::float8 AS seconds_left
		FROM sluice.leases ORDER BY lease_id`

	leaseEndsQuery = `SELECT ended_by, leases FROM sluice.lease_ends`

	// Ages are by the clock of the server, which also cut the intervals, read once for all of them.
	latencyQuery = `
		WITH setting AS MATERIALIZED (
		     SELECT current_setting('sluice.statement_latency_interval')::interval AS length, clock_timestamp() AS now)
		SELECT class, count, errors, mean_seconds, p50_seconds, p99_seconds, p999_seconds, max_seconds,
		       extract(epoch FROM length)::float8 AS interval_seconds,
		       extract(epoch FROM now - interval_start - length)::float8 AS age_seconds
		FROM sluice.statement_latency_intervals($1), setting
		ORDER BY interval_start, class`
)

// Snapshot reads the state of the server in one round trip.
func (d *Driver) Snapshot(ctx context.Context) (store.Snapshot, error) {
	takenAt := time.Now()
	var progress []progressRow
	var leases []leaseRow
	var ends []leaseEndRow
	var latencies []latencyRow
	batch := &pgx.Batch{}
	queueRows(batch, &progress, progressQuery)
	queueRows(batch, &leases, leasesQuery)
	queueRows(batch, &ends, leaseEndsQuery)
	queueRows(batch, &latencies, latencyQuery, latencyIntervals)
	if err := d.pool.SendBatch(ctx, batch).Close(); err != nil {
		return store.Snapshot{}, d.failure(err)
	}
	snapshot := store.Snapshot{TakenAt: takenAt, Figures: map[string]float64{}}
	for _, row := range progress {
		snapshot.Tasks = row.tasks()
		snapshot.Debts = []store.Debt{row.debt()}
		row.addFigures(snapshot.Figures)
	}
	for _, row := range leases {
		lease, err := row.lease()
		if err != nil {
			return store.Snapshot{}, err
		}
		snapshot.Leases = append(snapshot.Leases, lease)
	}
	for _, row := range ends {
		snapshot.Figures["leases_"+row.EndedBy+"_total"] = float64(row.Leases)
	}
	for _, row := range latencies {
		snapshot.Latencies = append(snapshot.Latencies, row.latency())
	}
	return snapshot, nil
}

// queueRows has a query answered into rows when the batch is closed.
func queueRows[T any](batch *pgx.Batch, rows *[]T, query string, arguments ...any) {
	batch.Queue(query, arguments...).Query(func(result pgx.Rows) error {
		collected, err := pgx.CollectRows(result, pgx.RowToStructByName[T])
		*rows = collected
		return err
	})
}
