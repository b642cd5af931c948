package contract

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice.dev/control/internal/localprotocol"
)

const (
	// expirySeconds is the time to live of the lease that is left to run out.
	expirySeconds = 1.0
	// expiryTolerance is how late a lease may end: what a plug-in needs that looks twice a second.
	expiryTolerance = 500 * time.Millisecond
	// roundingSeconds is how much more than it was given a lease may seem to have left.
	roundingSeconds = 0.001
	// pollPeriod is how often a snapshot is asked for while a lease runs out.
	pollPeriod = 20 * time.Millisecond
)

func orderChecks() []check {
	return []check{
		{"set", "Give the lease, answer with it as it is kept, and show it in the snapshot, whatever becomes of the connection.", checkSet},
		{"renew", "When an owner gives the same order again, keep one lease and let its time to live begin anew.", checkRenew},
		{"replace-own", "When an owner gives another setting of the same aspect, replace the lease.", checkReplaceOwn},
		{"conflict", "Refuse an order for what another owner has the lease on with -32002, and keep that lease.", checkConflict},
		{"take-over", "With replace, give the lease to the other owner.", checkTakeOver},
		{"clear", "End all leases of the owner, or those of one kind and scope, answer with their number, and leave those of others alone.", checkClear},
		{"start", "Start a task, or refuse with -32003 or -32004 and give no lease; answer -32001 where tasks of the kind cannot be started.", checkStart},
	}
}

// expiryCheck waits for a second, and so comes last.
func expiryCheck() check {
	return check{"expiry", "End a lease by itself when its time to live has passed by a monotonic clock: not before, and at most 500 ms after.", checkExpiry}
}

// alone ends what earlier checks may have left, and returns the orders to try.
func (s *subject) alone(ctx context.Context) (orders, error) {
	s.clearAll(ctx)
	given, err := s.mildOrders()
	if err != nil {
		return orders{}, err
	}
	left, err := s.leases(ctx)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("clear has left %d leases of its owner", len(left))
	}
	return given, err
}

// matches says how a lease differs from its order.
func (l lease) matches(order members) error {
	setting, _ := order["setting"].(members)
	scope, _ := order["scope"].(string)
	asked, _ := order["time_to_live_seconds"].(float64)
	switch {
	case order["kind"] != l.Kind || scope != l.Scope:
		return fmt.Errorf("the lease is on %s in %q, the order was for %v in %q", l.Kind, l.Scope, order["kind"], scope)
	case order["owner"] != l.Owner:
		return fmt.Errorf("the owner of the lease is %q, not %v", l.Owner, order["owner"])
	case fmt.Sprint(setting["name"]) != l.Setting["name"] || setting["number"] != l.Setting["number"]:
		return fmt.Errorf("the lease has the setting %v, not %v", l.Setting, setting)
	case l.TimeLeftSeconds <= 0 || l.TimeLeftSeconds > asked+roundingSeconds:
		return fmt.Errorf("the lease has %v s left, %v s were asked for", l.TimeLeftSeconds, asked)
	}
	return nil
}

// setAndSee gives an order and makes sure that it is the only lease in the snapshot.
func (s *subject) setAndSee(ctx context.Context, order members) error {
	given, err := s.set(ctx, order)
	if err != nil {
		return err
	}
	if err := given.matches(order); err != nil {
		return fmt.Errorf("in the answer: %w", err)
	}
	return s.seeOnly(ctx, order)
}

// seeOnly makes sure that the snapshot has the lease of one order and no other of the checks.
func (s *subject) seeOnly(ctx context.Context, order members) error {
	seen, err := s.leases(ctx)
	if err != nil {
		return err
	}
	if len(seen) != 1 {
		return fmt.Errorf("the snapshot has %d leases of these checks, not 1", len(seen))
	}
	if err := seen[0].matches(order); err != nil {
		return fmt.Errorf("in the snapshot: %w", err)
	}
	return nil
}

func checkSet(ctx context.Context, s *subject) error {
	given, err := s.alone(ctx)
	if err != nil {
		return err
	}
	if err := s.setAndSee(ctx, given.first); err != nil {
		return err
	}
	// The scope may be left out, and stands for all of the store then.
	return s.setAndSee(ctx, given.first.without("scope"))
}

func checkRenew(ctx context.Context, s *subject) error {
	given, err := s.alone(ctx)
	if err != nil {
		return err
	}
	long := min(orderSeconds, s.description.MaxTimeToLiveSeconds)
	for _, asked := range []float64{long / 2, long, long / 2} {
		order := given.first.with("time_to_live_seconds", asked)
		renewed, err := s.set(ctx, order)
		if err != nil {
			return err
		}
		if err := renewed.matches(order); err != nil {
			return err
		}
		if renewed.TimeLeftSeconds < asked-roundingSeconds {
			return fmt.Errorf("renewed for %v s, the lease has %v s left", asked, renewed.TimeLeftSeconds)
		}
		if err := s.seeOnly(ctx, order); err != nil {
			return err
		}
	}
	return nil
}

// two gives the first order, and skips the check where there is no second one.
func (s *subject) two(ctx context.Context) (orders, error) {
	given, err := s.alone(ctx)
	if err != nil {
		return orders{}, err
	}
	if given.second == nil {
		return orders{}, skipped("only one setting without a value is offered")
	}
	_, err = s.set(ctx, given.first)
	return given, err
}

func checkReplaceOwn(ctx context.Context, s *subject) error {
	given, err := s.two(ctx)
	if err != nil {
		return err
	}
	return s.setAndSee(ctx, given.second)
}

func checkConflict(ctx context.Context, s *subject) error {
	given, err := s.alone(ctx)
	if err != nil {
		return err
	}
	if _, err := s.set(ctx, given.first); err != nil {
		return err
	}
	for _, replace := range []members{{}, {"replace": false}} {
		order := given.first.with("owner", secondOwner)
		for name, value := range replace {
			order = order.with(name, value)
		}
		if err := s.callRefused(ctx, "set", order, localprotocol.NumberConflict); err != nil {
			return err
		}
	}
	return s.seeOnly(ctx, given.first)
}

func checkTakeOver(ctx context.Context, s *subject) error {
	given, err := s.alone(ctx)
	if err != nil {
		return err
	}
	if _, err := s.set(ctx, given.first); err != nil {
		return err
	}
	return s.setAndSee(ctx, given.first.with("owner", secondOwner).with("replace", true))
}

func checkClear(ctx context.Context, s *subject) error {
	given, err := s.alone(ctx)
	if err != nil {
		return err
	}
	kind := given.first["kind"]
	clearings := []struct {
		params  members
		cleared int
	}{
		{members{"owner": secondOwner}, 0},
		{members{"owner": secondOwner, "kind": kind}, 0},
		{members{"owner": firstOwner, "kind": kind, "scope": ""}, 1},
		{members{"owner": firstOwner}, 1},
		{members{"owner": firstOwner, "kind": kind}, 1},
	}
	for _, clearing := range clearings {
		if _, err := s.set(ctx, given.first); err != nil {
			return err
		}
		cleared, err := s.clear(ctx, clearing.params)
		if err != nil {
			return err
		}
		left, err := s.leases(ctx)
		if err != nil {
			return err
		}
		if cleared != clearing.cleared || len(left) != 1-clearing.cleared {
			return fmt.Errorf("of one lease of %q, clear with %v has ended %d, and %d are left: it must end %d",
				firstOwner, clearing.params, cleared, len(left), clearing.cleared)
		}
	}
	return nil
}

func checkExpiry(ctx context.Context, s *subject) error {
	given, err := s.alone(ctx)
	if err != nil {
		return err
	}
	asked := min(expirySeconds, s.description.MaxTimeToLiveSeconds)
	timeToLive := time.Duration(asked * float64(time.Second))
	earliest := time.Now().Add(timeToLive)
	if _, err := s.set(ctx, given.first.with("time_to_live_seconds", asked)); err != nil {
		return err
	}
	latest := time.Now().Add(timeToLive + expiryTolerance)
	ticker := time.NewTicker(pollPeriod)
	defer ticker.Stop()
	for {
		askedAt := time.Now()
		left, err := s.leases(ctx)
		switch seenAt := time.Now(); {
		case err != nil:
			return err
		case len(left) == 0 && seenAt.Before(earliest):
			return fmt.Errorf("a lease of %v ended %v too early", timeToLive, earliest.Sub(seenAt))
		case len(left) == 0:
			return nil
		case askedAt.After(latest):
			return fmt.Errorf("a lease of %v is still there %v later", timeToLive, timeToLive+askedAt.Sub(latest)+expiryTolerance)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

func checkStart(ctx context.Context, s *subject) error {
	if len(s.description.Capabilities) == 0 {
		return skipped("nothing can be ordered")
	}
	for _, capability := range s.description.Capabilities {
		order := members{"kind": capability.Kind, "owner": firstOwner, "time_to_live_seconds": 1.0}
		if capability.CanStart {
			continue
		}
		if err := s.callRefused(ctx, "start", order, localprotocol.NumberUnsupported); err != nil {
			return fmt.Errorf("%s cannot be started, says the description: %w", capability.Kind, err)
		}
	}
	given, err := s.alone(ctx)
	if err != nil {
		return err
	}
	if !s.canStart(given.first) {
		return nil
	}
	got, err := s.call(ctx, "start", given.first)
	if err != nil {
		return err
	}
	if got.failure == nil {
		return errors.Join(accepted(got, "start"), s.seeOnly(ctx, given.first))
	}
	if err := refused(got, localprotocol.NumberRefused, localprotocol.NumberNotFound); err != nil {
		return err
	}
	left, err := s.leases(ctx)
	if err == nil && len(left) > 0 {
		err = errors.New("the start was refused, but its lease given")
	}
	return err
}

func (s *subject) canStart(order members) bool {
	for _, capability := range s.description.Capabilities {
		if capability.Kind == order["kind"] {
			return capability.CanStart
		}
	}
	return false
}
