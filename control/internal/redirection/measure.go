package redirection

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"sluice.dev/control/internal/store"
)

const (
	smallBytes = 4 << 10
	largeBytes = 1 << 20
	fileBytes  = 32 << 20
	repeats    = 48
	// leastBytesShare is the part of the time of a large write that its bytes take at least.
	leastBytesShare = 0.05
)

// Measure writes to a new file in a folder, which is gone with it, and fits the model to how long writes of
// two sizes take until they are on the device. It takes some seconds on a disk. Errors are of code
// store.CodeInvalid where the folder cannot be written to.
func Measure(folder string) (Device, error) {
	file, err := os.CreateTemp(folder, ".sluice-calibration-")
	if err != nil {
		return Device{}, store.Invalidf("measuring the device: %w", err).WithHint("Name a folder on it that can be written to.")
	}
	defer file.Close()
	// It goes with this process, however that ends.
	if err := os.Remove(file.Name()); err != nil {
		return Device{}, fmt.Errorf("measuring the device: %w", err)
	}
	// Blocks are there before: what is measured is the device, and not the file system's bookkeeping.
	if err := write(file, make([]byte, largeBytes), fileBytes/largeBytes); err != nil {
		return Device{}, fmt.Errorf("measuring the device: %w", err)
	}
	small, large, err := medianSeconds(file)
	if err != nil {
		return Device{}, fmt.Errorf("measuring the device: %w", err)
	}
	return fit(small, large), nil
}

func write(file *os.File, block []byte, count int) error {
	for i := range count {
		if _, err := file.WriteAt(block, int64(i)*int64(len(block))); err != nil {
			return err
		}
	}
	return unix.Fdatasync(int(file.Fd()))
}

// medianSeconds is how long a small and a large write take with their syncs, in the median. They take turns, so
// that what disturbs the device disturbs both.
func medianSeconds(file *os.File) (small, large float64, err error) {
	seconds := map[int][]float64{}
	for i := range repeats {
		for _, size := range []int{smallBytes, largeBytes} {
			begun := time.Now()
			if _, err := file.WriteAt(make([]byte, size), int64(i*size)%fileBytes); err != nil {
				return 0, 0, err
			}
			if err := unix.Fdatasync(int(file.Fd())); err != nil {
				return 0, 0, err
			}
			seconds[size] = append(seconds[size], time.Since(begun).Seconds())
		}
	}
	return Quantile(seconds[smallBytes], 0.5), Quantile(seconds[largeBytes], 0.5), nil
}

// fit solves the model for the times of a small and a large write. Where they take nearly as long, a part of the
// time is taken to be that of the bytes: no device has any rate.
func fit(smallSeconds, largeSeconds float64) Device {
	rate := (largeBytes - smallBytes) / max(largeSeconds-smallSeconds, leastBytesShare*largeSeconds)
	return Device{FixedSeconds: max(0, smallSeconds-smallBytes/rate), BytesPerSecond: rate}
}
