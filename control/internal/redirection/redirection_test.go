package redirection

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/store"
)

func TestReadTrace(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want int
		err  string
	}{
		"writes alone count": {"seconds,operation,bytes\n0,write,4096\n0.5,read,4096\n0.5,write,8192\n", 2, ""},
		"no header":          {"0,write,4096\n", 0, "does not begin with the line seconds,operation,bytes"},
		"empty":              {"", 0, "does not begin"},
		"no writes":          {"seconds,operation,bytes\n0,read,1\n", 0, "has no writes"},
		"time goes back":     {"seconds,operation,bytes\n2,write,1\n1,write,1\n", 0, "line 3 of the trace: seconds is 1, before"},
		"negative size":      {"seconds,operation,bytes\n2,write,-1\n", 0, `line 2 of the trace: bytes is "-1"`},
		"no number":          {"seconds,operation,bytes\nNaN,write,1\n", 0, `line 2 of the trace: seconds is "NaN"`},
		"unknown operation":  {"seconds,operation,bytes\n0,trim,1\n", 0, `operation is "trim"`},
		"missing column":     {"seconds,operation,bytes\n0,write\n", 0, "wrong number of fields"},
	} {
		t.Run(name, func(t *testing.T) {
			writes, err := ReadTrace(strings.NewReader(test.text))
			if test.err == "" && (err != nil || len(writes) != test.want) {
				t.Errorf("got %v, %v", writes, err)
			}
			if test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err) || store.CodeOf(err) != store.CodeInvalid) {
				t.Errorf("got %v, want %s", err, test.err)
			}
		})
	}
}

func FuzzReadTrace(f *testing.F) {
	f.Add("seconds,operation,bytes\n0,write,4096\n0.5,read,1e3\n")
	f.Fuzz(func(t *testing.T, text string) {
		writes, err := ReadTrace(strings.NewReader(text))
		if err == nil && len(writes) == 0 {
			t.Error("neither writes nor an error")
		}
	})
}

func device() Device { return Device{FixedSeconds: 1, BytesPerSecond: 1000} }

func TestReplayIsExact(t *testing.T) {
	// The first takes 2 s, the second waits for 1 s of them and takes 1.5 s.
	trace := []Write{{0, 1000}, {1, 500}}
	alone := Replay(trace, device(), device(), nil)
	if alone.FastP99Seconds != 2.5 || alone.FastMeanSeconds != 2.25 || alone.RedirectedShare != 0 {
		t.Errorf("alone: %+v", alone)
	}
	// A queue of one is longer than none: the threshold falls to 0, and the slow device is idle.
	both := Replay(trace, device(), Device{FixedSeconds: 2, BytesPerSecond: 500}, &Settings{0, 2000, 1})
	if both.FastP99Seconds != 2 || both.SlowP99Seconds != 3 || both.RedirectedShare != 0.5 ||
		math.Abs(both.RedirectedBytesShare-1.0/3) > 1e-12 {
		t.Errorf("both: %+v", both)
	}
}

func TestAQuantileIsTheLeastValueThatTheShareDoesNotExceed(t *testing.T) {
	values := append(slices.Repeat([]float64{4e3}, 99), 4e6)
	for share, want := range map[float64]float64{0: 4e3, 0.5: 4e3, 0.99: 4e3, 0.991: 4e6, 1: 4e6} {
		if got := Quantile(values, share); got != want {
			t.Errorf("of share %v: got %v, want %v", share, got, want)
		}
	}
	// 0.07 * 100 is 7.000000000000001.
	if got := Quantile(append(slices.Repeat([]float64{1}, 7), slices.Repeat([]float64{2}, 93)...), 0.07); got != 1 {
		t.Errorf("of share 0.07: got %v", got)
	}
}

func TestLargeWritesAreRedirectedWithoutAQueue(t *testing.T) {
	outcome := Replay([]Write{{0, 1001}, {10, 1000}}, device(), device(), &Settings{4, 1000, 0.5})
	if outcome.RedirectedShare != 0.5 {
		t.Errorf("got %+v", outcome)
	}
}

func TestABusySlowDeviceIsGivenNothing(t *testing.T) {
	outcome := Replay([]Write{{0, 5000}, {1, 5000}}, device(), device(), &Settings{4, 1000, 0.5})
	if outcome.RedirectedShare != 0.5 {
		t.Errorf("got %+v", outcome)
	}
}

// Bursts of 20 small writes and a large one, at a fast device that is done with a burst before the next.
func bursts() []Write {
	var trace []Write
	for burst := range 50 {
		at := float64(burst)
		trace = append(trace, Write{at, 4e6})
		for range 20 {
			trace = append(trace, Write{at, 4e3})
		}
	}
	return trace
}

func TestTheChosenSettingsAreBetterThanNone(t *testing.T) {
	fast, slow := Device{100e-6, 400e6}, Device{5e-3, 150e6}
	trace := bursts()
	candidates := Choose(trace, fast, slow, 0.9)
	alone := Replay(trace, fast, slow, nil)
	best := candidates[0]
	if len(candidates) != 30 || best.SizeBytes != 4e3 {
		t.Fatalf("%d candidates, S_max of %v", len(candidates), best.SizeBytes)
	}
	if best.FastP99Seconds >= alone.FastP99Seconds/2 {
		t.Errorf("p99 is %v, alone %v", best.FastP99Seconds, alone.FastP99Seconds)
	}
	for _, other := range candidates[1:] {
		if other.FastP99Seconds < best.FastP99Seconds/1.02 {
			t.Errorf("%+v is better than %+v", other, best)
		}
	}
}

func TestEveryWriteIsOnOneDevice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trace := []Write{}
		at := 0.0
		for range rapid.IntRange(1, 60).Draw(t, "writes") {
			at += rapid.Float64Range(0, 3).Draw(t, "gap")
			trace = append(trace, Write{at, rapid.Float64Range(0, 5000).Draw(t, "bytes")})
		}
		settings := Settings{rapid.Float64Range(0, 5).Draw(t, "L"), 2000, rapid.Float64Range(0, 1).Draw(t, "p")}
		outcome := Replay(trace, device(), device(), &settings)
		if outcome.RedirectedShare < 0 || outcome.RedirectedShare > 1 || outcome.RedirectedBytesShare > 1+1e-9 {
			t.Fatalf("got %+v", outcome)
		}
	})
}

func TestFit(t *testing.T) {
	got := fit(0.001, 0.011)
	if math.Abs(got.seconds(smallBytes)-0.001) > 1e-9 || math.Abs(got.seconds(largeBytes)-0.011) > 1e-9 {
		t.Errorf("got %+v", got)
	}
	if same := fit(0.01, 0.01); same.FixedSeconds <= 0.009 || same.BytesPerSecond <= 0 || math.IsInf(same.BytesPerSecond, 0) {
		t.Errorf("got %+v", same)
	}
}

func TestMeasureLeavesNothingBehind(t *testing.T) {
	folder := t.TempDir()
	measured, err := Measure(folder)
	if err != nil || measured.FixedSeconds < 0 || measured.BytesPerSecond <= 0 {
		t.Errorf("got %+v, %v", measured, err)
	}
	if left := entries(t, folder); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
	if _, err := Measure(folder + "/missing"); store.CodeOf(err) != store.CodeInvalid {
		t.Errorf("got %v", err)
	}
}

func entries(t *testing.T, folder string) []os.DirEntry {
	t.Helper()
	found, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
