// Package compaction holds what a compaction is that one node runs for a store of another, of RocksDB or of
// HBase, and what may become of it. It knows neither how jobs are sent nor how they are run.
package compaction

import (
	"fmt"
	"path/filepath"
	"strings"

	"sluice.dev/control/internal/store"
)

// OutputPrefix begins the name of the directory that a job writes to; the job's id follows.
const OutputPrefix = ".sluice-compaction-"

// Bounds of a job. All messages that a job goes through have room for them.
const (
	// MaxBlobBytes bounds the store's serialised forms of a job and of its result.
	MaxBlobBytes = 2 << 20

	maxIDBytes   = 128
	maxPathBytes = 1024
	maxDataPaths = 64
	maxNameBytes = 255
	maxObjects   = 64
	// A program ends its tables where those of the next level do: without being told of these it still may.
	maxNextLevelTables   = 4096
	maxNextLevelKeyBytes = 256 << 10
	// MaxLevel is RocksDB's greatest number of levels, far above those in use.
	MaxLevel = 255
	// MaxCount is the greatest whole number that every JSON library keeps exactly.
	MaxCount = 1<<53 - 1
)

// Job is one compaction, as RocksDB hands it to a compaction service, or of a store of HBase.
type Job struct {
	// ID tells the jobs of a node apart.
	ID string `json:"id"`
	// PoolSession is, of a database in a pool, the store's session with it. It is for the store's agent alone,
	// which puts Pool in its place.
	PoolSession string     `json:"pool_session,omitempty"`
	Pool        *PoolPlace `json:"pool,omitempty"`
	// DatabasePath and DataPaths are the directories that hold the database's files; of HBase, DatabasePath is
	// the URI of the region's directory, and there are no others. In a pool they are paths of the volume, and
	// there is one.
	DatabasePath string   `json:"database_path"`
	DataPaths    []string `json:"data_paths"`
	// OutputPath is a directory that the store has made for what the job writes; of HBase, the URI of one in
	// the region's .tmp, which the worker makes.
	OutputPath string `json:"output_path"`
	// RocksDB or HBase is the version of the store, and tells which of them it is.
	RocksDB       Version  `json:"rocksdb_version,omitzero"`
	HBase         Version  `json:"hbase_version,omitzero"`
	PluginVersion string   `json:"plugin_version"`
	ColumnFamily  string   `json:"column_family"`
	InputLevel    uint32   `json:"input_level"`
	OutputLevel   uint32   `json:"output_level"`
	InputBytes    uint64   `json:"input_bytes"`
	InputFiles    uint64   `json:"input_files"`
	Objects       []Object `json:"objects"`
	// Input is the store's own serialised form of the job.
	Input []byte `json:"input"`
	// IsAutomatic says that RocksDB has begun it by itself.
	IsAutomatic bool `json:"is_automatic,omitempty"`
	// NextLevelTables are what the output will be compacted with next.
	NextLevelTables []Table `json:"next_level_tables,omitempty"`
}

// Table is a table of the database, by its first and last user key.
type Table struct {
	Smallest []byte `json:"smallest"`
	Largest  []byte `json:"largest"`
	Bytes    uint64 `json:"bytes"`
}

// Version is a version of a store.
type Version struct {
	Major uint32 `json:"major"`
	Minor uint32 `json:"minor"`
	Patch uint32 `json:"patch"`
}

// Series is MAJOR.MINOR.
func (v Version) Series() string {
	return fmt.Sprintf("%d.%d", v.Major, v.Minor)
}

// HBaseSeries is the name of a series of HBase: those of RocksDB, which were there first, are bare numbers.
func HBaseSeries(series string) string {
	return "hbase-" + series
}

// IsHBase says whether the store is one of HBase, else it is one of RocksDB.
func (j Job) IsHBase() bool {
	return j.HBase != Version{}
}

// Series names the programs that the job is for: those of the series of its store.
func (j Job) Series() string {
	if j.IsHBase() {
		return HBaseSeries(j.HBase.Series())
	}
	return j.RocksDB.Series()
}

// Object is an object of the embedding program that a compaction calls, such as a merge operator.
type Object struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Store is the store for who reads, such as RocksDB 11.8.
func (j Job) Store() string {
	if j.IsHBase() {
		return "HBase " + j.HBase.Series()
	}
	return "RocksDB " + j.RocksDB.Series()
}

// Validate says what is wrong with a job, whatever the node.
func (j Job) Validate() error {
	if !IsID(j.ID) {
		return store.Invalidf("the id of the job %.150q is not 1 to %d letters, digits, \".\", \"_\" and \"-\", the first a letter or digit",
			j.ID, maxIDBytes)
	}
	if err := j.validateStore(); err != nil {
		return err
	}
	if err := j.validateTexts(); err != nil {
		return err
	}
	if err := j.validateNextLevel(); err != nil {
		return err
	}
	switch {
	case j.InputLevel > MaxLevel || j.OutputLevel > MaxLevel:
		return store.Invalidf("the levels %d and %d of the job are not both at most %d", j.InputLevel, j.OutputLevel, MaxLevel)
	case j.InputBytes > MaxCount || j.InputFiles > MaxCount:
		return store.Invalidf("the job has %d bytes in %d files: both must be at most 2^53-1", j.InputBytes, j.InputFiles)
	case len(j.Input) == 0 || len(j.Input) > MaxBlobBytes:
		return store.Invalidf("the input of the job has %d bytes, where 1 to %d are allowed", len(j.Input), MaxBlobBytes)
	}
	return nil
}

func (j Job) validateStore() error {
	switch {
	case j.IsHBase():
		return j.validateRegion()
	case j.isInPool():
		return j.validatePool()
	default:
		return j.validatePaths()
	}
}

func (j Job) validatePaths() error {
	if len(j.DataPaths) > maxDataPaths {
		return store.Invalidf("the job has %d data paths, at most %d are allowed", len(j.DataPaths), maxDataPaths)
	}
	for _, path := range append([]string{j.DatabasePath, j.OutputPath}, j.DataPaths...) {
		if err := ValidatePath(path); err != nil {
			return err
		}
	}
	if want := OutputPrefix + j.ID; filepath.Base(j.OutputPath) != want {
		return store.Invalidf("the output path %q of the job does not end in %q", j.OutputPath, want)
	}
	return nil
}

func (j Job) validateTexts() error {
	if len(j.Objects) > maxObjects {
		return store.Invalidf("the job needs %d objects, at most %d are allowed", len(j.Objects), maxObjects)
	}
	if err := store.ValidateText("version of the plug-in", j.PluginVersion, maxNameBytes); err != nil {
		return err
	}
	if err := store.ValidateText("column family", j.ColumnFamily, maxPathBytes); err != nil {
		return err
	}
	for _, object := range j.Objects {
		if err := object.validate(); err != nil {
			return err
		}
	}
	return nil
}

func (j Job) validateNextLevel() error {
	if len(j.NextLevelTables) > maxNextLevelTables {
		return store.Invalidf("the job tells of %d tables of the next level, at most %d are allowed", len(j.NextLevelTables), maxNextLevelTables)
	}
	keyBytes := 0
	for _, table := range j.NextLevelTables {
		if table.Bytes > MaxCount {
			return store.Invalidf("a table of the next level has %d bytes: it must be at most 2^53-1", table.Bytes)
		}
		keyBytes += len(table.Smallest) + len(table.Largest)
	}
	if keyBytes > maxNextLevelKeyBytes {
		return store.Invalidf("the keys of the tables of the next level have %d bytes, at most %d are allowed", keyBytes, maxNextLevelKeyBytes)
	}
	return nil
}

func (o Object) validate() error {
	if o.Kind == "" || strings.Trim(o.Kind, "abcdefghijklmnopqrstuvwxyz-") != "" || len(o.Kind) > maxNameBytes {
		return store.Invalidf("the kind of object %.70q is no word of small letters and hyphens", o.Kind)
	}
	if o.Name == "" {
		return store.Invalidf("an object of the kind %s has no name", o.Kind)
	}
	return store.ValidateText("name of the "+o.Kind, o.Name, maxPathBytes)
}

// IsID says whether a text has the form of the id of a job.
func IsID(text string) bool {
	const words = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return text != "" && len(text) <= maxIDBytes && strings.Contains(words, text[:1]) &&
		strings.Trim(text, words+"._-") == ""
}

// ValidatePath says whether a path is absolute and in its shortest form, so that it means the same to
// everybody who compares it.
func ValidatePath(path string) error {
	if err := store.ValidateText("path", path, maxPathBytes); err != nil {
		return err
	}
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return store.Invalidf("the path %q must begin with / and be without //, . and ..", path)
	}
	return nil
}
