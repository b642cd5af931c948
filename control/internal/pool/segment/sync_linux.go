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
