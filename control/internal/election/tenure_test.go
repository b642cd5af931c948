package election

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

type fakeClock struct{ time time.Time }

func (c *fakeClock) now() time.Time          { return c.time }
func (c *fakeClock) advance(d time.Duration) { c.time = c.time.Add(d) }

func newTestTenure(clock *fakeClock) *tenure {
	return newTenure(clock.now, 2*time.Second, 500*time.Millisecond)
}

func TestTenureEndsByItsOwnClock(t *testing.T) {
	clock := &fakeClock{time: time.Unix(1000, 0)}
	tenure := newTestTenure(clock)
	tenure.renewed(clock.now())
	if tenure.state().Active {
		t.Fatal("active with a session, but without having been elected")
	}
	tenure.elect()

	steps := []struct {
		advance time.Duration
		active  bool
	}{
		{0, true}, {1499 * time.Millisecond, true}, {time.Millisecond, false}, {time.Hour, false},
	}
	for _, step := range steps {
		clock.advance(step.advance)
		if got := tenure.state().Active; got != step.active {
			t.Errorf("%v later: active is %v, want %v", step.advance, got, step.active)
		}
	}
}

func TestTenureCountsFromWhenTheRenewalWasSent(t *testing.T) {
	clock := &fakeClock{time: time.Unix(1000, 0)}
	tenure := newTestTenure(clock)
	tenure.renewed(clock.now())
	tenure.elect()

	clock.advance(time.Second)
	sentAt := clock.now()
	clock.advance(400 * time.Millisecond) // the answer takes its time
	tenure.renewed(sentAt)
	if got, want := tenure.left(), 1100*time.Millisecond; got != want {
		t.Errorf("left is %v, want %v", got, want)
	}
}

func TestTenureAfterItsEndNeedsAnotherElection(t *testing.T) {
	clock := &fakeClock{time: time.Unix(1000, 0)}
	tenure := newTestTenure(clock)
	tenure.renewed(clock.now())
	tenure.elect()
	tenure.follow("a")
	tenure.end(errors.New("etcd is gone"))

	if got, want := tenure.state(), (State{Problem: "etcd is gone"}); got != want {
		t.Errorf("state is %+v, want %+v", got, want)
	}
	tenure.renewed(clock.now())
	if got, want := tenure.state(), (State{}); got != want {
		t.Errorf("state after a new session is %+v, want %+v", got, want)
	}
}

// Between two elections another controller may have been the active one, and nobody here have looked.
func TestTenureTellsElectionsApart(t *testing.T) {
	clock := &fakeClock{time: time.Unix(1000, 0)}
	tenure := newTestTenure(clock)
	tenure.renewed(clock.now())
	tenure.elect()
	first := tenure.state().Term
	tenure.end(nil)
	tenure.renewed(clock.now())
	tenure.elect()
	if again := tenure.state().Term; again == first {
		t.Errorf("both elections have the term %d", first)
	}
}

func TestSessionIsOver(t *testing.T) {
	broken := errors.New("no connection")
	tests := []struct {
		name string
		err  error
		left time.Duration
		over bool
	}{
		{"renewed", nil, time.Second, false},
		{"renewed at the last moment", nil, 0, false},
		{"no answer, but time to try again", broken, time.Millisecond, false},
		{"no answer for too long", broken, 0, true},
		{"revoked at the server", fmt.Errorf("renew: %w", rpctypes.ErrLeaseNotFound), time.Second, true},
		{"key deleted", errKeyGone, time.Second, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := isOver(test.err, test.left); got != test.over {
				t.Errorf("over is %v, want %v", got, test.over)
			}
		})
	}
}

func TestTenureAnnouncesWithoutBlocking(t *testing.T) {
	tenure := newTestTenure(&fakeClock{time: time.Unix(1000, 0)})
	tenure.elect()
	tenure.follow("a")
	tenure.end(nil)
	select {
	case <-tenure.changed:
	default:
		t.Fatal("no notice of three changes")
	}
	select {
	case <-tenure.changed:
		t.Fatal("more than one notice is kept")
	default:
	}
}
