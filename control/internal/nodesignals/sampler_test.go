package nodesignals

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/policy"
)

// procTree is a procfs that a test writes, with the clock that goes with it.
type procTree struct {
	t    testing.TB
	path string
	now  time.Time
}

func newProcTree(t testing.TB) *procTree {
	t.Helper()
	return &procTree{t: t, path: t.TempDir(), now: time.Now()}
}

func (p *procTree) clock() time.Time { return p.now }

func (p *procTree) write(name, content string) {
	p.t.Helper()
	path := filepath.Join(p.path, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *procTree) remove(name string) {
	p.t.Helper()
	if err := os.Remove(filepath.Join(p.path, name)); err != nil {
		p.t.Fatal(err)
	}
}

// sampleAfter lets time pass and samples.
func (p *procTree) sampleAfter(s *Sampler, elapsed time.Duration) policy.NodeSignals {
	p.now = p.now.Add(elapsed)
	return s.Sample()
}

// diskLine has the fields of Linux 6: reads, writes and times, discards, flushes.
func diskLine(name, readSectors, writtenSectors, busyMilliseconds, weightedMilliseconds string) string {
	return strings.Join([]string{"8 0", name, "1 0", readSectors, "0 1 0", writtenSectors, "0 0",
		busyMilliseconds, weightedMilliseconds, "0 0 0 0 0 0"}, " ") + "\n"
}

func TestSampleOfACompleteTree(t *testing.T) {
	proc := newProcTree(t)
	proc.write("stat", "cpu 1000 0 500 8000 500 0 0 0 0 0\ncpu0 1000 0 500 8000 500 0 0 0 0 0\nbtime 1\n")
	proc.write("diskstats", diskLine("sdb", "0", "8", "0", "0")+
		diskLine("sda", "1000", "2000", "3000", "4000")+
		diskLine("sda1", "1000", "2000", "3000", "4000"))
	proc.write("pressure/cpu", "some avg10=25.00 avg60=1.00 avg300=1.00 total=1\n")
	proc.write("pressure/io", "some avg10=50.50 avg60=1.00 avg300=1.00 total=1\nfull avg10=9.00 avg60=1.00 avg300=1.00 total=1\n")
	proc.write("pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
	sampler := New(proc.path, proc.clock)

	// 2 s: 100 ticks of use, 300 of idleness; 4 requests in flight while the disk was busy, half the time.
	proc.write("stat", "cpu 1050 25 525 8200 600 0 0 0 0 0\n")
	proc.write("diskstats", diskLine("sdb", "0", "8", "0", "0")+
		diskLine("sda", "3000", "6000", "4000", "8000")+
		diskLine("sda1", "3000", "6000", "4000", "8000"))
	got := proc.sampleAfter(sampler, 2*time.Second)
	want := policy.NodeSignals{
		SampledAt: proc.clock(),
		CPUUsed:   0.25, CPUPressure: 0.25, IOPressure: 0.505, MemoryPressure: 0,
		Devices: []policy.DeviceSignals{
			{Name: "sda", InFlight: 2, ReadBytesPerSecond: 512000, WriteBytesPerSecond: 1024000, Utilisation: 0.5},
			{Name: "sdb"},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestSampleOfAnEmptyTree(t *testing.T) {
	unknown := func(at time.Time) policy.NodeSignals {
		return policy.NodeSignals{SampledAt: at, CPUUsed: 1, CPUPressure: -1, IOPressure: -1, MemoryPressure: -1}
	}
	proc := newProcTree(t)
	for name, path := range map[string]string{
		"no files": proc.path, "no folder": filepath.Join(proc.path, "missing"),
	} {
		sampler := New(path, proc.clock)
		if got := proc.sampleAfter(sampler, time.Second); !reflect.DeepEqual(got, unknown(proc.clock())) {
			t.Errorf("%s: got %+v, want %+v", name, got, unknown(proc.clock()))
		}
	}
}

func TestSampleOfFilesThatAreUnreadable(t *testing.T) {
	unknown := func(at time.Time) policy.NodeSignals {
		return policy.NodeSignals{SampledAt: at, CPUUsed: 1, CPUPressure: -1, IOPressure: -1, MemoryPressure: -1}
	}
	proc := newProcTree(t)
	proc.write("stat", "cpu many\n")
	proc.write("diskstats", "8 0 sda lots\n")
	proc.write("pressure/cpu", "some avg10=NaN avg60=1.00 avg300=1.00 total=1\n")
	proc.write("pressure/io", "some avg10=\n")
	proc.write("pressure/memory", "full avg10=1.00 avg60=1.00 avg300=1.00 total=1\n")
	sampler := New(proc.path, proc.clock)
	if got := proc.sampleAfter(sampler, time.Second); !reflect.DeepEqual(got, unknown(proc.clock())) {
		t.Errorf("got %+v, want %+v", got, unknown(proc.clock()))
	}
}

func TestCPUIsUnknownAgainWhenReadingFails(t *testing.T) {
	proc := newProcTree(t)
	proc.write("stat", "cpu 0 0 0 1000 0 0 0 0 0 0\n")
	sampler := New(proc.path, proc.clock)
	steps := []struct {
		stat string
		want float64
	}{
		{"cpu 0 0 0 1100 0 0 0 0 0 0\n", 0},
		{"", 1}, // gone
		{"cpu 0 0 0 1300 0 0 0 0 0 0\n", 1},
		{"cpu 0 0 0 1400 0 0 0 0 0 0\n", 0},
	}
	for i, step := range steps {
		if step.stat == "" {
			proc.remove("stat")
		} else {
			proc.write("stat", step.stat)
		}
		if got := proc.sampleAfter(sampler, time.Second).CPUUsed; got != step.want {
			t.Errorf("step %d: got %v, want %v", i, got, step.want)
		}
	}
}

func TestSamplesThatAreTooCloseAreOne(t *testing.T) {
	proc := newProcTree(t)
	proc.write("stat", "cpu 0 0 0 1000 0 0 0 0 0 0\n")
	sampler := New(proc.path, proc.clock)
	proc.write("stat", "cpu 100 0 0 1000 0 0 0 0 0 0\n")
	if got := proc.sampleAfter(sampler, leastElapsed-1).CPUUsed; got != 1 {
		t.Errorf("too early for a sample: got %v, want 1 for unknown", got)
	}
	proc.write("stat", "cpu 100 0 0 1100 0 0 0 0 0 0\n")
	if got := proc.sampleAfter(sampler, 1).CPUUsed; got != 0.5 {
		t.Errorf("over both stretches: got %v, want 0.5", got)
	}
}

func TestClockThatGoesBackChangesNothing(t *testing.T) {
	proc := newProcTree(t)
	proc.write("stat", "cpu 0 0 0 1000 0 0 0 0 0 0\n")
	sampler := New(proc.path, proc.clock)
	proc.write("stat", "cpu 100 0 0 1100 0 0 0 0 0 0\n")
	first := proc.sampleAfter(sampler, time.Second)
	proc.write("stat", "cpu 900 0 0 1100 0 0 0 0 0 0\n")
	if got := proc.sampleAfter(sampler, -time.Hour); !reflect.DeepEqual(got, first) {
		t.Errorf("got %+v, want %+v", got, first)
	}
}

func TestSampleOfThisKernel(t *testing.T) {
	now := time.Now()
	sampler := New("/proc", func() time.Time { return now })
	// The kernel's own counters advance as processor time is used.
	deadline := time.Now().Add(30 * time.Second)
	for !sampler.cpu.hasAverage {
		if time.Now().After(deadline) {
			t.Fatal("no processor time has passed in 30 s")
		}
		now = now.Add(time.Second)
		sampler.Sample()
	}
	signals := sampler.Sample()
	if signals.CPUUsed < 0 || signals.CPUUsed > 1 {
		t.Errorf("CPU used is %v, want 0 to 1", signals.CPUUsed)
	}
	for _, device := range signals.Devices {
		checkDevice(t, device)
	}
}

func checkDevice(t *testing.T, device policy.DeviceSignals) {
	t.Helper()
	for _, value := range []float64{device.InFlight, device.ReadBytesPerSecond, device.WriteBytesPerSecond, device.Utilisation} {
		if !(value >= 0) || math.IsInf(value, 0) {
			t.Errorf("device %+v has %v", device, value)
		}
	}
	if device.Utilisation > 1 {
		t.Errorf("device %+v is used more than all the time", device)
	}
}

func FuzzSample(f *testing.F) {
	f.Add("cpu 1 2 3 4 5 6 7 8 9 10\n", "cpu 2 3 4 5 6 7 8 9 10 11\n", diskLine("sda", "1", "2", "3", "4"),
		diskLine("sda", "2", "3", "4", "5"), "some avg10=1.00 avg60=1.00 avg300=1.00 total=1\n")
	f.Add("cpu nan inf -1 1e308\n", "cpu 1e308 1e308 1e308 1e308\n", diskLine("sda", "18446744073709551615", "0", "4294967295", "1"),
		diskLine("sda", "0", "0", "0", "0"), "some avg10=-inf avg60=1 avg300=1 total=1")
	proc := newProcTree(f)
	f.Fuzz(func(t *testing.T, stat1, stat2, disks1, disks2, pressure string) {
		proc.t = t
		proc.write("stat", stat1)
		proc.write("diskstats", disks1)
		proc.write("pressure/io", pressure)
		sampler := New(proc.path, proc.clock)
		proc.write("stat", stat2)
		proc.write("diskstats", disks2)
		signals := proc.sampleAfter(sampler, time.Second)
		if !(signals.CPUUsed >= 0 && signals.CPUUsed <= 1) {
			t.Errorf("CPU used is %v", signals.CPUUsed)
		}
		if p := signals.IOPressure; p != -1 && !(p >= 0 && p <= 1) {
			t.Errorf("pressure is %v", p)
		}
		for _, device := range signals.Devices {
			checkDevice(t, device)
		}
	})
}
