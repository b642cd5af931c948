package controller

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/store"
)

func withEtcd(c *Config) {
	c.Coordination = &Coordination{Etcd{SessionTimeToLiveSeconds: defaultSessionTimeToLiveSeconds}}
}

func TestLeastTimeLeft(t *testing.T) {
	config := defaultConfig()
	if got := config.leastTimeLeft(); got != 3*time.Second {
		t.Errorf("without a standby a lease must have %v left, want 3 s", got)
	}
	withEtcd(&config)
	if got := config.leastTimeLeft(); got != 4*time.Second {
		t.Errorf("with a standby a lease must have %v left, want 4 s", got)
	}
}

// With a time to live of 10 s and 3 s that must be left, each lease is renewed once in 8 periods, and about
// as many in one period as in another.
func TestRenewalsAreSpreadOverThePeriods(t *testing.T) {
	const nodes, periods = 80, 8
	w := newWorld(t, func(c *Config) {
		c.LeaseTimeToLiveSeconds = 10
		c.Agents = nil
		for i := range nodes {
			name := "n" + string(rune('a'+i/26)) + string(rune('a'+i%26))
			c.Agents = append(c.Agents, Agent{name, name + ":7411"})
		}
	})
	w.step()
	for period := range 3 * periods {
		written := 0
		for _, decision := range w.step() {
			if decision.GetWasWritten() {
				written++
			}
		}
		if written != nodes/periods {
			t.Errorf("in period %d there were %d renewals, want %d", period, written, nodes/periods)
		}
	}
}

// A lease of the shortest time to live that is allowed is renewed in each period.
func TestShortLeasesAreRenewedEachPeriod(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.LeaseTimeToLiveSeconds = 3 })
	for range 6 {
		if decision := about(t, w.step(), "n1"); !decision.GetWasWritten() {
			t.Errorf("the lease was not renewed: %v", decision)
		}
	}
}

// Whenever renewals are lost, but never two in a row, and whenever the controller dies: the lease lasts
// until it has been renewed, or until another controller would have renewed it.
func TestOneLostRenewalNeverEndsALease(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, func(c *Config) {
			withEtcd(c)
			c.LeaseTimeToLiveSeconds = rapid.Float64Range(4, 20).Draw(rt, "time to live")
		})
		failover := w.config.Coordination.Etcd.SessionTimeToLive() + 2*w.config.RequestTimeout()
		agent := w.agents["n1"]
		w.step()
		wasLost := false
		for range rapid.IntRange(1, 30).Draw(rt, "periods") {
			w.clock.advance(time.Second)
			if lease := agent.lease("main"); !wasLost && lease.TimeLeft < failover {
				rt.Fatalf("%v are left when a period begins, another controller needs %v", lease.TimeLeft, failover)
			}
			isLost := !wasLost && rapid.Bool().Draw(rt, "is lost")
			agent.failWrites = isLost
			w.clock.advance(-time.Second) // step advances it
			w.step()
			if agent.lease("main") == nil {
				rt.Fatal("the lease has ended")
			}
			wasLost = isLost
		}
	})
}

// What ended a lease before its time shows in the next snapshot, and the lease is given anew.
func TestLeaseThatIsGoneIsGivenAgain(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.LeaseTimeToLiveSeconds = 60 })
	w.step()
	w.agents["n1"].instances["main"].leases = nil
	if decision := about(t, w.step(), "n1"); !decision.GetWasWritten() {
		t.Errorf("the decision is %v", decision)
	}
	if lease := w.agents["n1"].lease("main"); lease == nil || lease.Setting.Name != store.RateBytesPerSecond {
		t.Errorf("the lease is %+v", lease)
	}
}
