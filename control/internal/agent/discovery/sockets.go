// Package discovery finds the stores of a node by the sockets of their plug-ins, which are
// DIRECTORY/STORE/INSTANCE.sock.
package discovery

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Socket is where the plug-in of an instance listens.
type Socket struct {
	Store    string
	Instance string
	Path     string
}

const (
	extension = ".sock"
	// maxSockets bounds the loops, connections and metric labels that names in a directory can cause.
	maxSockets = 128
)

var namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// ValidName says whether a text can name a store or an instance: up to 63 letters, digits, ".", "_" and
// "-", the first of them a letter or digit.
func ValidName(name string) bool {
	return namePattern.MatchString(name)
}

// Scan lists the sockets of a directory, sorted by path. What is no socket, or has a name that cannot be
// one of a store, is passed over. With an error it returns those sockets that it could find all the same.
func Scan(directory string) ([]Socket, error) {
	folders, err := storeFolders(directory)
	if err != nil {
		return nil, err
	}
	var sockets []Socket
	var problems []error
	for _, folder := range folders {
		found, err := scanFolder(folder)
		sockets = append(sockets, found...)
		problems = append(problems, err)
	}
	if len(sockets) > maxSockets {
		problems = append(problems, fmt.Errorf("%s holds %d sockets, those after the first %d are ignored",
			directory, len(sockets), maxSockets))
		sockets = sockets[:maxSockets]
	}
	return sockets, errors.Join(problems...)
}

// storeFolders lists the folders of a socket directory that can be those of a store, sorted.
func storeFolders(directory string) ([]string, error) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, fmt.Errorf("list the socket directory: %w", err)
	}
	entries = slices.DeleteFunc(entries, func(entry fs.DirEntry) bool {
		return !entry.IsDir() || !ValidName(entry.Name())
	})
	folders := make([]string, len(entries))
	for i, entry := range entries {
		folders[i] = filepath.Join(directory, entry.Name())
	}
	return folders, nil
}

func scanFolder(folder string) ([]Socket, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("list the sockets of a store: %w", err)
	}
	var sockets []Socket
	for _, entry := range entries {
		instance, isSocket := strings.CutSuffix(entry.Name(), extension)
		if !isSocket || entry.Type() != fs.ModeSocket || !ValidName(instance) {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		sockets = append(sockets, Socket{Store: filepath.Base(folder), Instance: instance, Path: path})
	}
	return sockets, nil
}

// Incarnation tells the processes apart that have listened on a socket one after the other: each makes
// the file anew. The time of its birth is there because file systems use inode numbers again; it is only
// ever compared for equality. The other times of a file will not do: PostgreSQL touches its socket now
// and then.
func Incarnation(path string) (string, error) {
	var stat unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &stat)
	if err != nil {
		return "", &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return "", fmt.Errorf("%s is not a socket", path)
	}
	return fmt.Sprintf("%d:%d:%d:%d.%09d", stat.Dev_major, stat.Dev_minor, stat.Ino,
		stat.Btime.Sec, stat.Btime.Nsec), nil
}
