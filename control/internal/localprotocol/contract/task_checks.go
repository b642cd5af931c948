package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice.dev/control/internal/localprotocol"
	"sluice.dev/control/internal/store"
)

const (
	// ordersOfTasks is the minor version since which tasks are started with a variant, and aborted.
	ordersOfTasks = 1
	// maxTaskBytes bounds the id of a task that can be aborted.
	maxTaskBytes = 255
	// abortTime is how long a plug-in may take to end a task that was aborted.
	abortTime = 5 * time.Second
	// longestStart bounds how long a task that was started may take to be shown: the lease that holds it lasts a minute.
	longestStart = 20 * time.Second
)

func taskChecks() []check {
	return []check{
		{"variant", "Start each variant that is offered, or refuse with -32003 or -32004; refuse others with -32001, what is no word with -32602, and a variant of set with -32602.", since(ordersOfTasks, checkVariant)},
		{"abort-refused", "Refuse to abort a task that there is not with -32004, one of a kind without can_abort with -32001, and wrong params with -32602, and change nothing.", since(ordersOfTasks, refuses(wrongAborts))},
		{"abort", "End a task that is aborted within 5 s: show it as failed, or no more; keep the leases.", since(ordersOfTasks, checkAbort)},
	}
}

// since skips a check where the plug-in speaks a minor version before the one that the check is of.
func since(minor int, run func(context.Context, *subject) error) func(context.Context, *subject) error {
	return func(ctx context.Context, s *subject) error {
		own := s.description.ProtocolVersion
		if own.Minor < minor {
			return skipped(fmt.Sprintf("it is of version %d.%d, the plug-in speaks version %d.%d",
				own.Major, minor, own.Major, own.Minor))
		}
		return run(ctx, s)
	}
}

// checkTaskOrders looks at what a description offers of tasks.
func checkTaskOrders(offered capability, minor int) error {
	switch {
	case len(offered.Variants) > 0 && !offered.CanStart:
		return fmt.Errorf("%s has variants, but cannot be started", offered.Kind)
	case (len(offered.Variants) > 0 || offered.CanAbort) && minor < ordersOfTasks:
		return fmt.Errorf("%s has variants or can_abort, which are of minor version %d, but the plug-in says that it speaks %d",
			offered.Kind, ordersOfTasks, minor)
	}
	return nil
}

func (s *subject) canAbort(kind store.Kind) bool {
	return slices.ContainsFunc(s.description.Capabilities, func(c capability) bool { return c.Kind == kind && c.CanAbort })
}

func checkVariant(ctx context.Context, s *subject) error {
	given, err := s.alone(ctx)
	if err != nil {
		return err
	}
	if err := s.callRefused(ctx, "set", given.first.with("variant", "minor"), localprotocol.NumberInvalid); err != nil {
		return fmt.Errorf("set with a variant: %w", err)
	}
	for _, offered := range s.description.Capabilities {
		start := s.order(offered.Kind, store.Setting{}).without("setting")
		for _, variant := range []any{7, nil, "", "Major", strings.Repeat("x", 64)} {
			if err := s.callRefused(ctx, "start", start.with("variant", variant), localprotocol.NumberInvalid); err != nil {
				return fmt.Errorf("start of %s with the variant %v: %w", offered.Kind, variant, err)
			}
		}
		unknown := start.with("variant", "no-such-variant")
		if err := s.callRefused(ctx, "start", unknown, localprotocol.NumberUnsupported); err != nil {
			return fmt.Errorf("start of %s with a variant that is not offered: %w", offered.Kind, err)
		}
		for _, variant := range offered.Variants {
			if err := s.startOrRefuse(ctx, start.with("variant", variant)); err != nil {
				return fmt.Errorf("start of %s with the variant %q, which is offered: %w", offered.Kind, variant, err)
			}
		}
	}
	return nil
}

// startOrRefuse makes sure that a start is obeyed, or refused because there is nothing to do.
func (s *subject) startOrRefuse(ctx context.Context, order members) error {
	got, err := s.call(ctx, "start", order)
	if err != nil {
		return err
	}
	if got.failure == nil {
		return accepted(got, "start")
	}
	return refused(got, localprotocol.NumberRefused, localprotocol.NumberNotFound)
}

// noTask is the id of a task that no store has.
const noTask = "no such task: sluice contract"

func wrongAborts(s *subject, given orders) []attempt {
	good := members{"kind": given.first["kind"], "task": noTask, "owner": firstOwner}
	tried := []attempt{
		invalid("abort", members{}),
		invalid("abort", good.without("kind")),
		invalid("abort", good.without("task")),
		invalid("abort", good.without("owner")),
		invalid("abort", good.with("scope", "")),
		invalid("abort", good.with("kind", 7)),
		invalid("abort", good.with("task", 7)),
		invalid("abort", good.with("task", "")),
		invalid("abort", good.with("task", "a\nb")),
		invalid("abort", good.with("task", strings.Repeat("x", maxTaskBytes+1))),
		invalid("abort", good.with("owner", "")),
		{"abort", good.with("kind", "no-such-kind"), []localprotocol.Number{localprotocol.NumberUnsupported}},
	}
	for _, offered := range s.description.Capabilities {
		number := localprotocol.NumberUnsupported
		if offered.CanAbort {
			number = localprotocol.NumberNotFound
		}
		tried = append(tried, attempt{"abort", good.with("kind", offered.Kind), []localprotocol.Number{number}})
	}
	return tried
}

// checkAbort holds the tasks of a kind, so that they are there for as long as it needs one.
func checkAbort(ctx context.Context, s *subject) error {
	at := slices.IndexFunc(s.description.Capabilities, func(c capability) bool {
		return c.CanAbort && offers(c.Settings, store.Hold)
	})
	if at < 0 {
		return skipped("no kind is offered that can be aborted and held")
	}
	offered := s.description.Capabilities[at]
	if _, err := s.alone(ctx); err != nil {
		return err
	}
	hold := s.order(offered.Kind, store.Setting{Name: store.Hold})
	if err := s.setAndSee(ctx, hold); err != nil {
		return err
	}
	aborted, err := s.heldTask(ctx, offered, hold)
	if err != nil {
		return err
	}
	order := members{"kind": offered.Kind, "task": aborted.ID, "owner": secondOwner}
	if err := s.callAccepted(ctx, "abort", order, new(struct{})); err != nil {
		return fmt.Errorf("abort of task %q, which is %s: %w", aborted.ID, aborted.State, err)
	}
	isGone := func(found []task) bool { return !slices.ContainsFunc(found, aborted.isLive) }
	if _, err := s.awaitTasks(ctx, offered.Kind, abortTime, isGone); err != nil {
		return fmt.Errorf("task %q was aborted, but has not ended: %w", aborted.ID, err)
	}
	if err := s.callRefused(ctx, "abort", order, localprotocol.NumberNotFound); err != nil {
		return fmt.Errorf("abort of task %q, which has ended: %w", aborted.ID, err)
	}
	return s.seeOnly(ctx, hold)
}

// isLive says whether another one shown is this task, and has not ended.
func (t task) isLive(shown task) bool {
	return shown.ID == t.ID && shown.State != store.Failed && shown.State != store.Done
}

// canEnd says whether a store has to obey when it is told to abort the task: it need not have access to its queue.
func (t task) canEnd() bool {
	return t.isLive(t) && t.State != store.Queued
}

// heldTask is one that there is, or one that is started, which is no longer queued.
func (s *subject) heldTask(ctx context.Context, offered capability, hold members) (task, error) {
	if offered.CanStart {
		if err := s.startOrRefuse(ctx, hold); err != nil {
			return task{}, fmt.Errorf("start with hold: %w", err)
		}
	}
	isThere := func(found []task) bool {
		return slices.ContainsFunc(found, task.canEnd)
	}
	found, err := s.awaitTasks(ctx, offered.Kind, min(s.patience, longestStart), isThere)
	if errors.Is(err, errNoChange) {
		return task{}, skipped("there was nothing to start, and no task to abort that is not queued")
	}
	if err != nil {
		return task{}, err
	}
	return found[slices.IndexFunc(found, task.canEnd)], nil
}

var errNoChange = errors.New("in vain waited")

// awaitTasks looks at the tasks of a kind until they are as wanted, which they must be within a time.
func (s *subject) awaitTasks(ctx context.Context, kind store.Kind, within time.Duration, wanted func([]task) bool) ([]task, error) {
	ticker := time.NewTicker(pollPeriod)
	defer ticker.Stop()
	for latest := time.Now().Add(within); ; {
		isLast := time.Now().After(latest)
		var snapshot struct {
			Tasks []task `json:"tasks"`
		}
		if err := s.callAccepted(ctx, "snapshot", members{}, &snapshot); err != nil {
			return nil, err
		}
		found := slices.DeleteFunc(snapshot.Tasks, func(t task) bool { return t.Kind != kind })
		switch {
		case wanted(found):
			return found, nil
		case isLast:
			return nil, fmt.Errorf("%w for %v", errNoChange, within)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ticker.C:
		}
	}
}
