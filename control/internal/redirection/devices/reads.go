package devices

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice.dev/control/internal/store"
)

const (
	// readsAlone is how many reads are timed one after the other, readsTogether how many at each number of readers.
	readsAlone    = 96
	readsTogether = 192
	// fillBytes is the size of the writes that make the file.
	fillBytes = 1 << 20
)

// readers are the numbers of readers that are tried.
var readers = []int{2, 4, 8, 16, 32}

// Reads is what random reads of a device cost.
type Reads struct {
	Bytes int `json:"bytes"`
	// ReadSeconds is the mean of one with nothing else to do.
	ReadSeconds float64 `json:"read_seconds"`
	// ParallelReads is how many the device does at a time: its highest rate times that mean, at least 1.
	ParallelReads float64 `json:"parallel_reads"`
	// ReadsPerSecond is that highest rate, with Readers.
	ReadsPerSecond float64 `json:"reads_per_second"`
	Readers        int     `json:"readers"`
}

// MeasureReads makes a file in a folder, which is gone with it, and reads from it at random, past the page cache: first
// one read after the other, then some at once. Errors are of code store.CodeInvalid where the folder or the sizes cannot be.
func MeasureReads(folder string, readBytes int, fileBytes int64) (Reads, error) {
	readBytes = rounded(float64(readBytes))
	// The file is of whole writes.
	wholeBytes := fileBytes / fillBytes * fillBytes
	if wholeBytes < int64(max(readBytes, fillBytes)) {
		return Reads{}, store.Invalidf("a file of %d bytes is too small for reads of %d", fileBytes, readBytes).
			WithHint("It must be larger than what the device itself caches: 1GB or more.")
	}
	device, err := open(folder, wholeBytes, fillBytes)
	if err != nil {
		return Reads{}, err
	}
	found := Reads{Bytes: readBytes, ParallelReads: 1, Readers: 1}
	seconds, err := device.timeReads(1, readsAlone, readBytes)
	if err == nil {
		found.ReadSeconds, found.ReadsPerSecond = seconds/readsAlone, readsAlone/seconds
		err = found.tryReaders(device, readBytes)
	}
	return found, errors.Join(err, device.close())
}

// tryReaders finds the highest rate.
func (r *Reads) tryReaders(device *device, readBytes int) error {
	for _, count := range readers {
		seconds, err := device.timeReads(count, readsTogether, readBytes)
		if err != nil {
			return err
		}
		if rate := readsTogether / seconds; rate > r.ReadsPerSecond {
			r.ReadsPerSecond, r.Readers = rate, count
		}
	}
	r.ParallelReads = max(1, r.ReadsPerSecond*r.ReadSeconds)
	return nil
}

// timeReads is how long so many reads take with so many readers at once.
func (d *device) timeReads(readers, reads, readBytes int) (float64, error) {
	var group errgroup.Group
	var ready sync.WaitGroup
	ready.Add(readers)
	begin := make(chan struct{})
	for range readers {
		group.Go(func() error {
			buffer, err := aligned(readBytes)
			ready.Done()
			if err != nil {
				return err
			}
			defer release(buffer)
			<-begin
			for range reads / readers {
				if err := d.read(buffer); err != nil {
					return err
				}
			}
			return nil
		})
	}
	ready.Wait()
	begun := time.Now()
	close(begin)
	err := group.Wait()
	return time.Since(begun).Seconds(), err
}
