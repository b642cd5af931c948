package nodesignals

import (
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// group reads the processor time of a control group, which is that of a container: it has files of its own
// where /proc shows the whole machine.
//
// Version 1 of control groups may have the files in two directories, version 2 has them in one. Each file is
// taken from the first directory that has it.
type group struct {
	directories []string
	reader      procReader
}

// cpus is how many processors the group may use: its quota, or all of them.
func (g *group) cpus() float64 {
	all := float64(runtime.NumCPU())
	quota, ok := g.quota()
	if !ok {
		return all
	}
	return min(quota, all)
}

func (g *group) quota() (float64, bool) {
	if content, ok := g.read("cpu.max"); ok {
		return parseCPUMax(content)
	}
	quota, ok := g.readNumber("cpu.cfs_quota_us")
	period, hasPeriod := g.readNumber("cpu.cfs_period_us")
	if !ok || !hasPeriod || quota <= 0 || period <= 0 {
		return 0, false
	}
	return float64(quota) / float64(period), true
}

// parseCPUMax reads "QUOTA PERIOD", both in microseconds; false if there is no quota.
func parseCPUMax(content string) (float64, bool) {
	quotaText, periodText, _ := strings.Cut(strings.TrimSpace(content), " ")
	quota, quotaErr := strconv.ParseInt(quotaText, 10, 64)
	period, periodErr := strconv.ParseInt(periodText, 10, 64)
	if quotaErr != nil || periodErr != nil || quota <= 0 || period <= 0 {
		return 0, false
	}
	return float64(quota) / float64(period), true
}

// used is the processor time since the group was made; false if it cannot be read.
func (g *group) used() (time.Duration, bool) {
	if nanoseconds, ok := g.readNumber("cpuacct.usage"); ok {
		return time.Duration(nanoseconds), true
	}
	content, ok := g.read("cpu.stat")
	if !ok {
		return 0, false
	}
	return parseUsage(content)
}

// parseUsage reads the line usage_usec of cpu.stat.
func parseUsage(content string) (time.Duration, bool) {
	for line := range strings.Lines(content) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != "usage_usec" {
			continue
		}
		microseconds, err := strconv.ParseUint(text, 10, 53)
		return time.Duration(microseconds) * time.Microsecond, err == nil
	}
	return 0, false
}

func (g *group) readNumber(name string) (int64, bool) {
	content, ok := g.read(name)
	if !ok {
		return 0, false
	}
	number, err := strconv.ParseInt(strings.TrimSpace(content), 10, 64)
	return number, err == nil
}

func (g *group) read(name string) (string, bool) {
	for _, directory := range g.directories {
		if content, err := g.reader.read(filepath.Join(directory, name)); err == nil {
			return content, true
		}
	}
	return "", false
}

// share is the share of the group's processors that was used between two readings; false if it is not known.
func (g *group) share(before, now time.Duration, elapsed time.Duration) (float64, bool) {
	if elapsed <= 0 || now < before {
		return 0, false
	}
	return min(1, (now-before).Seconds()/(elapsed.Seconds()*g.cpus())), true
}
