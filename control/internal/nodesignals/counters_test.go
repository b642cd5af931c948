package nodesignals

import (
	"strings"
	"testing"
	"time"
)

func TestReadOfFilesOfAnyLength(t *testing.T) {
	proc := newProcTree(t)
	reader := procReader{path: proc.path}
	for _, length := range []int{0, 1, leastRead - 1, leastRead, leastRead + 1, 5 * leastRead, 10} {
		content := strings.Repeat("x", length)
		proc.write("file", content)
		if got, err := reader.read("file"); err != nil || got != content {
			t.Errorf("of %d bytes %d were read: %v", length, len(got), err)
		}
	}
	if _, err := reader.read("nothing"); err == nil {
		t.Error("a file that is not there was read")
	}
	if _, err := reader.read("."); err == nil {
		t.Error("a folder was read")
	}
}

func TestParseCPU(t *testing.T) {
	tests := []struct {
		name, content string
		want          cpuTimes
		ok            bool
	}{
		{"with guests, which are in user and nice", "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 5 5\n",
			cpuTimes{user: 1, nice: 2, system: 3, idle: 4, iowait: 5, irq: 6, softIRQ: 7, steal: 8}, true},
		{"of an older kernel", "cpu 1 2 3 4 5 6 7 8", cpuTimes{1, 2, 3, 4, 5, 6, 7, 8}, true},
		{"too short", "cpu 1 2 3 4 5 6 7\n", cpuTimes{}, false},
		{"of one processor", "cpu0 1 2 3 4 5 6 7 8\n", cpuTimes{}, false},
		{"no number", "cpu 1 2 3 4 5 6 7 x\n", cpuTimes{}, false},
		{"nothing", "", cpuTimes{}, false},
	}
	for _, test := range tests {
		if got, ok := parseCPU(test.content); got != test.want || ok != test.ok {
			t.Errorf("%s: got %+v, %v, want %+v, %v", test.name, got, ok, test.want, test.ok)
		}
	}
}

func TestParseDisks(t *testing.T) {
	good := diskLine("sda", "1", "2", "3", "4")
	disks, ok := parseDisks(good + diskLine("sdb", "5", "6", "7", "8"))
	if !ok || len(disks) != 2 || disks["sda"] != (diskCounters{1, 2, 3, 4}) || disks["sdb"] != (diskCounters{5, 6, 7, 8}) {
		t.Errorf("got %+v, %v", disks, ok)
	}
	for _, bad := range []string{"8 0 sdb 1 2 3\n", "\n", diskLine("sdb", "x", "2", "3", "4"), diskLine("sdb", "1", "2", "3", "-4")} {
		if disks, ok := parseDisks(good + bad); ok {
			t.Errorf("%q: got %+v", bad, disks)
		}
	}
}

// What a sample of this machine costs; an agent takes one a second.
func BenchmarkSample(b *testing.B) {
	now := time.Now()
	sampler := New("/proc", func() time.Time { return now })
	for b.Loop() {
		now = now.Add(time.Second)
		sampler.Sample()
	}
}
