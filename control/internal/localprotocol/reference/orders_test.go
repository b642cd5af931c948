package reference

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/store"
)

func TestStart(t *testing.T) {
	s := simulate(t, steady())
	plain := store.Order{Kind: store.Compaction, Owner: "test", TimeToLive: time.Minute}
	s.expectCode("a start without debt", s.Start(t.Context(), plain), store.CodeRefused)
	s.pass(time.Second)
	s.mustSet(order(store.DeferUntilDebtBytes, 150e6, time.Minute))
	if err := s.Start(t.Context(), plain); err != nil {
		t.Fatal(err)
	}
	if task := s.task(); task.State != store.Running || !near(float64(task.BytesTotal), 10e6, 1e5) {
		t.Errorf("started below the trigger and put off: %+v", task)
	}
	s.expectCode("a start of what runs", s.Start(t.Context(), plain), store.CodeRefused)
}

// A start with a setting does both or nothing.
func TestStartWithSetting(t *testing.T) {
	s := simulate(t, steady())
	held := order(store.Hold, 0, time.Minute)
	s.expectCode("a start without debt", s.Start(t.Context(), held), store.CodeRefused)
	if leases := s.see().Leases; len(leases) != 0 {
		t.Errorf("it has left %+v", leases)
	}
	s.pass(time.Second)
	other := order(store.Full, 0, time.Minute)
	other.Owner = "other"
	s.mustSet(other)
	s.expectCode("a start against a lease", s.Start(t.Context(), held), store.CodeConflict)
	if tasks := s.see().Tasks; len(tasks) != 0 {
		t.Errorf("it has started %+v", tasks)
	}
	held.Replace = true
	if err := s.Start(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	s.pass(time.Second)
	if task := s.task(); task.State != store.Held || task.BytesDone != 0 {
		t.Errorf("started with a hold: %+v", task)
	}
}

func TestStartOfVariants(t *testing.T) {
	for variant, wantBytes := range map[store.Variant]float64{store.Minor: 5e6, store.Major: 10e6} {
		s := simulate(t, steady())
		s.pass(time.Second)
		start := store.Order{Kind: store.Compaction, Owner: "test", TimeToLive: time.Minute, Variant: variant}
		if err := s.Start(t.Context(), start); err != nil {
			t.Fatal(err)
		}
		if task := s.task(); task.Phase != string(variant) || !near(float64(task.BytesTotal), wantBytes, 1e5) {
			t.Errorf("%s of 10 MB: %+v", variant, task)
		}
		start.Variant = "huge"
		s.expectCode("a variant that is not offered", s.Start(t.Context(), start), store.CodeUnsupported)
	}
}

// What was moved is to be moved again, and the lease that held the task is as it was.
func TestAbort(t *testing.T) {
	s := simulate(t, steady())
	s.untilRunning()
	s.pass(time.Second)
	s.mustSet(order(store.Hold, 0, time.Minute))
	s.pass(time.Second)
	running, debt := s.task(), s.totalDebt().Bytes
	abortion := store.Abortion{Kind: store.Compaction, Task: running.ID, Owner: "test"}
	if err := s.Abort(t.Context(), abortion); err != nil {
		t.Fatal(err)
	}
	if task := s.see().Tasks[0]; task.ID != running.ID || task.State != store.Failed {
		t.Errorf("aborted, it is %+v", task)
	}
	if got, want := float64(s.totalDebt().Bytes), float64(debt+running.BytesDone); !near(got, want, 2) {
		t.Errorf("the debt is %v, not %v", got, want)
	}
	if leases := s.see().Leases; len(leases) != 1 {
		t.Errorf("the abort has left the leases %+v", leases)
	}
	s.expectCode("a second abort", s.Abort(t.Context(), abortion), store.CodeNotFound)
	abortion.Kind = store.Flush
	s.expectCode("an abort of another kind", s.Abort(t.Context(), abortion), store.CodeUnsupported)
	// The debt is over the trigger, so that another compaction has been queued.
	s.pass(100 * time.Millisecond)
	tasks := s.see().Tasks
	if last := tasks[len(tasks)-1]; last.ID == running.ID || last.State != store.Held {
		t.Errorf("after the abort there are %+v", tasks)
	}
}

func TestStartKeepsToConcurrency(t *testing.T) {
	config := steady()
	config.Scopes = []string{"a", "b"}
	s := simulate(t, config)
	s.pass(time.Second)
	s.mustSet(order(store.Hold, 0, time.Minute))
	if err := s.Start(t.Context(), order(store.Concurrency, 1, time.Minute)); err != nil {
		t.Fatal(err)
	}
	plain := store.Order{Kind: store.Compaction, Scope: "b", Owner: "test", TimeToLive: time.Minute}
	s.expectCode("a start beyond the concurrency", s.Start(t.Context(), plain), store.CodeRefused)
}

func TestLeasesOfSeveralScopesAndOwners(t *testing.T) {
	s := simulate(t, DefaultConfig())
	all, events := order(store.Hold, 0, time.Minute), order(store.Full, 0, time.Minute)
	events.Scope, events.Owner = "events", "other"
	s.mustSet(all)
	s.mustSet(events)
	s.mustSet(order(store.DeferUntilDebtBytes, 1e6, time.Minute))
	if leases := s.see().Leases; len(leases) != 3 {
		t.Fatalf("scopes and aspects hold side by side, but there are %+v", leases)
	}
	events.Owner = "third"
	_, err := s.Set(t.Context(), events)
	s.expectCode("an order against a lease", err, store.CodeConflict)
	tests := []struct {
		selection store.Selection
		cleared   int
	}{
		{store.Selection{Owner: "third"}, 0},
		{store.Selection{Owner: "other", Kind: store.Compaction}, 0},
		{store.Selection{Owner: "other", Kind: store.Compaction, Scope: "events"}, 1},
		{store.Selection{Owner: "test"}, 2},
	}
	for _, test := range tests {
		if cleared, err := s.Clear(t.Context(), test.selection); err != nil || cleared != test.cleared {
			t.Errorf("%+v has ended %d, %v", test.selection, cleared, err)
		}
	}
}

// At the limit of debt writes stall, every lease ends, compactions go at full speed, and orders are
// refused until debt has fallen.
func TestLimitEndsEveryLease(t *testing.T) {
	config := steady()
	config.LimitBytes = 100e6
	s := simulate(t, config)
	s.mustSet(order(store.Hold, 0, 5*time.Minute))
	s.pass(9900 * time.Millisecond)
	if len(s.see().Leases) != 1 || s.task().State != store.Held {
		t.Fatalf("below the limit: %+v", s.see())
	}
	s.pass(200 * time.Millisecond)
	if leases := s.see().Leases; len(leases) != 0 {
		t.Errorf("at the limit: %+v", leases)
	}
	if ended := s.see().Figures["leases_ended_by_limit_total"]; ended != 1 {
		t.Errorf("%v leases have ended by it", ended)
	}
	_, err := s.Set(t.Context(), order(store.Hold, 0, time.Minute))
	s.expectCode("an order at the limit", err, store.CodeRefused)
	if task := s.task(); task.State != store.Running || task.RateBytesPerSecond != config.FullBytesPerSecond {
		t.Errorf("at the limit: %+v", task)
	}
	s.pass(time.Second)
	s.mustSet(order(store.Hold, 0, time.Minute))
}

// Over the limit compactions are due whatever their trigger: the store frees itself.
func TestLimitBelowTrigger(t *testing.T) {
	config := steady()
	config.LimitBytes = config.TriggerBytes / 2
	s := simulate(t, config)
	s.pass(time.Minute)
	if figures := s.see().Figures; figures["written_bytes_total"] < 300e6 {
		t.Errorf("of 600 MB in a minute %v were written", figures["written_bytes_total"])
	}
}

func TestLatencyGrowsWithCompaction(t *testing.T) {
	p99 := func(rate float64) time.Duration {
		s := simulate(t, steady())
		s.mustSet(order(store.RateBytesPerSecond, rate, time.Minute))
		s.untilRunning()
		s.pass(2 * time.Second)
		latencies := s.see().Latencies
		last := latencies[len(latencies)-1]
		if last.Class != "write" || last.Count == 0 || last.P50 > last.P99 || last.P99 > last.P999 || last.P999 > last.Max {
			t.Errorf("at %v the latency is %+v", rate, last)
		}
		return last.P99
	}
	slow, middle, fast := p99(1e6), p99(10e6), p99(24e6)
	if slow >= middle || middle >= fast {
		t.Errorf("the p99 is %v at 1 MB/s, %v at 10, %v at 24", slow, middle, fast)
	}
}

// Without compaction 10 of 100 MB/s are used: the model gives 0.5 ms/(1-0.1) as the mean, and its
// ln(100) times as the p99.
func TestLatencyModel(t *testing.T) {
	s := simulate(t, steady())
	s.pass(3 * time.Second)
	latencies := s.see().Latencies
	if len(latencies) != 6 {
		t.Fatalf("after 3 s there are %d latencies", len(latencies))
	}
	last := latencies[5]
	if !near(last.Mean.Seconds(), 0.0005/0.9, 1e-7) || !near(last.P99.Seconds(), 4.60517*0.0005/0.9, 1e-7) {
		t.Errorf("the mean is %v, the p99 %v", last.Mean, last.P99)
	}
	if last.Age != 0 || last.Interval != time.Second || last.Count != 10000 {
		t.Errorf("the interval is %+v", last)
	}
}

func TestSeedDecides(t *testing.T) {
	written := func(seed uint64) float64 {
		config := DefaultConfig()
		config.Seed = seed
		s := simulate(t, config)
		s.pass(time.Minute)
		return s.see().Figures["written_bytes_total"]
	}
	if written(1) != written(1) {
		t.Error("the same seed gives two results")
	}
	if written(1) == written(2) {
		t.Error("two seeds give the same result")
	}
}

func TestConfigIsChecked(t *testing.T) {
	tests := map[string]func(*Config){
		"no scope":         func(c *Config) { c.Scopes = nil },
		"empty scope":      func(c *Config) { c.Scopes = []string{"a", ""} },
		"the same scope":   func(c *Config) { c.Scopes = []string{"a", "a"} },
		"no rate":          func(c *Config) { c.StockBytesPerSecond = 0 },
		"negative rate":    func(c *Config) { c.WriteBytesPerSecond = -1 },
		"no concurrency":   func(c *Config) { c.Concurrency = 0 },
		"path as instance": func(c *Config) { c.Instance = "../main" },
		"no instance":      func(c *Config) { c.Instance = "" },
		"no limit":         func(c *Config) { c.LimitBytes = 0 },
		"no time to live":  func(c *Config) { c.MaxTimeToLive = 0 },
	}
	for name, change := range tests {
		config := DefaultConfig()
		change(&config)
		if _, err := New(config, time.Now); err == nil {
			t.Errorf("%s: the configuration was taken", name)
		}
	}
}

// Whatever is ordered, and whenever it is looked at: debt never passes the limit, a held task keeps
// its work, no lease outlives what was asked for, and what is compacted and what is debt is what was
// written.
func TestWhateverIsOrdered(t *testing.T) {
	names := settings()
	rapid.Check(t, func(r *rapid.T) {
		config := DefaultConfig()
		config.Seed = rapid.Uint64().Draw(r, "seed")
		config.LimitBytes = rapid.Uint64Range(50e6, 500e6).Draw(r, "limit")
		s := simulate(t, config)
		for range rapid.IntRange(1, 20).Draw(r, "orders") {
			given := order(rapid.SampledFrom(names).Draw(r, "setting"), 0, time.Duration(rapid.Int64Range(1, 20e9).Draw(r, "time to live")))
			given.Scope = rapid.SampledFrom([]string{"", "orders", "users"}).Draw(r, "scope")
			if given.Setting.Name.HasNumber() {
				given.Setting.Number = float64(rapid.IntRange(1, 1e8).Draw(r, "number"))
			}
			if rapid.Bool().Draw(r, "start") {
				_ = s.Start(t.Context(), given)
			} else {
				_, _ = s.Set(t.Context(), given)
			}
			before := s.see()
			s.pass(time.Duration(rapid.Int64Range(0, 10e9).Draw(r, "pause")))
			checkInvariants(r, s, before)
		}
	})
}

func checkInvariants(r *rapid.T, s *simulation, before store.Snapshot) {
	after := s.see()
	debt, figures := float64(s.totalDebt().Bytes), after.Figures
	if debt > float64(s.config.LimitBytes)+1 {
		r.Fatalf("the debt is %v, the limit %d", debt, s.config.LimitBytes)
	}
	if sum := debt + figures["compacted_bytes_total"]; !near(sum, figures["written_bytes_total"], 10) {
		r.Fatalf("%v bytes were written, %v compacted or debt", figures["written_bytes_total"], sum)
	}
	passed := after.TakenAt.Sub(before.TakenAt)
	for _, lease := range before.Leases {
		if lease.TimeLeft > passed {
			continue
		}
		for _, left := range after.Leases {
			if left.Setting == lease.Setting && left.Scope == lease.Scope {
				r.Fatalf("%+v is still there %v later", lease, passed)
			}
		}
	}
	for _, task := range after.Tasks {
		for _, earlier := range before.Tasks {
			if task.ID == earlier.ID && task.BytesDone < earlier.BytesDone {
				r.Fatalf("%+v has lost work: %+v", earlier, task)
			}
		}
		if task.BytesDone > task.BytesTotal {
			r.Fatalf("more is done than there is: %+v", task)
		}
	}
}
