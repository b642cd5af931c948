package nodesignals

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// procReader reads the files of a procfs, all into the same buffer.
type procReader struct {
	path   string
	buffer []byte
}

// leastRead is room for the files of most machines.
const leastRead = 4 << 10

// read returns the content of a file. It goes around package os, whose poller would be woken by each
// file that is opened: the kernel takes those of a procfs for ready at any time.
func (r *procReader) read(name string) (string, error) {
	path := filepath.Join(r.path, name)
	file, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(file) }()
	content := r.buffer[:0]
	for {
		content = slices.Grow(content, leastRead)
		r.buffer = content
		count, err := unix.Read(file, content[len(content):cap(content)])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return "", &fs.PathError{Op: "read", Path: path, Err: err}
		case count == 0:
			return string(content), nil
		}
		content = content[:len(content)+count]
	}
}

// cpuTimes are those of all processors together, in any unit. The time of guests is part of user and
// nice.
type cpuTimes struct {
	user, nice, system, idle, iowait, irq, softIRQ, steal float64
}

// parseCPU reads the first line of /proc/stat, in ticks; false if it is none of processors.
func parseCPU(content string) (cpuTimes, bool) {
	line, _, _ := strings.Cut(content, "\n")
	fields := strings.Fields(line)
	var times cpuTimes
	columns := []*float64{
		&times.user, &times.nice, &times.system, &times.idle, &times.iowait, &times.irq, &times.softIRQ, &times.steal,
	}
	if len(fields) <= len(columns) || fields[0] != "cpu" {
		return cpuTimes{}, false
	}
	for i, column := range columns {
		ticks, err := strconv.ParseUint(fields[i+1], 10, 64)
		if err != nil {
			return cpuTimes{}, false
		}
		*column = float64(ticks)
	}
	return times, true
}

// parsePressure reads the share of the last 10 s in which some task waited; false if there is none.
func parsePressure(content string) (float64, bool) {
	fields, found := strings.CutPrefix(content, "some avg10=")
	if !found {
		return 0, false
	}
	text, _, _ := strings.Cut(fields, " ")
	percent, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(percent) || percent < 0 {
		return 0, false
	}
	return min(percent/100, 1), true
}

// diskCounters are those of a disk since it came.
type diskCounters struct {
	readSectors, writtenSectors            uint64
	busyMilliseconds, weightedMilliseconds uint64
}

// parseDisks reads /proc/diskstats, whose lines the kernel explains in
// Documentation/admin-guide/iostats.rst; false if a line is of another form.
func parseDisks(content string) (map[string]diskCounters, bool) {
	disks := make(map[string]diskCounters)
	for line := range strings.Lines(content) {
		fields := strings.Fields(line)
		if len(fields) < 14 {
			return nil, false
		}
		disk, err := parseDisk(fields)
		if err != nil {
			return nil, false
		}
		disks[fields[2]] = disk
	}
	return disks, true
}

func parseDisk(columns []string) (diskCounters, error) {
	var disk diskCounters
	var problems [4]error
	disk.readSectors, problems[0] = strconv.ParseUint(columns[5], 10, 64)
	disk.writtenSectors, problems[1] = strconv.ParseUint(columns[9], 10, 64)
	disk.busyMilliseconds, problems[2] = strconv.ParseUint(columns[12], 10, 64)
	disk.weightedMilliseconds, problems[3] = strconv.ParseUint(columns[13], 10, 64)
	return disk, errors.Join(problems[:]...)
}
