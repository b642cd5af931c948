package scratch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sluice.dev/control/internal/compaction"
)

// Journal remembers on disk which directories are this node's to remove, and which processes write to them.
type Journal struct {
	directory string
	// sync has the names in the directory on the disk.
	sync func(directory string) error
}

// Entry is a directory to remove unless its job ends well.
type Entry struct {
	OutputPath string `json:"output_path"`
	// Worker is the process that writes there; its number is 0 before there is one.
	Worker Process `json:"worker"`
}

const (
	entrySuffix = ".json"
	// newSuffix follows it until an entry is written to its end.
	newSuffix = ".new"
	// maxEntryBytes is far above the longest path.
	maxEntryBytes = 64 << 10
)

// OpenJournal makes the journal's directory if there is none.
func OpenJournal(directory string) (*Journal, error) {
	const onlyOwner = 0o700
	if err := os.MkdirAll(directory, onlyOwner); err != nil {
		return nil, fmt.Errorf("the journal of compactions: %w", err)
	}
	return &Journal{directory, syncNames}, nil
}

// Write notes an entry, in place of an earlier one for the same directory. It is on the disk when it returns.
func (j *Journal) Write(entry Entry) error {
	text, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	path := j.path(entry.OutputPath)
	err = writeThrough(path+newSuffix, text)
	if err == nil {
		err = os.Rename(path+newSuffix, path)
	}
	if err != nil {
		// Each job has a file of its own: on a full disk they would add up.
		_ = os.Remove(path + newSuffix)
		return err
	}
	return j.sync(j.directory)
}

// writeThrough returns when a text is on the disk.
func writeThrough(path string, text []byte) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Sync(), file.Close())
}

func syncNames(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}

// Forget ends an entry: the directory is no longer this node's to remove, also once the node has lost power.
func (j *Journal) Forget(outputPath string) error {
	err := os.Remove(j.path(outputPath))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return j.sync(j.directory)
}

// path is named by a digest, for paths are longer than names can be.
func (j *Journal) path(outputPath string) string {
	digest := sha256.Sum256([]byte(outputPath))
	return filepath.Join(j.directory, hex.EncodeToString(digest[:])+entrySuffix)
}

// Entries lists what is noted. What was not written to its end has no worker yet and is removed.
func (j *Journal) Entries() ([]Entry, error) {
	files, err := os.ReadDir(j.directory)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	var problems []error
	for _, file := range files {
		path := filepath.Join(j.directory, file.Name())
		if !strings.HasSuffix(file.Name(), entrySuffix) {
			problems = append(problems, os.Remove(path))
			continue
		}
		entry, err := readEntry(path)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w: look what it was for, and remove it", path, err))
			continue
		}
		entries = append(entries, entry)
	}
	return entries, errors.Join(problems...)
}

func readEntry(path string) (Entry, error) {
	information, err := os.Stat(path)
	if err != nil {
		return Entry{}, err
	}
	if information.Size() > maxEntryBytes {
		return Entry{}, fmt.Errorf("%d bytes are no entry of the journal", information.Size())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Entry{}, err
	}
	return parseEntry(text)
}

func parseEntry(text []byte) (Entry, error) {
	var entry Entry
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&entry); err != nil {
		return Entry{}, err
	}
	if err := compaction.ValidatePath(entry.OutputPath); err != nil {
		return Entry{}, err
	}
	if !strings.HasPrefix(filepath.Base(entry.OutputPath), compaction.OutputPrefix) {
		return Entry{}, fmt.Errorf("%s is not a directory of a compaction", entry.OutputPath)
	}
	if entry.Worker.PID < 0 {
		return Entry{}, fmt.Errorf("%d is not the number of a process", entry.Worker.PID)
	}
	return entry, nil
}

// Sweep removes a directory, and forgets it once it is gone.
func (j *Journal) Sweep(outputPath string) error {
	if err := Remove(outputPath); err != nil {
		return fmt.Errorf("what a compaction has left is still there: %w", err)
	}
	return j.Forget(outputPath)
}
