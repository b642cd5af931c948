// Package scratch looks after the directories that compactions write to: which ones may be used, how much is
// in them, and that they are removed if nobody takes what is in them, also after the agent was killed.
package scratch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"sluice.dev/control/internal/compaction"
)

// Allowed are the directories below which jobs may read and write.
type Allowed []string

// Checked are the directories of a job as they were checked, without symbolic links. They are what is used
// from then on: a link in the path that the store has given may lead elsewhere at any time.
type Checked struct {
	DatabasePath, OutputPath string
}

// Check says whether all paths of a job are there, and below one of those that are allowed, symbolic links
// resolved, and whether nothing is in the one that it writes to. That one has to be in the database's own: a
// store that cannot write there must not have the database read.
func (a Allowed) Check(job compaction.Job) (Checked, *compaction.Failure) {
	for _, path := range job.DataPaths {
		if _, failure := a.check(path); failure != nil {
			return Checked{}, failure
		}
	}
	database, failure := a.check(job.DatabasePath)
	if failure != nil {
		return Checked{}, failure
	}
	parent, failure := a.check(filepath.Dir(job.OutputPath))
	if failure != nil {
		return Checked{}, failure
	}
	if parent != database {
		return Checked{}, compaction.Failuref(compaction.Path, "the output path %s is not in the database's directory %s: make it there",
			job.OutputPath, job.DatabasePath)
	}
	output := filepath.Join(parent, filepath.Base(job.OutputPath))
	// A link would be removed in place of what is behind it.
	information, err := os.Lstat(output)
	if err != nil || !information.IsDir() {
		return Checked{}, compaction.Failuref(compaction.Path, "the output path %s is not a directory", job.OutputPath)
	}
	if !IsEmpty(output) {
		return Checked{}, compaction.Failuref(compaction.Path, "the output path %s is not empty, or not this user's to read", job.OutputPath)
	}
	return Checked{database, output}, nil
}

// check gives an allowed path without symbolic links.
func (a Allowed) check(path string) (string, *compaction.Failure) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", compaction.Failuref(compaction.Path, "%v: does this node share the store's file system?", err)
	}
	for _, root := range a {
		if root, err := filepath.EvalSymlinks(root); err == nil && isBelow(resolved, root) {
			return resolved, nil
		}
	}
	return "", compaction.Failuref(compaction.Path, "%s is below none of the paths that the worker's configuration allows", path)
}

func isBelow(path, root string) bool {
	relative, err := filepath.Rel(root, path)
	return err == nil && relative != ".." && !strings.HasPrefix(relative, "../")
}

// FreeBytes is how much the file system of a directory has left for this user.
func FreeBytes(path string) (uint64, error) {
	var status unix.Statfs_t
	if err := unix.Statfs(path, &status); err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: path, Err: err}
	}
	return freeBytesOf(status), nil
}

// freeBytesOf counts in fragments, as the kernel does: the block of some file systems of a network is only
// the size that is best to read and write.
func freeBytesOf(status unix.Statfs_t) uint64 {
	unit := status.Frsize
	if unit == 0 {
		unit = status.Bsize
	}
	return status.Bavail * uint64(unit)
}

// Resolve is the path of a directory without symbolic links, by which it is told from others. One that is
// not there keeps its own.
func Resolve(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}

// Size is how much the files below a directory have together. What goes away meanwhile counts as nothing.
func Size(path string) uint64 {
	var total uint64
	_ = filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		if information, err := entry.Info(); err == nil {
			total += uint64(max(0, information.Size()))
		}
		return nil
	})
	return total
}

// IsEmpty says whether nothing is in a directory.
func IsEmpty(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}

// Remove empties a directory of a job and removes it. One that cannot be removed itself, because what it is
// in belongs to the store alone, is left empty to the store. No symbolic link is followed.
func Remove(path string) error {
	if !strings.HasPrefix(filepath.Base(path), compaction.OutputPrefix) {
		return &fs.PathError{Op: "remove", Path: path, Err: errors.New("not a directory of a compaction")}
	}
	err := os.RemoveAll(path)
	if err == nil || isGoneOrEmpty(path) {
		return nil
	}
	return err
}

func isGoneOrEmpty(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist) || IsEmpty(path)
}
