package devices

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"sluice.dev/control/internal/redirection"
	"sluice.dev/control/internal/store"
)

const logBytes = 4 << 20

func requests(bytes ...float64) []redirection.Request {
	var all []redirection.Request
	for i, size := range bytes {
		all = append(all, redirection.Request{Write: redirection.Write{AtSeconds: float64(i) / 1000, Bytes: size}})
	}
	return all
}

func planOf(t *testing.T, trace []redirection.Request) Plan {
	t.Helper()
	return Plan{Requests: trace, Fast: t.TempDir(), Slow: []string{t.TempDir(), t.TempDir()}, LogBytes: logBytes}
}

func expectEmpty(t *testing.T, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("%v is left in %s, %v", left, folder, err)
		}
	}
}

func TestWithoutSettingsAllGoesToTheFastDevice(t *testing.T) {
	trace := requests(4096, 1, 1<<20, 1<<20, 1<<20)
	trace = append(trace, redirection.Request{Write: redirection.Write{AtSeconds: 0.01, Bytes: 8192}, IsRead: true})
	plan := planOf(t, trace)
	outcome, err := Replay(context.Background(), plan)
	if err != nil {
		t.Fatal(err)
	}
	const written = 2*4096 + 3<<20
	if outcome.Fast.Writes != 5 || outcome.Fast.WrittenBytes != written || outcome.Slow.Writes != 0 || outcome.Reads != 1 {
		t.Errorf("got %+v", outcome)
	}
	if outcome.WrittenBackBytes+outcome.PendingBytes != written || outcome.WrittenBackBytes%writeBackBytes != 0 {
		t.Errorf("%d written back and %d pending of %d", outcome.WrittenBackBytes, outcome.PendingBytes, written)
	}
	if outcome.Fast.P50Seconds <= 0 || outcome.Fast.MaxSeconds < outcome.Fast.P99Seconds || outcome.Seconds < 0.01 {
		t.Errorf("got %+v", outcome)
	}
	expectEmpty(t, append(plan.Slow, plan.Fast)...)
}

func TestLargeWritesAreRedirected(t *testing.T) {
	plan := planOf(t, requests(1<<20, 4096, 4096, 4096))
	plan.Settings = &redirection.Settings{QueueRequests: 1000, SizeBytes: 8192, StepRatio: 0}
	outcome, err := Replay(context.Background(), plan)
	if err != nil {
		t.Fatal(err)
	}
	if outcome.Slow.Writes != 1 || outcome.Slow.WrittenBytes != 1<<20 || outcome.RedirectedShare != 0.25 || outcome.Fast.Writes != 3 {
		t.Errorf("got %+v", outcome)
	}
}

func TestASlowDeviceThatHasSomethingToDoIsGivenNothing(t *testing.T) {
	fast, first, second := &device{}, &device{}, &device{}
	r := &replay{plan: Plan{Settings: &redirection.Settings{QueueRequests: 2, SizeBytes: 1000, StepRatio: 0.5}}, fast: fast, slow: []*device{first, second}}
	large, small := requests(1001)[0], requests(999)[0]
	if r.choose(large) != first || r.choose(small) != fast {
		t.Error("a large write goes to the slow device, a small one does not")
	}
	first.inFlight.Add(1)
	if r.choose(large) != second {
		t.Error("the second one is idle")
	}
	second.inFlight.Add(1)
	if r.choose(large) != fast {
		t.Error("none is idle")
	}
	second.inFlight.Add(-1)
	fast.inFlight.Add(3)
	if r.choose(small) != second || r.choose(redirection.Request{Write: small.Write, IsRead: true}) != fast {
		t.Error("with a queue the threshold falls, for writes")
	}
	fast.inFlight.Add(-3)
	if r.choose(small) != fast {
		t.Error("without a queue the threshold is as it was")
	}
}

func TestALogBeginsAnew(t *testing.T) {
	d := &device{bytes: 3 * blockBytes}
	for _, want := range []int64{0, blockBytes, 0, 2 * blockBytes} {
		bytes := int64(blockBytes)
		if want == 0 && d.next > 0 {
			bytes = 2 * blockBytes
		}
		if at := d.append(bytes); at != want {
			t.Errorf("at %d, want %d", at, want)
		}
	}
}

func TestTooManyThatWaitEndTheReplay(t *testing.T) {
	fast := &device{}
	fast.inFlight.Add(mostInFlight)
	r := &replay{plan: Plan{Requests: requests(1)}, fast: fast}
	if err := r.issue(context.Background()); store.CodeOf(err) != store.CodeInvalid || !strings.Contains(err.Error(), "2000 requests wait") {
		t.Errorf("got %v", err)
	}
}

func TestAReplayCanBeEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	plan := planOf(t, []redirection.Request{{Write: redirection.Write{AtSeconds: 3600, Bytes: 1}}})
	if _, err := Replay(ctx, plan); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	expectEmpty(t, append(plan.Slow, plan.Fast)...)
}

func TestADeviceWithoutRoomIsTold(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	d := &device{file: full, bytes: logBytes, buffer: make([]byte, blockBytes)}
	defer full.Close()
	failure := d.fill()
	if store.CodeOf(failure) != store.CodeInvalid || !errors.Is(failure, syscall.ENOSPC) {
		t.Errorf("got %v", failure)
	}
}

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Plan)
		want   string
	}{
		"no slow device":      {func(p *Plan) { p.Slow = nil }, "there is no slow device"},
		"no writes":           {func(p *Plan) { p.Requests = nil }, "the trace has no writes"},
		"a large request":     {func(p *Plan) { p.Requests = requests(logBytes + 1) }, "has 4194305 bytes, the log of a device 4194304"},
		"a small log":         {func(p *Plan) { p.LogBytes = blockBytes }, "a log of 4096 bytes"},
		"an odd log":          {func(p *Plan) { p.LogBytes++ }, "a log of 4194305 bytes"},
		"no such fast folder": {func(p *Plan) { p.Fast += "/missing" }, "making a log"},
		"no such slow folder": {func(p *Plan) { p.Slow[1] += "/missing" }, "making a log"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := planOf(t, requests(1))
			test.change(&plan)
			_, err := Replay(context.Background(), plan)
			if store.CodeOf(err) != store.CodeInvalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}
