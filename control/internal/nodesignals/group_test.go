package nodesignals

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// groupFiles makes directories with the files of a control group.
func groupFiles(t *testing.T, directories ...map[string]string) []string {
	t.Helper()
	var paths []string
	for _, files := range directories {
		path := t.TempDir()
		for name, text := range files {
			replace(t, filepath.Join(path, name), text)
		}
		paths = append(paths, path)
	}
	return paths
}

func replace(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestProcessorsOfAGroup(t *testing.T) {
	all := float64(runtime.NumCPU())
	for name, test := range map[string]struct {
		files map[string]string
		want  float64
	}{
		"version 1":           {map[string]string{"cpu.cfs_quota_us": "6000\n", "cpu.cfs_period_us": "20000\n"}, 0.3},
		"version 1, no quota": {map[string]string{"cpu.cfs_quota_us": "-1\n", "cpu.cfs_period_us": "100000\n"}, all},
		"version 2":           {map[string]string{"cpu.max": "25000 100000\n"}, 0.25},
		"version 2, no quota": {map[string]string{"cpu.max": "max 100000\n"}, all},
		"more than there are": {map[string]string{"cpu.max": "100000000 100000\n"}, all},
		"nothing":             {nil, all},
		"nonsense":            {map[string]string{"cpu.max": "a lot"}, all},
		"no period":           {map[string]string{"cpu.cfs_quota_us": "6000\n", "cpu.cfs_period_us": "0\n"}, all},
	} {
		t.Run(name, func(t *testing.T) {
			g := &group{directories: groupFiles(t, test.files)}
			if got := g.cpus(); got != test.want {
				t.Errorf("%v processors, want %v", got, test.want)
			}
		})
	}
}

func TestTimeOfAGroup(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  time.Duration
		ok    bool
	}{
		"version 1":  {map[string]string{"cpuacct.usage": "1500000000\n"}, 1500 * time.Millisecond, true},
		"version 2":  {map[string]string{"cpu.stat": "usage_usec 2500000\nuser_usec 1\n"}, 2500 * time.Millisecond, true},
		"nothing":    {nil, 0, false},
		"no such":    {map[string]string{"cpu.stat": "user_usec 1\n"}, 0, false},
		"no number":  {map[string]string{"cpu.stat": "usage_usec many\n"}, 0, false},
		"no number1": {map[string]string{"cpuacct.usage": "many"}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := &group{directories: groupFiles(t, test.files)}
			if got, ok := g.used(); ok != test.ok || ok && got != test.want {
				t.Errorf("%v, %v; want %v, %v", got, ok, test.want, test.ok)
			}
		})
	}
}

// A container with three tenths of a processor that uses them up is fully loaded, whatever the machine is.
func TestSamplesOfAGroup(t *testing.T) {
	directories := groupFiles(t, map[string]string{"cpu.cfs_quota_us": "30000", "cpu.cfs_period_us": "100000"},
		map[string]string{"cpuacct.usage": "1000000000"})
	usage := filepath.Join(directories[1], "cpuacct.usage")
	now := time.Unix(1000, 0)
	sampler := NewInGroup(t.TempDir(), directories, func() time.Time { return now })
	if used := sampler.Sample().CPUUsed; used != 1 {
		t.Errorf("%v before there was a sample", used)
	}
	step := func(usageNanoseconds string, want float64) {
		t.Helper()
		replace(t, usage, usageNanoseconds)
		now = now.Add(time.Second)
		if used := sampler.Sample().CPUUsed; used < want-1e-9 || used > want+1e-9 {
			t.Errorf("%v used, want %v", used, want)
		}
	}
	step("1300000000", 1)
	step("1300000000", 0.5)
	step("1450000000", 0.5)
	step("9000000000", 0.75) // More than the quota, as after a burst, counts as all of it.
	if cpus := sampler.CPUs(); cpus != 0.3 {
		t.Errorf("%v processors", cpus)
	}
	if err := os.Remove(usage); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Second)
	if used := sampler.Sample().CPUUsed; used != 1 {
		t.Errorf("%v used, though nothing can be read", used)
	}
}

func TestProcessorsWithoutAGroup(t *testing.T) {
	if cpus := New("/proc", time.Now).CPUs(); cpus != float64(runtime.NumCPU()) {
		t.Errorf("%v processors", cpus)
	}
}

// FuzzGroup reads bytes as the files of a control group. What is accepted can be calculated with.
func FuzzGroup(f *testing.F) {
	f.Add("25000 100000\n")
	f.Add("max 100000")
	f.Add("usage_usec 2500000\nuser_usec 1\n")
	f.Fuzz(func(t *testing.T, content string) {
		if cpus, ok := parseCPUMax(content); ok && !(cpus > 0) {
			t.Errorf("%q are %v processors", content, cpus)
		}
		if used, ok := parseUsage(content); ok && used < 0 {
			t.Errorf("%q is a usage of %v", content, used)
		}
	})
}
