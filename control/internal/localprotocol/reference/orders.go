package reference

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"sluice.dev/control/internal/store"
)

// Set gives, renews or replaces a lease.
func (s *Store) Set(_ context.Context, order store.Order) (store.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.advance()
	if err := s.check(order, false); err != nil {
		return store.Lease{}, err
	}
	return s.give(order, now).visible(now), nil
}

func (s *Store) give(order store.Order, now time.Duration) *lease {
	all, given := s.leases.give(order, now)
	s.leases = all
	return given
}

// Clear ends leases before their time.
func (s *Store) Clear(_ context.Context, selection store.Selection) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
	if err := s.checkSelection(selection); err != nil {
		return 0, err
	}
	before := len(s.leases)
	s.leases = s.leases.clear(selection)
	return before - len(s.leases), nil
}

func (s *Store) checkSelection(selection store.Selection) error {
	if selection.Kind == "" {
		return selection.Validate()
	}
	if err := checkKind(selection.Kind); err != nil {
		return err
	}
	if err := s.checkScope(selection.Scope); err != nil {
		return err
	}
	return selection.Validate()
}

// minorShare is the part of a table's debt that a minor compaction takes.
const minorShare = 0.5

// Start starts the compaction of a table, or of the one with the most debt, whatever its debt and
// whether it was put off. Without a variant it takes all of the debt, as a major one does.
func (s *Store) Start(_ context.Context, order store.Order) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.advance()
	if err := s.check(order, true); err != nil {
		return err
	}
	chosen, err := s.choose(order)
	if err != nil {
		return err
	}
	if order.Setting != (store.Setting{}) {
		s.give(order, now)
	}
	s.enqueue(chosen)
	s.run(chosen)
	chosen.task.variant = order.Variant
	if order.Variant == store.Minor {
		chosen.task.allBytes = math.Max(1, chosen.task.allBytes*minorShare)
	}
	return nil
}

// Abort ends a compaction at once. The debt is there again, and soon queued again if it is over the
// trigger.
func (s *Store) Abort(_ context.Context, abortion store.Abortion) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
	if err := checkKind(abortion.Kind); err != nil {
		return err
	}
	if err := abortion.Validate(); err != nil {
		return err
	}
	for _, each := range s.tables {
		if each.task != nil && each.task.id == abortion.Task {
			s.abort(each)
			return nil
		}
	}
	return store.Errorf(store.CodeNotFound, "there is no compaction %q, or it has ended", abortion.Task).
		WithHint("The snapshot lists those that there are.")
}

// check refuses what this store cannot do, before anything changes.
func (s *Store) check(order store.Order, starts bool) error {
	if err := s.checkCapability(order, starts); err != nil {
		return err
	}
	if err := s.checkScope(order.Scope); err != nil {
		return err
	}
	if err := order.Validate(starts); err != nil {
		return err
	}
	if order.TimeToLive > s.config.MaxTimeToLive {
		return store.Invalidf("the time to live of %v is over the %v that are allowed",
			order.TimeToLive, s.config.MaxTimeToLive).WithHint("Ask for less, and renew.")
	}
	if order.Setting == (store.Setting{}) {
		return nil
	}
	return s.checkSetting(order)
}

func (s *Store) checkCapability(order store.Order, starts bool) error {
	if err := checkKind(order.Kind); err != nil {
		return err
	}
	if order.Variant != "" && !slices.Contains(variants(), order.Variant) {
		return store.Errorf(store.CodeUnsupported, "there is no variant %q of compaction here", order.Variant).
			WithHint("Variants: %v.", variants())
	}
	if starts && order.Setting == (store.Setting{}) || slices.Contains(settings(), order.Setting.Name) {
		return nil
	}
	return store.Errorf(store.CodeUnsupported, "%q cannot be set here", order.Setting.Name).
		WithHint("Settings of compaction: %v.", settings())
}

func (s *Store) checkSetting(order store.Order) error {
	isConcurrency := order.Setting.Name == store.Concurrency
	switch {
	case isConcurrency && order.Setting.Number != math.Trunc(order.Setting.Number):
		return store.Invalidf("concurrency must be a whole number, not %v", order.Setting.Number)
	case isConcurrency && order.Scope != "":
		return store.Errorf(store.CodeUnsupported, "concurrency is that of the whole store").
			WithHint("Leave the scope empty.")
	case s.overLimit:
		return store.Errorf(store.CodeRefused, "the debt of %.0f bytes has reached the limit of %d: no orders until it is %.0f%% of that",
			s.debtBytes(), s.config.LimitBytes, 100*releaseShare).WithHint("Try again when compactions have caught up.")
	}
	return s.leases.conflict(order)
}

func checkKind(kind store.Kind) error {
	if kind == store.Compaction {
		return nil
	}
	return store.Errorf(store.CodeUnsupported, "there are no tasks of kind %q here", kind).
		WithHint("The only kind is %q.", store.Compaction)
}

func (s *Store) checkScope(scope string) error {
	if scope == "" || slices.Contains(s.config.Scopes, scope) {
		return nil
	}
	return store.Errorf(store.CodeNotFound, "there is no table %q", scope).
		WithHint("Tables: %q.", s.config.Scopes)
}

// choose finds the table that an order to start is about.
func (s *Store) choose(order store.Order) (*table, error) {
	if limit := s.concurrencyWith(order); s.running() >= limit {
		return nil, store.Errorf(store.CodeRefused, "%d compactions run already, of %d that may", s.running(), limit).
			WithHint("Wait for one to end, or allow more with concurrency.")
	}
	var chosen *table
	for _, each := range s.tables {
		wanted := order.Scope == "" || order.Scope == each.scope
		idle := each.task == nil || !each.task.occupiesSlot()
		if wanted && idle && each.debtBytes >= 1 && (chosen == nil || each.debtBytes > chosen.debtBytes) {
			chosen = each
		}
	}
	if chosen == nil {
		return nil, store.Errorf(store.CodeRefused, "there is nothing to compact that is not being compacted").
			WithHint("Debts and tasks are in the snapshot.")
	}
	return chosen, nil
}

// concurrencyWith is how many compactions may run once an order is in force.
func (s *Store) concurrencyWith(order store.Order) int {
	if order.Setting.Name == store.Concurrency {
		return slots(order.Setting)
	}
	return s.concurrency()
}

func (s *Store) enqueue(t *table) {
	if t.task != nil {
		return
	}
	s.created++
	t.task = &compaction{
		id: fmt.Sprintf("compaction-%d", s.created), scope: t.scope,
		state: store.Queued, createdAt: s.elapsed, allBytes: t.debtBytes,
	}
}

func (s *Store) run(t *table) {
	t.task.state, t.task.startedAt = store.Running, s.elapsed
	t.task.allBytes = t.debtBytes
}
