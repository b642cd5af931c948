package devices

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"sluice.dev/control/internal/store"
)

// blockBytes is what direct requests are multiples of, on every device that is about.
const blockBytes = 4096

// device is a file on a device, used as a log that begins anew when it is full, by requests that no cache of
// the kernel answers.
type device struct {
	file  *os.File
	bytes int64
	// inFlight are requests that are not done.
	inFlight atomic.Int64
	// buffer is what is written: what it holds is nobody's matter.
	buffer []byte

	mutex sync.Mutex
	next  int64
}

// open makes a log in a folder, which is gone with this process, and writes it once: what is measured later is
// the device, and not the file system's bookkeeping.
func open(folder string, logBytes int64, largest int) (*device, error) {
	file, err := os.CreateTemp(folder, ".sluice-replay-")
	if err != nil {
		return nil, store.Invalidf("making a log: %w", err).WithHint("Name a folder on the device that can be written to.")
	}
	// It goes with this process, however that ends.
	err = errors.Join(os.Remove(file.Name()), setDirect(file))
	d := &device{file: file, bytes: logBytes}
	if err == nil {
		d.buffer, err = aligned(largest)
	}
	if err == nil {
		err = d.fill()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the log in %s: %w", folder, err), d.close())
	}
	return d, nil
}

// fill writes the log once. What it holds is random: devices may be quicker with zeros.
func (d *device) fill() error {
	if _, err := rand.NewChaCha8([32]byte{}).Read(d.buffer); err != nil {
		return err
	}
	for at := int64(0); at < d.bytes; at += int64(len(d.buffer)) {
		if _, err := d.file.WriteAt(d.buffer[:min(int64(len(d.buffer)), d.bytes-at)], at); err != nil {
			return store.Invalidf("writing it for the first time: %w", err).
				WithHint("The device needs room for a log of %d bytes: make room, or ask for a smaller log.", d.bytes)
		}
	}
	return unix.Fdatasync(int(d.file.Fd()))
}

func setDirect(file *os.File) error {
	flags, err := unix.FcntlInt(file.Fd(), unix.F_GETFL, 0)
	if err == nil {
		_, err = unix.FcntlInt(file.Fd(), unix.F_SETFL, flags|unix.O_DIRECT)
	}
	if err != nil {
		return store.Invalidf("the file system takes no direct requests: %w", err).
			WithHint("Name a folder on a disk, with a file system such as ext4 or XFS.")
	}
	return nil
}

// aligned is memory that direct requests can be made from, until it is released.
func aligned(bytes int) ([]byte, error) {
	return unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

func release(buffer []byte) {
	if len(buffer) > 0 {
		_ = unix.Munmap(buffer)
	}
}

func (d *device) close() error {
	release(d.buffer)
	return d.file.Close()
}

// write appends to the log.
func (d *device) write(bytes int) error {
	_, err := d.file.WriteAt(d.buffer[:bytes], d.append(int64(bytes)))
	return err
}

func (d *device) append(bytes int64) int64 {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.next+bytes > d.bytes {
		d.next = 0
	}
	at := d.next
	d.next += bytes
	return at
}

// read takes what lies anywhere in the log.
func (d *device) read(into []byte) error {
	last := (d.bytes - int64(len(into))) / blockBytes
	_, err := d.file.ReadAt(into, rand.Int64N(last+1)*blockBytes)
	return err
}

// rounded is the size of a request on a device, at least a block.
func rounded(bytes float64) int {
	return max(1, (int(bytes)+blockBytes-1)/blockBytes) * blockBytes
}

// LogBytes is the size of a log that holds so many bytes: of whole blocks, which a round number of bytes rarely is.
func LogBytes(bytes float64) int64 { return int64(rounded(bytes)) }
