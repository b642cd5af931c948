// Package nodesignals samples the state of a node from procfs.
//
// What it sees is the kernel's: in a container, that of the whole machine, unless somebody has mounted
// another procfs there. The load of the processors can be that of a control group instead.
package nodesignals

import (
	"runtime"
	"time"

	"sluice.dev/control/internal/policy"
)

// leastElapsed is the shortest time that is measured over: the kernel counts processor time in steps
// of 10 ms, so that less would be noise.
const leastElapsed = 100 * time.Millisecond

// Sampler turns the kernel's counters into signals. It is not safe for concurrent use.
type Sampler struct {
	proc procReader
	// group is nil where the load is that of the whole machine.
	group *group
	clock func() time.Time

	sampledAt time.Time
	signals   policy.NodeSignals
	cpu       cpuAverage
	groupUsed time.Duration
	disks     map[string]diskCounters
}

// New makes a Sampler of the procfs at a path, usually "/proc", and takes its first readings, with
// which the first Sample is compared. The clock must be monotonic, as time.Now is.
func New(procPath string, clock func() time.Time) *Sampler {
	return newSampler(procPath, nil, clock)
}

// NewInGroup makes a Sampler whose load is that of a control group, as a share of the processors that the
// group may use. Its files are in the directories.
func NewInGroup(procPath string, directories []string, clock func() time.Time) *Sampler {
	return newSampler(procPath, &group{directories: directories}, clock)
}

func newSampler(procPath string, group *group, clock func() time.Time) *Sampler {
	s := &Sampler{proc: procReader{path: procPath}, group: group, clock: clock, sampledAt: clock()}
	s.read(0)
	return s
}

// CPUs is how many processors the load is a share of; a part of one where there is a quota.
func (s *Sampler) CPUs() float64 {
	if s.group == nil {
		return float64(runtime.NumCPU())
	}
	return s.group.cpus()
}

// Sample returns the signals since the last call; it is made to be called once a second, but goes by
// the time that has passed. What cannot be read is left out: pressure is negative, a device is missing,
// and the processors count as fully used, so that nobody takes an unknown node for an idle one.
func (s *Sampler) Sample() policy.NodeSignals {
	now := s.clock()
	if elapsed := now.Sub(s.sampledAt); elapsed >= leastElapsed {
		s.sampledAt = now
		s.read(elapsed)
	}
	return s.signals
}

// read takes new readings; it compares them with the last ones unless elapsed is 0.
func (s *Sampler) read(elapsed time.Duration) {
	s.signals = policy.NodeSignals{
		SampledAt:      s.sampledAt,
		CPUUsed:        s.readCPU(elapsed),
		CPUPressure:    s.readPressure("cpu"),
		IOPressure:     s.readPressure("io"),
		MemoryPressure: s.readPressure("memory"),
		Devices:        s.readDevices(elapsed),
	}
}

func (s *Sampler) readCPU(elapsed time.Duration) float64 {
	if s.group != nil {
		return s.readGroup(elapsed)
	}
	content, err := s.proc.read("stat")
	if err != nil {
		return s.cpu.forget()
	}
	times, ok := parseCPU(content)
	if !ok {
		return s.cpu.forget()
	}
	return s.cpu.add(times, elapsed)
}

func (s *Sampler) readGroup(elapsed time.Duration) float64 {
	used, ok := s.group.used()
	if !ok {
		return s.cpu.forget()
	}
	before := s.groupUsed
	s.groupUsed = used
	// The first reading has nothing to compare with.
	if share, isKnown := s.group.share(before, used, elapsed); isKnown {
		s.cpu.addShare(share, elapsed)
	}
	return s.cpu.value()
}

// readPressure is negative if the kernel does not tell: it may be too old, or have it switched off.
func (s *Sampler) readPressure(resource string) float64 {
	const unknown = -1
	content, err := s.proc.read("pressure/" + resource)
	if err != nil {
		return unknown
	}
	share, ok := parsePressure(content)
	if !ok {
		return unknown
	}
	return share
}

// readDevices reads nothing from sysfs, which a container may not have.
func (s *Sampler) readDevices(elapsed time.Duration) []policy.DeviceSignals {
	before := s.disks
	s.disks = nil
	content, err := s.proc.read("diskstats")
	if err != nil {
		return nil
	}
	disks, ok := parseDisks(content)
	if !ok {
		return nil
	}
	s.disks = wholeDisks(disks)
	if elapsed == 0 {
		return nil
	}
	return compareDisks(before, s.disks, elapsed)
}
