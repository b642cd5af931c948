package controller

import (
	"sync"
	"testing"
)

// without is a configuration that has no policies.
func without(config Config) Config {
	config.Policies = nil
	return config
}

// Whoever may pause a policy must see the configuration by which pauses are dropped afterwards.
func TestPausesAreDroppedOnceThePoliciesAreSeenToBeGone(t *testing.T) {
	w := newWorld(t, nil)
	w.mutex.Lock()
	var configuring sync.WaitGroup
	configuring.Go(func() {
		if err := w.configure(without(w.config)); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "the new configuration to be seen before pauses are dropped", func() bool { return !w.hasPolicy("p") })
	w.paused["p"] = "ann"
	w.mutex.Unlock()
	configuring.Wait()
	if w.countPaused() != 0 || w.pause("p", "ann") {
		t.Errorf("%d policies are paused, of none", w.countPaused())
	}
}

func TestPauseNeverOutlivesItsPolicy(t *testing.T) {
	w := newWorld(t, nil)
	full := w.config
	for range 300 {
		var pausing sync.WaitGroup
		pausing.Go(func() { w.pause("p", "ann") })
		if err := w.configure(without(full)); err != nil {
			t.Fatal(err)
		}
		pausing.Wait()
		if count := w.countPaused(); count != 0 {
			t.Fatalf("%d policies are paused, of none", count)
		}
		if err := w.configure(full); err != nil {
			t.Fatal(err)
		}
	}
}
