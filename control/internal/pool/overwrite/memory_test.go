package overwrite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
)

// memoryFiles lose what was not synced when they crash.
type memoryFiles struct {
	mutex sync.Mutex
	files map[string]*memoryFile
	// fails says whether the next thing does, if it is not nil.
	fails  func() error
	isGone bool
}

type memoryFile struct {
	content  []byte
	synced   int
	isSealed bool
	// floor is what the holder before had synced of one that it has left open.
	floor int
}

func newMemoryFiles() *memoryFiles {
	return &memoryFiles{files: make(map[string]*memoryFile)}
}

// try is what each call begins with. It is called under the lock.
func (m *memoryFiles) try() error {
	if m.isGone {
		return fmt.Errorf("of a former holder: %w", ErrLost)
	}
	if m.fails != nil {
		return m.fails()
	}
	return nil
}

// crash gives what the next holder finds: all is sealed. Of what was not synced any part may be there, and be garbage.
func (m *memoryFiles) crash(dice *rand.Rand) *memoryFiles {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.isGone = true
	left := newMemoryFiles()
	for name, file := range m.files {
		kept := &memoryFile{content: bytes.Clone(file.content), isSealed: true}
		if !file.isSealed {
			kept.floor = file.synced
			kept.content = kept.content[:file.synced+dice.IntN(len(file.content)-file.synced+1)]
			if unsynced := kept.content[file.synced:]; len(unsynced) > 0 && dice.IntN(2) == 0 {
				at := dice.IntN(len(unsynced))
				clear(unsynced[at:min(at+1+dice.IntN(40), len(unsynced))])
			}
		}
		left.files[name] = kept
	}
	return left
}

func (m *memoryFiles) List(context.Context) ([]Listed, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	var all []Listed
	for name, file := range m.files {
		all = append(all, Listed{Name: name, Length: int64(len(file.content)), Synced: int64(file.floor)})
	}
	return all, m.try()
}

func (m *memoryFiles) Create(_ context.Context, name string) (Appender, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if err := m.try(); err != nil {
		return nil, err
	}
	m.files[name] = &memoryFile{}
	return &memoryAppender{m, m.files[name]}, nil
}

func (m *memoryFiles) Open(_ context.Context, name string) (Reader, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if err := m.try(); err != nil {
		return nil, err
	}
	file := m.files[name]
	if file == nil {
		return nil, fmt.Errorf("%s is not there", name)
	}
	return &memoryReader{m, file}, nil
}

func (m *memoryFiles) Rename(_ context.Context, from, to string) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if err := m.try(); err != nil {
		return err
	}
	if m.files[from] == nil {
		return fmt.Errorf("%s is not there", from)
	}
	m.files[to] = m.files[from]
	delete(m.files, from)
	return nil
}

func (m *memoryFiles) Remove(_ context.Context, name string) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.files, name)
	return m.try()
}

func (m *memoryFiles) names() []string {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	var all []string
	for name := range m.files {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// heldBytes are those of all files.
func (m *memoryFiles) heldBytes() (held int64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, file := range m.files {
		held += int64(len(file.content))
	}
	return held
}

type memoryAppender struct {
	of   *memoryFiles
	file *memoryFile
}

var errSealed = errors.New("the file is sealed")

func (a *memoryAppender) do(what func()) error {
	a.of.mutex.Lock()
	defer a.of.mutex.Unlock()
	if err := a.of.try(); err != nil {
		return err
	}
	if a.file.isSealed {
		return errSealed
	}
	what()
	return nil
}

func (a *memoryAppender) Append(_ context.Context, data []byte) error {
	return a.do(func() { a.file.content = append(a.file.content, data...) })
}

func (a *memoryAppender) Sync(context.Context) error {
	return a.do(func() { a.file.synced = len(a.file.content) })
}

func (a *memoryAppender) Seal(context.Context) error {
	return a.do(func() { a.file.synced, a.file.isSealed = len(a.file.content), true })
}

func (a *memoryAppender) Close() {}

type memoryReader struct {
	of   *memoryFiles
	file *memoryFile
}

func (r *memoryReader) ReadAt(_ context.Context, buffer []byte, offset int64) error {
	r.of.mutex.Lock()
	defer r.of.mutex.Unlock()
	if offset+int64(len(buffer)) > int64(len(r.file.content)) {
		return errors.New("the file is shorter")
	}
	copy(buffer, r.file.content[offset:])
	return r.of.try()
}

func (r *memoryReader) Close() {}
