package segment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// parents are the directories of files' directories. They are never removed, so that each has to be on the disk once.
type parents struct {
	mutex sync.Mutex
	named map[string]bool
	// failed has why directories, those of files too, could not be synced.
	failed map[string]error
}

// sync has the entries of a parent on the disk, and its own.
func (p *parents) sync(path string) error {
	if err := p.syncEntries(path); err != nil || p.isNamed(path) {
		return err
	}
	if err := p.syncEntries(filepath.Dir(path)); err != nil {
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

// syncEntries has the entries of a directory on the disk. Where that has failed once it does so for everybody, until the
// store is opened anew: the kernel tells one of them of what it could not write, and then takes it for written.
func (p *parents) syncEntries(path string) error {
	if err := p.failureOf(path); err != nil {
		return err
	}
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := directory.Sync(); err != nil {
		return errors.Join(p.fail(path, err), directory.Close())
	}
	// Another sync may have been told meanwhile.
	return errors.Join(p.failureOf(path), directory.Close())
}

func (p *parents) failureOf(path string) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.failed[path]
}

func (p *parents) fail(path string, err error) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.failed == nil {
		p.failed = make(map[string]error)
	}
	p.failed[path] = fmt.Errorf("a sync of its directory has failed, and nothing more is certain there until this agent starts anew: %w", err)
	return p.failed[path]
}
