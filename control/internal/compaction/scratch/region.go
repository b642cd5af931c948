package scratch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sluice.dev/control/internal/compaction"
)

// HBaseRoots are the root directories of HBase, as URIs of HDFS, whose regions jobs may read and write.
type HBaseRoots []string

// regionDepth is how many folders below data a region is: namespace, table and encoded name.
const regionDepth = 3

// Check says whether the region of a job is where a region of one of these roots is, and not just anywhere
// below it: beside the data there are logs, snapshots and archives. A job that is in order names no dots, and
// who asks HDFS is the worker, whose user has to be let in.
func (r HBaseRoots) Check(job compaction.Job) *compaction.Failure {
	for _, root := range r {
		below, isBelow := strings.CutPrefix(job.DatabasePath, strings.TrimSuffix(root, "/")+"/data/")
		if isBelow && len(strings.Split(below, "/")) == regionDepth {
			return nil
		}
	}
	return compaction.Failuref(compaction.Path, "%s is no region below the hbase_roots that the worker's configuration allows", job.DatabasePath)
}

// Make makes a directory on this node for the temporary files of a job whose output is elsewhere.
func Make(directory, id string) (Checked, *compaction.Failure) {
	const onlyOwner = 0o700
	err := os.MkdirAll(directory, onlyOwner)
	if err != nil {
		return Checked{}, compaction.Failuref(compaction.Path, "no directory for temporary files: %v", err)
	}
	resolved, err := filepath.EvalSymlinks(directory)
	if err != nil {
		return Checked{}, compaction.Failuref(compaction.Path, "no directory for temporary files: %v", err)
	}
	path := filepath.Join(resolved, compaction.OutputPrefix+id)
	if err := os.Mkdir(path, onlyOwner); err != nil {
		return Checked{}, compaction.Failuref(compaction.Path, "no directory for temporary files: %v", err)
	}
	return Checked{OutputPath: path}, nil
}

// Made gives the directories that Make has made, and that nobody has removed.
func Made(directory string) ([]string, error) {
	entries, err := os.ReadDir(directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, entry := range entries {
		if entry.IsDir() && strings.HasPrefix(entry.Name(), compaction.OutputPrefix) {
			paths = append(paths, filepath.Join(directory, entry.Name()))
		}
	}
	return paths, nil
}
