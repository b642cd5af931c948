package compaction

import (
	"regexp"
	"strings"

	"sluice.dev/control/internal/store"
)

// TemporaryFolder is where a region has what is not in its stores yet: upstream empties it when it opens
// the region.
const TemporaryFolder = ".tmp"

// authority is a host or a name service of HDFS, with a port or without one.
var authority = regexp.MustCompile(`^hdfs://[A-Za-z0-9._-]+(:[0-9]{1,5})?$`)

// ValidateLocation says whether a text is a URI of HDFS in the one form that compares equal. As in Hadoop,
// nothing in its path is an escape.
func ValidateLocation(location string) error {
	if err := store.ValidateText("location", location, maxPathBytes); err != nil {
		return err
	}
	const scheme = "hdfs://"
	rest, isScheme := strings.CutPrefix(location, scheme)
	host, path, isPath := strings.Cut(rest, "/")
	if !isScheme || !isPath || !authority.MatchString(scheme+host) {
		return store.Invalidf("the location %q must begin with hdfs://, a host or name service, and / after it", location)
	}
	return ValidatePath("/" + path)
}

// validateRegion says what is wrong with a job of HBase. The files that it reads are those of the region, and
// what it writes is where the region has what it may remove.
func (j Job) validateRegion() error {
	if j.RocksDB != (Version{}) {
		return store.Invalidf("the job has the versions of two stores")
	}
	if j.isInPool() {
		return store.Invalidf("a job of HBase is in no pool")
	}
	if len(j.DataPaths) > 0 || len(j.Objects) > 0 || len(j.NextLevelTables) > 0 {
		return store.Invalidf("a job of HBase has no data paths, objects and tables of a next level")
	}
	if err := ValidateLocation(j.DatabasePath); err != nil {
		return err
	}
	if want := j.DatabasePath + "/" + TemporaryFolder + "/" + OutputPrefix + j.ID; j.OutputPath != want {
		return store.Invalidf("the output path %q of the job is not %q", j.OutputPath, want)
	}
	return nil
}
