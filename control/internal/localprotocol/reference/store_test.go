package reference

import (
	"math"
	"testing"
	"time"

	"sluice.dev/control/internal/store"
)

// steady is a store of one table without bursts. Its first compaction is due after 6.4 s, and takes
// 64 MB/(25-10) MB/s at its stock pace.
func steady() Config {
	config := DefaultConfig()
	config.Scopes = []string{"orders"}
	config.BurstBytesPerSecond = config.WriteBytesPerSecond
	return config
}

// simulation is a store whose time passes when the test says so.
type simulation struct {
	*Store
	t   testing.TB
	now time.Time
}

func simulate(t testing.TB, config Config) *simulation {
	t.Helper()
	made := &simulation{t: t, now: time.Now()}
	store, err := New(config, func() time.Time { return made.now })
	if err != nil {
		t.Fatal(err)
	}
	made.Store = store
	return made
}

func (s *simulation) pass(duration time.Duration) {
	s.now = s.now.Add(duration)
	s.Advance()
}

func (s *simulation) see() store.Snapshot {
	s.t.Helper()
	snapshot, err := s.Snapshot(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return snapshot
}

// task returns the only one that there is.
func (s *simulation) task() store.Task {
	s.t.Helper()
	tasks := s.see().Tasks
	if len(tasks) != 1 {
		s.t.Fatalf("there are %d tasks, not 1: %+v", len(tasks), tasks)
	}
	return tasks[0]
}

func (s *simulation) totalDebt() store.Debt {
	s.t.Helper()
	for _, debt := range s.see().Debts {
		if debt.Scope == "" {
			return debt
		}
	}
	s.t.Fatal("the debt of the whole store is missing")
	return store.Debt{}
}

func order(setting store.SettingName, number float64, timeToLive time.Duration) store.Order {
	return store.Order{
		Kind: store.Compaction, Setting: store.Setting{Name: setting, Number: number}, Owner: "test", TimeToLive: timeToLive,
	}
}

func (s *simulation) mustSet(order store.Order) store.Lease {
	s.t.Helper()
	lease, err := s.Set(s.t.Context(), order)
	if err != nil {
		s.t.Fatalf("set %+v: %v", order, err)
	}
	return lease
}

func (s *simulation) expectCode(what string, err error, want store.Code) {
	s.t.Helper()
	if err == nil || store.CodeOf(err) != want {
		s.t.Errorf("%s: %v, which is not %q", what, err, want)
	}
}

// near compares amounts that rounding to ticks and bytes may change a little.
func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance
}

// untilRunning lets time pass until the first compaction runs.
func (s *simulation) untilRunning() {
	s.t.Helper()
	for range 100 {
		s.pass(100 * time.Millisecond)
		if tasks := s.see().Tasks; len(tasks) > 0 && tasks[0].State == store.Running {
			return
		}
	}
	s.t.Fatal("no compaction runs after 10 s")
}

func TestStockPace(t *testing.T) {
	s := simulate(t, steady())
	s.pass(6300 * time.Millisecond)
	if tasks := s.see().Tasks; len(tasks) != 0 {
		t.Fatalf("below the trigger there are tasks: %+v", tasks)
	}
	s.pass(200 * time.Millisecond)
	task := s.task()
	if task.State != store.Running || task.RateBytesPerSecond != 25e6 || !near(float64(task.BytesTotal), 64e6, 2e5) {
		t.Errorf("past the trigger: %+v", task)
	}
	if task.Throttled > time.Millisecond {
		t.Errorf("nothing was ordered, but it has waited %v", task.Throttled)
	}
	s.pass(3 * time.Second)
	if task := s.task(); task.State != store.Done || task.BytesDone != task.BytesTotal {
		t.Errorf("64 MB at 25 MB/s are not done after 3 s: %+v", task)
	}
	s.pass(11 * time.Second)
	for _, task := range s.see().Tasks {
		if task.ID == "compaction-1" {
			t.Errorf("10 s after its end it is still shown: %+v", task)
		}
	}
}

func TestRate(t *testing.T) {
	s := simulate(t, steady())
	s.untilRunning()
	s.mustSet(order(store.RateBytesPerSecond, 2e6, time.Minute))
	before := s.task()
	s.pass(10 * time.Second)
	after := s.task()
	if moved := float64(after.BytesDone - before.BytesDone); !near(moved, 20e6, 1e5) {
		t.Errorf("at 2 MB/s it has moved %v bytes in 10 s", moved)
	}
	if !near(after.RateBytesPerSecond, 2e6, 1) {
		t.Errorf("the rate is %v", after.RateBytesPerSecond)
	}
	// Of the 10 s it could have done the work in 0.8 s.
	if waited := (after.Throttled - before.Throttled).Seconds(); !near(waited, 9.2, 0.1) {
		t.Errorf("it has waited %v s", waited)
	}
}

// What a rate leaves unused may be made up for, but no more than a quarter of a second's worth.
func TestRateMakesUpForLittle(t *testing.T) {
	s := simulate(t, steady())
	s.mustSet(order(store.RateBytesPerSecond, 8e6, time.Minute))
	s.untilRunning()
	if task := s.task(); !near(float64(task.BytesDone), 8e6*burstSeconds, 8e6*0.2) {
		t.Errorf("after 6 s without a task, a rate of 8 MB/s lets %d bytes go at once", task.BytesDone)
	}
}

// Compactions that obey the same lease share its rate; one with a lease of its own does not.
func TestRateIsShared(t *testing.T) {
	config := steady()
	config.Scopes = []string{"a", "b"}
	config.TriggerBytes = 10e6
	s := simulate(t, config)
	s.mustSet(order(store.RateBytesPerSecond, 1e6, time.Minute))
	s.pass(5 * time.Second)
	compacted := func() float64 { return s.see().Figures["compacted_bytes_total"] }
	before := compacted()
	s.pass(4 * time.Second)
	if moved := compacted() - before; !near(moved, 4e6, 1e4) {
		t.Errorf("two compactions at 1 MB/s together have moved %v bytes in 4 s", moved)
	}
	own := order(store.RateBytesPerSecond, 3e6, time.Minute)
	own.Scope = "b"
	s.mustSet(own)
	before = compacted()
	s.pass(2 * time.Second)
	if moved := compacted() - before; !near(moved, 8e6, 5e5) {
		t.Errorf("at 1 and 3 MB/s they have moved %v bytes in 2 s", moved)
	}
}

func TestHoldKeepsTheWork(t *testing.T) {
	s := simulate(t, steady())
	s.untilRunning()
	s.pass(time.Second)
	before := s.task()
	s.mustSet(order(store.Hold, 0, 5*time.Second))
	s.pass(4900 * time.Millisecond)
	held := s.task()
	if held.State != store.Held || held.BytesDone != before.BytesDone || held.ID != before.ID || held.RateBytesPerSecond != 0 {
		t.Errorf("held, %+v became %+v", before, held)
	}
	if waited := held.Throttled - before.Throttled; waited < 4800*time.Millisecond {
		t.Errorf("it says that it has waited %v", waited)
	}
	s.pass(time.Second)
	resumed := s.task()
	if resumed.State != store.Running || resumed.ID != before.ID || !near(float64(resumed.BytesDone-held.BytesDone), 0.9*25e6, 5e5) {
		t.Errorf("0.9 s after the lease has ended, %+v became %+v", held, resumed)
	}
}

func TestLeaseEndsByTheMonotonicClock(t *testing.T) {
	s := simulate(t, steady())
	lease := s.mustSet(order(store.Hold, 0, 2*time.Second))
	if lease.TimeLeft != 2*time.Second {
		t.Errorf("at first %v are left", lease.TimeLeft)
	}
	s.pass(2*time.Second - time.Nanosecond)
	if leases := s.see().Leases; len(leases) != 1 || leases[0].TimeLeft != time.Nanosecond {
		t.Errorf("just before its end: %+v", leases)
	}
	s.pass(time.Nanosecond)
	if leases := s.see().Leases; len(leases) != 0 {
		t.Errorf("at its end: %+v", leases)
	}
}

func TestDurationSpreadsWhatIsLeft(t *testing.T) {
	s := simulate(t, steady())
	s.untilRunning()
	s.mustSet(order(store.DurationSeconds, 8, time.Minute))
	before := s.task()
	left := float64(before.BytesTotal - before.BytesDone)
	s.pass(2 * time.Second)
	// To renew does not begin anew.
	s.mustSet(order(store.DurationSeconds, 8, time.Minute))
	s.pass(2 * time.Second)
	if moved := float64(s.task().BytesDone - before.BytesDone); !near(moved, left/2, left/50) {
		t.Errorf("after half of the time it has moved %v of %v bytes", moved, left)
	}
	s.pass(4100 * time.Millisecond)
	if task := s.see().Tasks[0]; task.ID != before.ID || task.State != store.Done {
		t.Errorf("after the time: %+v", task)
	}
}

func TestFullIsLimitedByTheDevice(t *testing.T) {
	config := steady()
	config.FullBytesPerSecond = 200e6
	s := simulate(t, config)
	s.mustSet(order(store.Full, 0, time.Minute))
	s.untilRunning()
	if rate := s.task().RateBytesPerSecond; !near(rate, 90e6, 1) {
		t.Errorf("clients write 10 of 100 MB/s, compaction does %v", rate)
	}
}

func TestDeferralEndsAtItsDebt(t *testing.T) {
	s := simulate(t, steady())
	s.mustSet(order(store.DeferUntilDebtBytes, 150e6, time.Minute))
	s.pass(14900 * time.Millisecond)
	if task := s.task(); task.State != store.Deferred || task.Throttled < 8*time.Second {
		t.Errorf("at 149 MB: %+v", task)
	}
	s.pass(200 * time.Millisecond)
	if task := s.task(); task.State != store.Running {
		t.Errorf("at 151 MB: %+v", task)
	}
}

func TestDeferralEndsWithItsLease(t *testing.T) {
	s := simulate(t, steady())
	s.mustSet(order(store.DeferUntilDebtBytes, 150e6, 8*time.Second))
	s.pass(7900 * time.Millisecond)
	if task := s.task(); task.State != store.Deferred {
		t.Errorf("with the lease: %+v", task)
	}
	s.pass(200 * time.Millisecond)
	if task := s.task(); task.State != store.Running {
		t.Errorf("without the lease: %+v", task)
	}
}

func TestConcurrency(t *testing.T) {
	config := steady()
	config.Scopes = []string{"a", "b", "c"}
	config.TriggerBytes = 1e6
	config.StockBytesPerSecond = 1e5
	s := simulate(t, config)
	count := func(state store.State) int {
		found := 0
		for _, task := range s.see().Tasks {
			if task.State == state {
				found++
			}
		}
		return found
	}
	s.mustSet(order(store.Concurrency, 1, time.Minute))
	s.pass(2 * time.Second)
	if running, queued := count(store.Running), count(store.Queued); running != 1 || queued != 2 {
		t.Errorf("with 1: %d run, %d are queued", running, queued)
	}
	s.mustSet(order(store.Concurrency, 3, 10*time.Second))
	s.pass(time.Second)
	if running := count(store.Running); running != 3 {
		t.Errorf("with 3: %d run", running)
	}
}
