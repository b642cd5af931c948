package postgres

import (
	"context"
	"math"

	"github.com/jackc/pgx/v5"

	"sluice.dev/control/internal/store"
)

// Beyond every limit of the extension, which says what it is, but within the range of SQL's types.
const (
	tooManyBytes   = 9e18
	tooManySeconds = 1e9
)

const (
	paceQuery = `
		SELECT sluice.set_checkpoint_pace($1, $2, make_interval(secs => $3), $4, make_interval(secs => $5), $6)`
	syncGapQuery = `
		SELECT sluice.set_sync_gap(make_interval(secs => $1), $2, make_interval(secs => $3), $4)`
	deferralQuery = `
		SELECT sluice.defer_checkpoint($1, $2, make_interval(secs => $3), $4)`
	startQuery = `
		SELECT sluice.start_checkpoint($1, make_interval(secs => $2), $3, make_interval(secs => $4), $5)`
	// startPacedQuery starts a checkpoint with a pace that the extension does not start one with. The pace
	// comes first: a lease in force is renewed without a break, and haste is granted past the WAL bound.
	startPacedQuery = `
		SELECT sluice.set_checkpoint_pace($1, $2, make_interval(secs => $3), replace => $4), sluice.request_checkpoint()`
	clearQuery   = `SELECT sluice.clear_leases($1)`
	requestQuery = `SELECT sluice.request_checkpoint()`
)

// call is a call of a function of the extension that gives a lease.
type call struct {
	query     string
	arguments []any
}

// Set gives, renews or replaces a lease. The lease that it returns is read after it was given: what the
// extension has rounded is rounded there, too, rates to bytes and times to microseconds.
func (d *Driver) Set(ctx context.Context, order store.Order) (store.Lease, error) {
	if err := order.Validate(false); err != nil {
		return store.Lease{}, err
	}
	if err := validateTarget(order.Kind, order.Scope); err != nil {
		return store.Lease{}, err
	}
	grant, err := callToSet(order)
	if err != nil {
		return store.Lease{}, err
	}
	return d.grant(ctx, grant)
}

// Start starts a checkpoint, with any pace. While one is running, it is for the one after it, and the
// pace holds for both. Without a pace no lease begins or ends: a running checkpoint goes on as it did,
// and the new one has the pace of the lease in force, or the server's own.
func (d *Driver) Start(ctx context.Context, order store.Order) error {
	if err := order.Validate(true); err != nil {
		return err
	}
	if err := validateTarget(order.Kind, order.Scope); err != nil {
		return err
	}
	if order.Variant != "" {
		return store.Errorf(store.CodeUnsupported, "a checkpoint has no variant %q", order.Variant).
			WithHint("Start it without one.")
	}
	start, err := callToStart(order)
	if err != nil {
		return err
	}
	if _, err := d.pool.Exec(ctx, start.query, start.arguments...); err != nil {
		return d.failure(err)
	}
	return nil
}

// Abort refuses: what a checkpoint has written it cannot take back, and the server ends none.
func (d *Driver) Abort(_ context.Context, abortion store.Abortion) error {
	if err := abortion.Validate(); err != nil {
		return err
	}
	if err := validateTarget(abortion.Kind, ""); err != nil {
		return err
	}
	return store.Errorf(store.CodeUnsupported, "PostgreSQL cannot abort a checkpoint").
		WithHint("Set %s to pause it, or %s to put the next one off.", store.Hold, store.DeferUntilDebtBytes)
}

// Clear ends the leases of an owner before their time and returns how many there were.
func (d *Driver) Clear(ctx context.Context, selection store.Selection) (int, error) {
	if err := selection.Validate(); err != nil {
		return 0, err
	}
	if selection.Kind != "" {
		if err := validateTarget(selection.Kind, selection.Scope); err != nil {
			return 0, err
		}
	}
	var cleared int
	if err := d.pool.QueryRow(ctx, clearQuery, selection.Owner).Scan(&cleared); err != nil {
		return 0, d.failure(err)
	}
	return cleared, nil
}

func validateTarget(kind store.Kind, scope string) error {
	if kind != store.Checkpoint {
		return store.Errorf(store.CodeUnsupported, "PostgreSQL has no tasks of the kind %q to order", kind).
			WithHint("Use the kind %q.", store.Checkpoint)
	}
	if scope != "" {
		return store.Errorf(store.CodeNotFound, "a checkpoint has no scope %q: it is of the whole server", scope).
			WithHint("Leave the scope empty.")
	}
	return nil
}

func callToSet(order store.Order) (call, error) {
	setting, owner, timeToLive := order.Setting, order.Owner, order.TimeToLive.Seconds()
	switch setting.Name {
	case store.Hold, store.Full, store.Stock:
		return call{paceQuery, []any{string(setting.Name), owner, timeToLive, nil, nil, order.Replace}}, nil
	case store.RateBytesPerSecond:
		return call{paceQuery, []any{"rate", owner, timeToLive, boundedBytes(setting), nil, order.Replace}}, nil
	case store.DurationSeconds:
		return call{paceQuery, []any{"duration", owner, timeToLive, nil, boundedSeconds(setting), order.Replace}}, nil
	case store.SyncGapSeconds:
		return call{syncGapQuery, []any{boundedSeconds(setting), owner, timeToLive, order.Replace}}, nil
	case store.DeferUntilDebtBytes:
		return call{deferralQuery, []any{boundedBytes(setting), owner, timeToLive, order.Replace}}, nil
	default:
		return call{}, store.Errorf(store.CodeUnsupported, "a checkpoint has no setting %q", setting.Name).
			WithHint("The description of the instance lists what can be set.")
	}
}

func callToStart(order store.Order) (call, error) {
	setting, owner, timeToLive := order.Setting, order.Owner, order.TimeToLive.Seconds()
	switch setting.Name {
	case "":
		return call{query: requestQuery}, nil
	case store.RateBytesPerSecond:
		return call{startQuery, []any{owner, timeToLive, boundedBytes(setting), nil, order.Replace}}, nil
	case store.DurationSeconds:
		return call{startQuery, []any{owner, timeToLive, nil, boundedSeconds(setting), order.Replace}}, nil
	case store.Hold, store.Full, store.Stock:
		return call{startPacedQuery, []any{string(setting.Name), owner, timeToLive, order.Replace}}, nil
	default:
		return call{}, store.Errorf(store.CodeUnsupported, "a checkpoint cannot be started with %q", setting.Name).
			WithHint("Start with a pace, such as %s, or with nothing.", store.RateBytesPerSecond)
	}
}

// boundedBytes is a value that the extension takes or refuses; SQL has whole bytes alone.
func boundedBytes(setting store.Setting) int64 {
	return int64(math.Round(min(setting.Number, tooManyBytes)))
}

func boundedSeconds(setting store.Setting) float64 {
	return min(setting.Number, tooManySeconds)
}

// grant gives a lease and reads it, in one round trip.
func (d *Driver) grant(ctx context.Context, grant call) (store.Lease, error) {
	var id int64
	var leases []leaseRow
	batch := &pgx.Batch{}
	batch.Queue(grant.query, grant.arguments...).QueryRow(func(row pgx.Row) error { return row.Scan(&id) })
	queueRows(batch, &leases, leasesQuery)
	if err := d.pool.SendBatch(ctx, batch).Close(); err != nil {
		return store.Lease{}, d.failure(err)
	}
	for _, lease := range leases {
		if lease.LeaseID == id {
			return lease.lease()
		}
	}
	return store.Lease{}, store.Errorf(store.CodeRefused, "the lease has ended as soon as it was given").
		WithHint("It expired, another owner replaced it, or WAL reached the bound; sluice.lease_ends counts which.")
}
