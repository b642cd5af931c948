package endtoend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/store/local"
	"sluice.dev/control/tests/process"
)

const (
	lookPeriod = 10 * time.Millisecond
	// rounding is more than a time loses as a JSON number.
	rounding = time.Microsecond
)

// end is when a lease ends unless it is renewed: not before one time, and not after the other. What lies
// between the two is how long the store took to answer.
type end struct{ earliest, latest time.Time }

// guard looks at the leases of a store all the time, from its first look on, when they must be there.
type guard struct {
	name   string
	driver *local.Driver
	// renewed is the owner of the lease that is renewed, constant that of one that is given once.
	renewed, constant string

	mutex   sync.Mutex
	ends    map[string]end
	looks   int
	problem error
}

// startGuard guards a store until the test ends.
func startGuard(t *testing.T, n *node, renewed, constant string) *guard {
	t.Helper()
	g := &guard{name: n.name, driver: n.open(), renewed: renewed, constant: constant, ends: make(map[string]end)}
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		g.run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-stopped
	})
	return g
}

// run looks until the context ends or something is wrong.
func (g *guard) run(ctx context.Context) {
	ticker := time.NewTicker(lookPeriod)
	defer ticker.Stop()
	for {
		problem := g.look(ctx)
		if ctx.Err() != nil {
			return
		}
		if problem != nil {
			g.mutex.Lock()
			g.problem = fmt.Errorf("the store of %s: %w", g.name, problem)
			g.mutex.Unlock()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (g *guard) look(ctx context.Context) error {
	before := time.Now()
	snapshot, err := g.driver.Snapshot(ctx)
	if err != nil {
		return err
	}
	after := time.Now()
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.looks++
	for _, owner := range []string{g.renewed, g.constant} {
		lease, err := leaseOf(snapshot, owner)
		if err != nil {
			return fmt.Errorf("%w of %s", err, owner)
		}
		seen := end{before.Add(lease.TimeLeft - rounding), after.Add(lease.TimeLeft + rounding)}
		if err := g.note(owner, seen, after); err != nil {
			return fmt.Errorf("%s: %w", describeLease(lease), err)
		}
	}
	return nil
}

// note compares the end of a lease with what was seen before. A lease that was seen cannot have been gone
// since, if it could not have ended by now.
func (g *guard) note(owner string, seen end, now time.Time) error {
	last, known := g.ends[owner]
	g.ends[owner] = seen
	if !known {
		return nil
	}
	if now.After(last.earliest) {
		return errors.New("the machine was too slow to tell: the lease seen last may have ended since")
	}
	if owner == g.renewed {
		return nil
	}
	both := end{laterOf(last.earliest, seen.earliest), earlierOf(last.latest, seen.latest)}
	if both.earliest.After(both.latest) {
		return fmt.Errorf("its end has moved by %v, and nobody has renewed it", seen.latest.Sub(last.latest))
	}
	g.ends[owner] = both
	return nil
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlierOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func describeLease(lease store.Lease) string {
	return fmt.Sprintf("the lease %v of %s", lease.Setting, lease.Owner)
}

// state is what was seen last of the lease that is renewed.
func (g *guard) state() (end, int, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.ends[g.renewed], g.looks, g.problem
}

// waitForRenewal waits until the lease was renewed after this call.
func (g *guard) waitForRenewal(t *testing.T) {
	t.Helper()
	before, _, _ := g.state()
	process.Eventually(t, func() error {
		seen, _, problem := g.state()
		if problem != nil {
			t.Fatal(problem)
		}
		if !seen.earliest.After(before.latest) {
			return fmt.Errorf("the lease on the store of %s is not renewed", g.name)
		}
		return nil
	})
}

// A guard that sees nothing proves nothing.
func TestGuardTellsWhatIsWrong(t *testing.T) {
	start := time.Now()
	after := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	tests := map[string]struct {
		owner string
		now   float64
		seen  end
		want  string
	}{
		"renewed":                           {policyOwner, 1, end{after(21), after(21.1)}, ""},
		"seen too late":                     {policyOwner, 20.05, end{after(40), after(40.1)}, "too slow to tell"},
		"the same end":                      {operatorOwner, 1, end{after(20.05), after(20.2)}, ""},
		"an earlier end":                    {operatorOwner, 1, end{after(18), after(18.1)}, "moved by -2s"},
		"a later end that nobody asked for": {operatorOwner, 1, end{after(22), after(22.1)}, "moved by 2s"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := &guard{renewed: policyOwner, constant: operatorOwner, ends: make(map[string]end)}
			if err := g.note(test.owner, end{after(20), after(20.1)}, start); err != nil {
				t.Fatal(err)
			}
			err := g.note(test.owner, test.seen, after(test.now))
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error is %v, want one with %q", err, test.want)
			}
		})
	}
}
