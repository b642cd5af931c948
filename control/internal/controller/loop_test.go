package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"sluice.dev/control/internal/election"
	"sluice.dev/control/internal/policy"
)

const testDeadline = 2 * time.Minute

// looping runs the loop of a world, whose ticks the test sends.
type looping struct {
	*world
	ticks   chan time.Time
	reloads chan loaded
	done    chan struct{}
}

func (w *world) start() *looping {
	l := &looping{world: w, ticks: make(chan time.Time, 1), reloads: make(chan loaded), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := func(time.Duration) (<-chan time.Time, func()) { return l.ticks, func() {} }
		w.loop(ctx, tick, l.reloads, func() { l.done <- struct{}{} })
	}()
	w.t.Cleanup(func() {
		cancel()
		<-ended
	})
	return l
}

func (l *looping) waitForPeriod() {
	l.t.Helper()
	select {
	case <-l.done:
	case <-time.After(testDeadline):
		l.t.Fatal("no period was run")
	}
}

func valueOf(t *testing.T, metric prometheus.Metric) float64 {
	t.Helper()
	var written dto.Metric
	if err := metric.Write(&written); err != nil {
		t.Fatal(err)
	}
	return written.GetCounter().GetValue() + written.GetGauge().GetValue()
}

func TestPeriodsThatOverrunAreSkipped(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Agents = c.Agents[:1] })
	l := w.start()
	w.agents["n1"].beforeAnswer = func(context.Context) {
		w.agents["n1"].beforeAnswer = nil
		w.clock.advance(2500 * time.Millisecond)
		l.ticks <- time.Time{} // the next period begins while this one is at work
	}
	l.ticks <- time.Time{}
	l.waitForPeriod()
	w.clock.advance(time.Second)
	l.ticks <- time.Time{} // blocks for as long as the tick before is queued
	l.waitForPeriod()
	select {
	case <-l.done:
		t.Error("a skipped period was run late")
	default:
	}
	if got := valueOf(t, w.metrics.skippedPeriods); got != 2 {
		t.Errorf("%v periods were counted as skipped, want 2", got)
	}
}

func TestNewActiveControllerDoesNotWaitForItsPeriod(t *testing.T) {
	w := newWorld(t, nil)
	w.elector.set(election.State{Leader: "c2"})
	l := w.start()
	l.ticks <- time.Time{}
	l.waitForPeriod()
	w.elector.changed <- struct{}{} // only the name of the active one
	w.elector.set(election.State{Active: true, Leader: "c1"})
	w.elector.changed <- struct{}{}
	l.waitForPeriod()
	if lease := w.agents["n1"].lease("main"); lease == nil {
		t.Error("no lease was written")
	}

	w.elector.set(election.State{Active: true, Term: 2, Leader: "c1"}) // after another one that nobody saw here
	w.elector.changed <- struct{}{}
	l.waitForPeriod()
}

func TestReload(t *testing.T) {
	w := newWorld(t, nil)
	var remembered policy.Memory
	w.use(decideFunc(func(_ policy.View, target policy.Target, m policy.Memory) (policy.Decision, policy.Memory) {
		return policy.StopFor(target, "counting"), 5
	}))
	w.step()
	first, second := w.agents["n1"], w.agents["n2"]
	w.pause("p", "ann")

	next := w.config
	next.Agents = []Agent{{"n1", "n1:7411"}, {"n3", "n3:7411"}}
	next.StaleSeconds = 7
	w.reload(loaded{config: next})
	if w.agents["n1"] != first || first.isClosed || !second.isClosed || w.agents["n3"] == nil {
		t.Error("the connections are not those of the new configuration")
	}
	w.resume("p")
	w.use(decideFunc(func(_ policy.View, target policy.Target, m policy.Memory) (policy.Decision, policy.Memory) {
		if target.Node == "n1" {
			remembered = m
		}
		return policy.StopFor(target, "counting"), m
	}))
	if made := w.step(); len(made) != 2 || w.config.StaleSeconds != 7 {
		t.Errorf("after the reload there are the decisions %v", made)
	}
	if remembered != 5 {
		t.Errorf("a policy that has not changed remembers %v, want 5", remembered)
	}

	next.Policies = []Policy{next.Policies[0]}
	next.Policies[0].Replace = true
	w.reload(loaded{config: next})
	if len(w.policies[0].targets) != 0 {
		t.Error("a policy that has changed has the memory of the old one")
	}
	next.Policies = nil
	w.pause("p", "ann")
	w.reload(loaded{config: next})
	if made := w.step(); len(made) != 0 || w.countPaused() != 0 {
		t.Errorf("without policies there are the decisions %v", made)
	}
	if got := valueOf(t, w.metrics.reloads.WithLabelValues("success")); got != 3 {
		t.Errorf("%v reloads were counted, want 3", got)
	}
}

func TestReloadThatIsRefused(t *testing.T) {
	changes := map[string]func(*Config){
		"cluster":      func(c *Config) { c.Cluster = "other" },
		"name":         func(c *Config) { c.Name = "other" },
		"listen":       func(c *Config) { c.Listen = ":1" },
		"page":         func(c *Config) { c.Page.Listen = ":1" },
		"tls":          func(c *Config) { c.TLS.KeyFile = "/other" },
		"log_level":    func(c *Config) { c.LogLevel = "debug" },
		"coordination": func(c *Config) { c.Coordination = &Coordination{} },
		"prometheus":   func(c *Config) { c.Prometheus = &Prometheus{} },
	}
	for key, change := range changes {
		t.Run(key, func(t *testing.T) {
			w := newWorld(t, nil)
			next := w.config
			next.StaleSeconds = 7
			change(&next)
			var problems Problems
			if err := w.config.checkReload(next); !errors.As(err, &problems) || len(problems) != 1 || problems[0].Key != key {
				t.Errorf("the problem is %v", err)
			}
			w.reload(loaded{config: next})
			if w.config.StaleSeconds == 7 || valueOf(t, w.metrics.reloadSuccess) != 0 {
				t.Error("the configuration was taken over")
			}
			if got := valueOf(t, w.metrics.reloads.WithLabelValues("failure")); got != 1 {
				t.Errorf("%v failures were counted, want 1", got)
			}
		})
	}
}
