package segment

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// held is a segment that was found or made; its file is opened with the first use. Readers share it, changes
// have it for themselves.
type held struct {
	id        ID
	directory string
	parents   *parents
	// sumsBytes is what the checksums of a sealed one count for among the recent ones, whose it is.
	sumsBytes int64

	mutex  sync.RWMutex
	file   *os.File
	epoch  uint64
	sealed bool
	sums   *sums
	// writing is the length up to which the disk was told to begin.
	writing int64
	// synced is how much is on the disk for certain, below 0 if not even the length is known there.
	synced int64
	// hasFailed says that the last attempt to have it there has failed.
	hasFailed bool
	// named says whether the directory's entry of the segment is on the disk, and rooted whether the directory's is.
	named, rooted bool
	// isFencing is, between two attempts, one whose file has the name with its epoch, which is not on the disk yet.
	isFencing bool
	// closed is one that was removed, or that has to be found again.
	closed bool
}

const (
	ownerReadsWrites = 0o600
	unknownSynced    = -1
)

func createHeld(directory string, parents *parents, id ID, epoch uint64) (*held, error) {
	const ownerAlone = 0o700
	if err := os.MkdirAll(directory, ownerAlone); err != nil {
		return nil, ofDevice("make", id, err)
	}
	path := filepath.Join(directory, fileName(id, epoch, false))
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, ownerReadsWrites)
	if err != nil {
		return nil, ofDevice("make", id, err)
	}
	return &held{id: id, directory: directory, parents: parents, file: file, epoch: epoch, sums: &sums{}, synced: unknownSynced}, nil
}

// load opens the file of a segment that was found by its name, and gets its checksums.
func (h *held) load() error {
	if h.file != nil || h.closed {
		return nil
	}
	mode := os.O_RDWR
	if h.sealed {
		mode = os.O_RDONLY
	}
	file, err := os.OpenFile(h.path(fileName(h.id, h.epoch, h.sealed)), mode, 0)
	if err != nil {
		return ofDevice("open", h.id, err)
	}
	if err := h.getSums(file); err != nil {
		return errors.Join(err, file.Close())
	}
	h.file = file
	return nil
}

func (h *held) getSums(file *os.File) error {
	if h.sealed {
		return h.loadSums(file)
	}
	// After a crash, what the file of an open segment has is what there is.
	h.sums = &sums{}
	return h.addSumsFrom(file, 0)
}

// loadSums reads the checksums of a sealed segment.
func (h *held) loadSums(file *os.File) error {
	text, err := os.ReadFile(h.path(fileName(h.id, h.epoch, true) + sumsSuffix))
	if err != nil {
		return Failf(Corrupt, "checksums of %s: %w", h.id, err)
	}
	if h.sums, err = decodeSums(text); err != nil {
		return Failf(Corrupt, "checksums of %s: %w", h.id, err)
	}
	info, err := file.Stat()
	if err != nil {
		return ofDevice("open", h.id, err)
	}
	if info.Size() != h.sums.length {
		return Failf(Corrupt, "%s has %d bytes, and %d when it was sealed", h.id, info.Size(), h.sums.length)
	}
	return nil
}

// sumsOnDisk is how large the file of a sealed segment's checksums is, 0 if there is none.
func (h *held) sumsOnDisk() int64 {
	info, err := os.Stat(h.path(fileName(h.id, h.epoch, true) + sumsSuffix))
	if err != nil {
		return 0
	}
	return info.Size()
}

func (h *held) addSumsFrom(file *os.File, offset int64) error {
	part := make([]byte, MaxRequestBytes)
	for {
		n, err := file.ReadAt(part, offset)
		h.sums.add(part[:n])
		offset += int64(n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return ofDevice("read", h.id, err)
		}
	}
}

// close gives the file up. Whoever has found the segment before finds it anew.
func (h *held) close() error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.closed {
		return nil
	}
	h.closed = true
	if h.file == nil {
		return nil
	}
	return h.file.Close()
}

// ofDevice is a failure of the file system, or its being full.
func ofDevice(what string, id ID, err error) *Failure {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return Failf(Full, "%s %s: %w", what, id, err)
	}
	return Failf(Device, "%s %s: %w", what, id, err)
}
