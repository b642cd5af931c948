package nodesignals

import (
	"math"
	"slices"
	"strings"
	"time"

	"sluice.dev/control/internal/policy"
)

// sectorBytes is the unit of the kernel's counters, whatever the device's own sectors are.
const sectorBytes = 512

// wholeDisks leaves out partitions, whose traffic is that of their disk, and devices that were never
// used.
func wholeDisks(all map[string]diskCounters) map[string]diskCounters {
	disks := make(map[string]diskCounters, len(all))
	for name, counters := range all {
		if counters != (diskCounters{}) && !isPartition(name, all) {
			disks[name] = counters
		}
	}
	return disks
}

// isPartition says whether a name is that of a partition of one of the disks. The kernel names the
// second partition of sda "sda2", that of nvme0n1, which ends in a digit, "nvme0n1p2" (disk_name() in
// block/partitions/core.c).
func isPartition(name string, disks map[string]diskCounters) bool {
	disk := strings.TrimRight(name, "0123456789")
	if disk == name || disk == "" {
		return false
	}
	if _, found := disks[disk]; found {
		return true
	}
	disk, found := strings.CutSuffix(disk, "p")
	if !found || !endsInDigit(disk) {
		return false
	}
	_, found = disks[disk]
	return found
}

func endsInDigit(name string) bool {
	return name != "" && strings.ContainsAny(name[len(name)-1:], "0123456789")
}

// compareDisks gives the signals of the disks that are in both readings, sorted by name.
func compareDisks(before, now map[string]diskCounters, elapsed time.Duration) []policy.DeviceSignals {
	var devices []policy.DeviceSignals
	for name, stats := range now {
		last, found := before[name]
		if !found {
			continue
		}
		if device, ok := compareDisk(name, last, stats, elapsed); ok {
			devices = append(devices, device)
		}
	}
	slices.SortFunc(devices, func(a, b policy.DeviceSignals) int { return strings.Compare(a.Name, b.Name) })
	return devices
}

// compareDisk gives the signals of a disk; false if its counters have started anew, because another
// disk has taken its name.
func compareDisk(name string, before, now diskCounters, elapsed time.Duration) (policy.DeviceSignals, bool) {
	readSectors, ok1 := counterIncrease(before.readSectors, now.readSectors)
	writtenSectors, ok2 := counterIncrease(before.writtenSectors, now.writtenSectors)
	busyMilliseconds, ok3 := counterIncrease(before.busyMilliseconds, now.busyMilliseconds)
	weightedMilliseconds, ok4 := counterIncrease(before.weightedMilliseconds, now.weightedMilliseconds)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return policy.DeviceSignals{}, false
	}
	seconds := elapsed.Seconds()
	return policy.DeviceSignals{
		Name:                name,
		InFlight:            weightedMilliseconds / 1000 / seconds,
		ReadBytesPerSecond:  readSectors * sectorBytes / seconds,
		WriteBytesPerSecond: writtenSectors * sectorBytes / seconds,
		Utilisation:         min(1, busyMilliseconds/1000/seconds),
	}, true
}

// counterIncrease of a counter that may have wrapped at 32 bits, as those of milliseconds do: after 50
// days of one request in flight. False if it went back without being near that.
func counterIncrease(before, now uint64) (float64, bool) {
	const half = math.MaxUint32 / 2
	switch {
	case now >= before:
		return float64(now - before), true
	case before <= math.MaxUint32 && before > half && now < half:
		return float64(now + math.MaxUint32 + 1 - before), true
	default:
		return 0, false
	}
}
