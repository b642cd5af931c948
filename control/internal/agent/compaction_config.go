package agent

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/admission"
	"sluice.dev/control/internal/compaction/dispatch"
	"sluice.dev/control/internal/compaction/host"
	"sluice.dev/control/internal/compaction/scratch"
	"sluice.dev/control/internal/policies/offload"
	"sluice.dev/control/internal/pool/metadata/entry"
)

// Compaction is the part of a configuration that is about compactions on other nodes. What is left out is
// not done.
type Compaction struct {
	Client *CompactionClient `yaml:"client"`
	Worker *CompactionWorker `yaml:"worker"`
}

// CompactionClient has compactions of this node's stores run elsewhere.
type CompactionClient struct {
	// Socket is where the plug-ins of this node's stores find the agent.
	Socket string `yaml:"socket"`
	Peers  []Peer `yaml:"peers"`
	// ThresholdShare is by how much less loaded a peer must be; one that is more loaded may do where it is
	// negative.
	ThresholdShare float64 `yaml:"threshold_share"`
	// MinimumInputBytes and MinimumOutputLevel keep compactions here that are not worth the way.
	MinimumInputBytes  uint64 `yaml:"minimum_input_bytes"`
	MinimumOutputLevel uint32 `yaml:"minimum_output_level"`
}

// Peer is the agent of a node that may run compactions for this one.
type Peer struct {
	Node    string `yaml:"node"`
	Address string `yaml:"address"`
}

// CompactionWorker runs compactions of other nodes here.
type CompactionWorker struct {
	Programs  []CompactionProgram `yaml:"programs"`
	Libraries []string            `yaml:"libraries"`
	// Paths are the directories below which compactions of RocksDB may read and write.
	Paths []string `yaml:"paths"`
	// HBaseRoots are the root directories of HBase whose regions compactions may read and write.
	HBaseRoots []string `yaml:"hbase_roots"`
	// PoolVolumes are the volumes of a pool whose databases compactions may read and write; NAME* is all that begin so.
	PoolVolumes       []string `yaml:"pool_volumes"`
	StateDirectory    string   `yaml:"state_directory"`
	Slots             uint32   `yaml:"slots"`
	MemoryBytes       uint64   `yaml:"memory_bytes"`
	JobMemoryBytes    uint64   `yaml:"job_memory_bytes"`
	TemporaryBytes    uint64   `yaml:"temporary_bytes"`
	FreeBytes         uint64   `yaml:"free_bytes"`
	LongestJobSeconds float64  `yaml:"longest_job_seconds"`
	Nice              int      `yaml:"nice"`
	// ResumeJobs has a second worker go on with a job whose first one was lost.
	ResumeJobs bool `yaml:"resume_jobs"`
}

// CompactionProgram is the program for the stores of a series of RocksDB, or of HBase.
type CompactionProgram struct {
	Series      string `yaml:"rocksdb_series"`
	HBaseSeries string `yaml:"hbase_series"`
	Path        string `yaml:"path"`
}

// series is as jobs name it.
func (p CompactionProgram) series() string {
	if p.HBaseSeries != "" {
		return compaction.HBaseSeries(p.HBaseSeries)
	}
	return p.Series
}

const (
	defaultCompactionSocket = "/run/sluice/agent/compaction.sock"
	defaultThresholdShare   = 0.2
	defaultMinimumInput     = 16 << 20
	defaultStateDirectory   = "/var/lib/sluice-agent"
	defaultSlots            = 2
	defaultMemoryBytes      = 1 << 30
	defaultJobMemoryBytes   = 512 << 20
	defaultTemporaryBytes   = 64 << 30
	defaultFreeBytes        = 1 << 30
	defaultLongestJob       = 3600
	defaultNice             = 10
	// longestStandstill is how long a worker may get no further; RocksDB counts what it reads and writes.
	longestStandstill = 2 * time.Minute
	// scratchDirectory is where workers of HBase, and of databases in a pool, have temporary files, below the state
	// directory.
	scratchDirectory = "compaction-scratch"

	maxPeers             = 256
	maxCompactionSlots   = 32
	maxCompactionEntries = 64
	leastJobMemoryBytes  = 64 << 20
	longestJobSeconds    = 86400
	leastNice, mostNice  = -20, 19
)

// UnmarshalYAML sets the defaults of what is left out.
func (c *CompactionClient) UnmarshalYAML(unmarshal func(any) error) error {
	*c = CompactionClient{
		Socket: defaultCompactionSocket, ThresholdShare: defaultThresholdShare, MinimumInputBytes: defaultMinimumInput,
	}
	type plain CompactionClient
	return unmarshal((*plain)(c))
}

// UnmarshalYAML sets the defaults of what is left out.
func (w *CompactionWorker) UnmarshalYAML(unmarshal func(any) error) error {
	*w = CompactionWorker{
		StateDirectory: defaultStateDirectory, Slots: defaultSlots,
		MemoryBytes: defaultMemoryBytes, JobMemoryBytes: defaultJobMemoryBytes,
		TemporaryBytes: defaultTemporaryBytes, FreeBytes: defaultFreeBytes,
		LongestJobSeconds: defaultLongestJob, Nice: defaultNice,
	}
	type plain CompactionWorker
	return unmarshal((*plain)(w))
}

func (c *CompactionClient) check(key, node string) error {
	problems := []error{
		checkPath(key+".socket", c.Socket),
		checkCount(key+".peers", len(c.Peers), maxPeers),
		checkRange(key+".threshold_share", c.ThresholdShare, -1, 1),
		checkRange(key+".minimum_input_bytes", float64(c.MinimumInputBytes), 0, compaction.MaxCount),
		checkRange(key+".minimum_output_level", float64(c.MinimumOutputLevel), 0, compaction.MaxLevel),
	}
	seen := make(map[string]bool)
	for i, peer := range c.Peers {
		entry := fmt.Sprintf("%s.peers[%d]", key, i)
		problems = append(problems, checkIdentity(entry+".node", peer.Node), checkAddress(entry+".address", peer.Address))
		switch {
		case seen[peer.Node]:
			problems = append(problems, fmt.Errorf("%s.node %q is there twice: name each peer once", entry, peer.Node))
		case peer.Node == node:
			problems = append(problems, fmt.Errorf("%s.node %q is this node: name the others alone", entry, peer.Node))
		}
		seen[peer.Node] = true
	}
	return errors.Join(problems...)
}

func (w *CompactionWorker) check(key string) error {
	problems := []error{
		w.checkPrograms(key + ".programs"),
		checkPaths(key+".libraries", w.Libraries),
		checkPaths(key+".paths", w.Paths),
		w.checkHBaseRoots(key + ".hbase_roots"),
		w.checkPoolVolumes(key + ".pool_volumes"),
		checkPath(key+".state_directory", w.StateDirectory),
		checkRange(key+".slots", float64(w.Slots), 1, maxCompactionSlots),
		checkRange(key+".job_memory_bytes", float64(w.JobMemoryBytes), leastJobMemoryBytes, compaction.MaxCount),
		checkRange(key+".memory_bytes", float64(w.MemoryBytes), float64(w.JobMemoryBytes), compaction.MaxCount),
		checkRange(key+".temporary_bytes", float64(w.TemporaryBytes), float64(admission.TemporaryBytesOf(0)), compaction.MaxCount),
		checkRange(key+".free_bytes", float64(w.FreeBytes), 0, compaction.MaxCount),
		checkRange(key+".longest_job_seconds", w.LongestJobSeconds, 1, longestJobSeconds),
		checkRange(key+".nice", float64(w.Nice), leastNice, mostNice),
	}
	isHBase := func(program CompactionProgram) bool { return program.HBaseSeries != "" }
	if len(w.Paths) == 0 && len(w.PoolVolumes) == 0 && !isEach(w.Programs, isHBase) {
		problems = append(problems, fmt.Errorf("%s.paths is missing: name the directories below which the databases are, "+
			"or the volumes of a pool in %s.pool_volumes", key, key))
	}
	if len(w.HBaseRoots) == 0 && slices.ContainsFunc(w.Programs, isHBase) {
		problems = append(problems, fmt.Errorf("%s.hbase_roots is missing: name the root directories of HBase, such as hdfs://NAME/hbase", key))
	}
	return errors.Join(problems...)
}

// isEach is false for an empty list.
func isEach[T any](list []T, is func(T) bool) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(entry T) bool { return !is(entry) })
}

func (w *CompactionWorker) checkHBaseRoots(key string) error {
	problems := []error{checkCount(key, len(w.HBaseRoots), maxCompactionEntries)}
	for i, root := range w.HBaseRoots {
		if err := compaction.ValidateLocation(root); err != nil {
			problems = append(problems, fmt.Errorf("%s[%d]: %w", key, i, err))
		}
	}
	return errors.Join(problems...)
}

func (w *CompactionWorker) checkPoolVolumes(key string) error {
	problems := []error{checkCount(key, len(w.PoolVolumes), maxCompactionEntries)}
	for i, volume := range w.PoolVolumes {
		if err := entry.CheckVolume(strings.TrimSuffix(volume, "*")); err != nil {
			problems = append(problems, fmt.Errorf("%s[%d]: %w", key, i, err))
		}
	}
	return errors.Join(problems...)
}

func (w *CompactionWorker) checkPrograms(key string) error {
	problems := []error{checkCount(key, len(w.Programs), maxCompactionEntries)}
	if len(w.Programs) == 0 {
		problems = append(problems, fmt.Errorf("%s is missing: name the program for each series of RocksDB and HBase", key))
	}
	seen := make(map[string]bool)
	for i, program := range w.Programs {
		entry := fmt.Sprintf("%s[%d]", key, i)
		problems = append(problems, program.check(entry))
		if series := program.series(); seen[series] {
			problems = append(problems, fmt.Errorf("%s: the series %q is there twice: name one program for it", entry, series))
		}
		seen[program.series()] = true
	}
	return errors.Join(problems...)
}

func (p CompactionProgram) check(entry string) error {
	if p.HBaseSeries == "" {
		return errors.Join(checkSeries(entry+".rocksdb_series", p.Series), checkPath(entry+".path", p.Path))
	}
	var both error
	if p.Series != "" {
		both = fmt.Errorf("%s has rocksdb_series and hbase_series: give each its own entry", entry)
	}
	return errors.Join(both, checkSeries(entry+".hbase_series", p.HBaseSeries), checkPath(entry+".path", p.Path))
}

// checkSeries takes MAJOR.MINOR in the one form that compares equal.
func checkSeries(key, series string) error {
	const base, bits = 10, 32
	majorText, minorText, _ := strings.Cut(series, ".")
	major, majorErr := strconv.ParseUint(majorText, base, bits)
	minor, minorErr := strconv.ParseUint(minorText, base, bits)
	version := compaction.Version{Major: uint32(major), Minor: uint32(minor)}
	if majorErr != nil || minorErr != nil || version.Series() != series {
		return fmt.Errorf("%s must be MAJOR.MINOR in quotes, such as \"11.8\", not %q", key, series)
	}
	return nil
}

func checkPaths(key string, paths []string) error {
	problems := []error{checkCount(key, len(paths), maxCompactionEntries)}
	for i, path := range paths {
		problems = append(problems, checkPath(fmt.Sprintf("%s[%d]", key, i), path))
	}
	return errors.Join(problems...)
}

func checkCount(key string, count, most int) error {
	if count > most {
		return fmt.Errorf("%s has %d entries, at most %d are allowed", key, count, most)
	}
	return nil
}

// checkRange is written so that not-a-number is refused as well.
func checkRange(key string, number, least, most float64) error {
	if number >= least && number <= most {
		return nil
	}
	return fmt.Errorf("%s must be between %v and %v, not %v", key, least, most, number)
}

func (c *CompactionClient) addresses() []dispatch.Address {
	var addresses []dispatch.Address
	for _, peer := range c.Peers {
		addresses = append(addresses, dispatch.Address{Node: peer.Node, Address: peer.Address})
	}
	return addresses
}

func (c *CompactionClient) parameters() offload.Parameters {
	return offload.Parameters{
		ThresholdShare: c.ThresholdShare, MinimumInputBytes: c.MinimumInputBytes, MinimumOutputLevel: c.MinimumOutputLevel,
	}
}

func (w *CompactionWorker) longestJob() time.Duration {
	return time.Duration(w.LongestJobSeconds * float64(time.Second))
}

// host is for workers that reach a pool at a socket.
func (w *CompactionWorker) host(poolSocket string) host.Config {
	programs := make(map[string]string)
	for _, program := range w.Programs {
		programs[program.series()] = program.Path
	}
	return host.Config{
		Programs: programs, Libraries: w.Libraries, Allowed: scratch.Allowed(w.Paths),
		HBaseRoots:  scratch.HBaseRoots(w.HBaseRoots),
		PoolVolumes: scratch.PoolVolumes(w.PoolVolumes), PoolSocket: poolSocket,
		ScratchDirectory: filepath.Join(w.StateDirectory, scratchDirectory),
		Limits: admission.Limits{
			Slots: w.Slots, MemoryBytes: w.MemoryBytes, JobMemoryBytes: w.JobMemoryBytes,
			TemporaryBytes: w.TemporaryBytes, FreeBytes: w.FreeBytes,
		},
		LongestJob:        w.longestJob(),
		LongestStandstill: longestStandstill,
		Nice:              w.Nice,
		ResumeJobs:        w.ResumeJobs,
	}
}
