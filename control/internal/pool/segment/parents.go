package segment

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
)

// parents are the directories of files' directories. They are never removed, so that each has to be on the disk once.
type parents struct {
	mutex sync.Mutex
	named map[string]bool
}

// sync has the entries of a parent on the disk, and its own.
func (p *parents) sync(path string) error {
	if err := syncDirectory(path); err != nil || p.isNamed(path) {
		return err
	}
	if err := syncDirectory(filepath.Dir(path)); err != nil {
		return err
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.named == nil {
		p.named = make(map[string]bool)
	}
	p.named[path] = true
	return nil
}

func (p *parents) isNamed(path string) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.named[path]
}

func syncDirectory(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}
