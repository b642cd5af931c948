package nodesignals

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestDevicesThatComeAndGo(t *testing.T) {
	proc := newProcTree(t)
	idle := diskLine("sda", "8", "8", "8", "8")
	proc.write("diskstats", idle)
	sampler := New(proc.path, proc.clock)
	steps := []struct {
		name, disks, expected string
	}{
		{"a new one has nothing to be compared with", idle + diskLine("sdb", "8", "8", "8", "8"), "sda"},
		{"then it has", idle + diskLine("sdb", "8", "8", "8", "8"), "sda sdb"},
		{"one that was replaced starts anew", idle + diskLine("sdb", "1", "1", "1", "1"), "sda"},
		{"then it counts again", idle + diskLine("sdb", "2", "2", "2", "2"), "sda sdb"},
		{"one went", diskLine("sdb", "2", "2", "2", "2"), "sdb"},
		{"never used ones do not count", idle + diskLine("loop0", "0", "0", "0", "0"), ""},
		{"all went", "", ""},
	}
	for _, step := range steps {
		proc.write("diskstats", strings.ReplaceAll(step.disks, "loop0 1 0 0 0 1", "loop0 0 0 0 0 0"))
		var names []string
		for _, device := range proc.sampleAfter(sampler, time.Second).Devices {
			names = append(names, device.Name)
		}
		if got := strings.Join(names, " "); got != step.expected {
			t.Errorf("%s: got %q, want %q", step.name, got, step.expected)
		}
	}
}

func TestCounterIncrease(t *testing.T) {
	tests := []struct {
		name        string
		before, now uint64
		expected    float64
		ok          bool
	}{
		{"none", 5, 5, 0, true},
		{"some", 5, 8, 3, true},
		{"beyond 32 bits", 1 << 40, 1<<40 + 7, 7, true},
		{"wrapped at 32 bits", 1<<32 - 6, 10, 16, true},
		{"went back", 1000, 999, 0, false},
		{"went back below the wrap", 1<<32 - 1, 1<<32 - 2, 0, false},
		{"started anew beyond 32 bits", 1 << 40, 3, 0, false},
	}
	for _, test := range tests {
		got, ok := counterIncrease(test.before, test.now)
		if got != test.expected || ok != test.ok {
			t.Errorf("%s: got %v, %v, want %v, %v", test.name, got, ok, test.expected, test.ok)
		}
	}
}

func TestIsPartition(t *testing.T) {
	disks := map[string]diskCounters{}
	for _, name := range []string{
		"sda", "sdaa", "vda", "nvme0n1", "mmcblk0", "mmcblk0boot0", "loop1", "loop10", "md127", "dm-0", "sr0", "zram0",
	} {
		disks[name] = diskCounters{}
	}
	for name := range disks {
		if isPartition(name, disks) {
			t.Errorf("%s is a disk", name)
		}
	}
	for _, name := range []string{"sda1", "sda15", "sdaa2", "vda1", "nvme0n1p1", "mmcblk0p2", "loop1p3", "md127p1"} {
		if !isPartition(name, disks) {
			t.Errorf("%s is a partition", name)
		}
	}
	// Without its disk, as with the virtual disks of Xen, it is one itself.
	for _, name := range []string{"xvda1", "nvme1n1p1", "1", "p1", ""} {
		if isPartition(name, disks) {
			t.Errorf("%q is a disk", name)
		}
	}
}

func FuzzIsPartition(f *testing.F) {
	f.Add("sda", uint8(1))
	f.Add("nvme0n1", uint8(12))
	f.Add("p", uint8(0))
	f.Fuzz(func(t *testing.T, disk string, number uint8) {
		if disk == "" {
			t.Skip("no name")
		}
		disks := map[string]diskCounters{disk: {}}
		if isPartition(disk, disks) {
			t.Errorf("%q is a partition of itself", disk)
		}
		partition := disk + strconv.Itoa(int(number))
		if endsInDigit(disk) {
			partition = disk + "p" + strconv.Itoa(int(number))
		}
		if !isPartition(partition, disks) {
			t.Errorf("%q is no partition of %q", partition, disk)
		}
		if isPartition(partition, nil) {
			t.Errorf("%q is a partition of nothing", partition)
		}
	})
}
