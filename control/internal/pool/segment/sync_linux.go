package segment

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData has a file's data on the disk, and of what describes it as much as is needed to read them.
func syncData(file *os.File) error {
	for {
		err := unix.Fdatasync(int(file.Fd()))
		if err != unix.EINTR {
			return err
		}
	}
}

// beginWriting has the disk begin with bytes of a file that were added, so that a sync finds little left to do.
// Where the file system cannot, the sync does it all.
func beginWriting(file *os.File, offset, length int64) {
	_ = unix.SyncFileRange(int(file.Fd()), offset, length, unix.SYNC_FILE_RANGE_WRITE)
}
