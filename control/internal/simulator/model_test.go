package simulator

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

func TestQueueServesInOrder(t *testing.T) {
	q := queue{Device: Device{BytesPerSecond: 100, QueueLimitBytes: 50}}
	q.foreground, q.background = 30, 50
	if q.room() != 0 || q.delaySeconds() != 0.8 {
		t.Errorf("room is %v and the delay %v s, want 0 and 0.8 s", q.room(), q.delaySeconds())
	}
	q.serve(0.4)
	if q.foreground != 15 || q.background != 25 || q.room() != 25 || q.written != 40 || q.busySeconds != 0.4 {
		t.Errorf("after 0.4 s: %+v", q)
	}
	q.serve(10)
	if q.delaySeconds() != 0 || q.written != 80 || q.busySeconds != 0.8 {
		t.Errorf("after 10 s more: %+v", q)
	}
}

func TestPercentileIsByNearestRank(t *testing.T) {
	s := samples{{0.3, 1}, {0.1, 98}, {0.2, 1}}
	for share, want := range map[float64]float64{0.5: 0.1, 0.98: 0.1, 0.99: 0.2, 1: 0.3} {
		if got := s.percentile(share); got != want {
			t.Errorf("percentile %v is %v, want %v", share, got, want)
		}
	}
	if got := (samples{}).percentile(0.99); got != 0 {
		t.Errorf("the percentile of nothing is %v", got)
	}
}

func TestLoads(t *testing.T) {
	bursts := Bursts(1, 9, 5*time.Second, 30*time.Second, 10*time.Second)
	ramp := Ramp(0, 100, 10*time.Second)
	for at, want := range map[time.Duration][2]float64{
		0: {1, 0}, 5 * time.Second: {9, 50}, 14 * time.Second: {9, 100}, 15 * time.Second: {1, 100}, 35 * time.Second: {9, 100},
	} {
		if got := [2]float64{bursts(at), ramp(at)}; got != want {
			t.Errorf("at %v loads are %v, want %v", at, got, want)
		}
	}
	random, changes := RandomBursts(7, 1, 9, 30*time.Second, 10*time.Second, time.Hour), 0
	for at := time.Duration(0); at < time.Hour; at += time.Second {
		if random(at) != random(at+time.Second) {
			changes++
		}
	}
	if changes < 120 || changes > 240 {
		t.Errorf("%d changes in an hour, want about 180", changes)
	}
}

func TestChannelLosesDoublesAndReorders(t *testing.T) {
	l := link[int]{
		Channel: Channel{MaxDelay: 5 * time.Second, LossShare: 0.2, DuplicateShare: 0.2},
		random:  rand.New(rand.NewPCG(1, 1)),
	}
	count := make(map[int]int)
	overtaken, last := 0, 0
	for i := range 1000 {
		now := time.Duration(i) * time.Second
		l.send(now, i)
		for _, arrived := range l.receive(now) {
			count[arrived]++
			if arrived < last {
				overtaken++
			}
			last = arrived
		}
	}
	twice := 0
	for _, times := range count {
		if times == 2 {
			twice++
		}
	}
	if len(count) < 750 || len(count) > 850 || twice < 100 || twice > 220 || overtaken < 100 {
		t.Errorf("of 1000 messages %d arrived, %d of them twice, %d late", len(count), twice, overtaken)
	}
}

// steadily is a policy that wants one setting.
type steadily store.Setting

func (s steadily) Decide(_ policy.View, target policy.Target, memory policy.Memory) (policy.Decision, policy.Memory) {
	return policy.SettingFor(target, store.Setting(s), "", nil), memory
}

// quiet is a store whose device is never short, with a checkpoint of 80 MB due after 50 s.
func quiet() Scenario {
	return Scenario{
		Duration: 200 * time.Second, Load: Steady(1000),
		Device:      Device{BytesPerSecond: 1e9, QueueLimitBytes: 1e9},
		BaseLatency: time.Millisecond,
		Checkpoints: &Checkpoints{
			PageCount: 1e4, PageBytes: 8e3, RecordBytes: 1000, LimitBytes: 95e6, CompletionTarget: 0.9,
		},
	}
}

func TestStoreByItselfSpreadsItsCheckpoints(t *testing.T) {
	r := Run(quiet())
	// Due each 50 s, done after 45 s more: log of 95 s, which is the limit, has then to be kept.
	if r.TasksDone != 3 || math.Abs(r.MaxDebtShare-1) > 0.001 || r.P99Seconds > 0.0011 {
		t.Errorf("%d checkpoints, debt of %v, p99 of %v s", r.TasksDone, r.MaxDebtShare, r.P99Seconds)
	}
}

func TestStoreObeysARate(t *testing.T) {
	s := quiet()
	s.Policy = steadily{Name: store.RateBytesPerSecond, Number: 4e6}
	r := Run(s)
	// 80 MB less what was never touched take 20 s.
	want := 4e6
	for _, step := range r.Steps {
		if step.At > 52*time.Second && step.At < 68*time.Second && math.Abs(step.TaskBytesPerSecond-want) > 1 {
			t.Errorf("at %v it writes %v bytes a second, want %v", step.At, step.TaskBytesPerSecond, want)
		}
	}
	if r.TasksDone != 3 || r.LimitReached != 0 {
		t.Errorf("%d checkpoints, limit reached %d times", r.TasksDone, r.LimitReached)
	}
}

func TestBoundEndsAHold(t *testing.T) {
	s := quiet()
	s.Policy = steadily{Name: store.Hold}
	r := Run(s)
	if r.LimitReached == 0 || r.TasksDone == 0 || r.MaxDebtShare > 1.01 {
		t.Errorf("limit reached %d times, %d checkpoints, debt of %v", r.LimitReached, r.TasksDone, r.MaxDebtShare)
	}
}

func TestLeaseEndsAfterItsTimeToLiveAndWorkGlides(t *testing.T) {
	s := quiet()
	s.Duration = 95 * time.Second
	s.Policy = steadily{Name: store.Hold}
	s.Cut = []Span{{From: 60 * time.Second, To: time.Hour}}
	r := Run(s)
	if r.LeasesExpired != 1 || r.LimitReached != 0 {
		t.Fatalf("%d leases expired, limit reached %d times", r.LeasesExpired, r.LimitReached)
	}
	// The last order came at 59 s. From 64 s on the work is spread over 0.45 of the log's room, 14 s.
	rate := 80e6 * (1 - math.Exp(-5)) / (0.45 * (95e6 - 64e6)) * 1e6
	for _, step := range r.Steps {
		want := 0.0
		if step.At > 65*time.Second && step.At < 77*time.Second {
			want = rate
		}
		isEdge := step.At >= 64*time.Second && step.At <= 65*time.Second || step.At >= 77*time.Second
		if !isEdge && math.Abs(step.TaskBytesPerSecond-want) > 0.01*rate {
			t.Errorf("at %v it writes %v bytes a second, want %v", step.At, step.TaskBytesPerSecond, want)
		}
	}
}

func TestSameSeedSameRun(t *testing.T) {
	s := quiet()
	s.IsNoisy = true
	s.Channel = Channel{MaxDelay: 3 * time.Second, LossShare: 0.1, DuplicateShare: 0.1}
	s.Policy = steadily{Name: store.RateBytesPerSecond, Number: 4e6}
	first, second := Run(s), Run(s)
	if !reflect.DeepEqual(first, second) {
		t.Error("two runs of the same seed differ")
	}
	s.Seed++
	if third := Run(s); third.P99Seconds == first.P99Seconds {
		t.Error("two runs of different seeds are the same")
	}
}

func TestCompactionsFallAsTheyAreDone(t *testing.T) {
	s := quiet()
	s.Checkpoints = nil
	s.Compactions = &Compactions{
		RecordBytes: 1000, Amplification: 2, TriggerBytes: 20e6, LimitBytes: 100e6, OwnBytesPerSecond: 6e6,
	}
	r := Run(s)
	// 2 MB/s come in: 20 MB after 10 s, gone after 5 s at 6 MB/s, again after 15 s.
	if r.TasksDone != 13 || math.Abs(r.MaxDebtShare-0.2) > 0.001 {
		t.Errorf("%d compactions, debt of %v", r.TasksDone, r.MaxDebtShare)
	}
}

// once gives a setting, and then wants what there is.
type once struct{ store.Setting }

func (o once) Decide(_ policy.View, target policy.Target, memory policy.Memory) (policy.Decision, policy.Memory) {
	if memory == nil {
		return policy.SettingFor(target, o.Setting, "once", nil), true
	}
	return policy.Decision{Target: target.Ref, Kind: target.Kind, Verdict: policy.Keep}, memory
}

// wary wants a setting whatever it knows, and counts in its memory how often that was nothing.
type wary struct {
	store.Setting
	blind *int
}

func (w wary) Decide(_ policy.View, target policy.Target, memory policy.Memory) (policy.Decision, policy.Memory) {
	count, _ := memory.(int)
	if !target.Fresh {
		count++
	}
	*w.blind = count
	return policy.SettingFor(target, w.Setting, "wary", nil), count
}

func TestPolicyIsToldOfWhatIsNotFresh(t *testing.T) {
	blind := 0
	s := quiet()
	s.Policy = wary{store.Setting{Name: store.Hold}, &blind}
	s.Duration = 30 * time.Second
	s.Cut = []Span{{From: 10 * time.Second, To: 20 * time.Second}}
	r := Run(s)
	for _, step := range r.Steps {
		if isBlind := step.At >= 13*time.Second && step.At < 20*time.Second; isBlind && step.Decision.Verdict != policy.Stop {
			t.Errorf("at %v the decision is %+v", step.At, step.Decision)
		}
	}
	if blind != 7 {
		t.Errorf("the policy was told of %d periods, want 7", blind)
	}
}

func TestKeepWithoutASettingRenewsTheLease(t *testing.T) {
	s := quiet()
	s.Duration = 30 * time.Second
	s.Policy = once{store.Setting{Name: store.Hold}}
	if r := Run(s); r.LeasesExpired != 0 || r.OrdersGiven < 20 {
		t.Errorf("%d leases expired after %d orders", r.LeasesExpired, r.OrdersGiven)
	}
}
