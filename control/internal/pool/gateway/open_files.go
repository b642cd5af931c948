package gateway

import (
	"context"
	"maps"
	"slices"
	"sync"

	"sluice.dev/control/internal/pool/files"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/store"
)

// maxOpenFiles bounds the files that a store has open at once.
const maxOpenFiles = 1 << 20

// source is what files are read of: a session, or a view.
type source interface {
	Open(ctx context.Context, path string) (*files.Reader, error)
	Stat(ctx context.Context, path string) (*entry.File, error)
	List(ctx context.Context, path string) ([]entry.Name, error)
}

// openFiles are the files that a session or view has open, by numbers that are never used again.
type openFiles struct {
	source source

	mutex   sync.Mutex
	last    uint64
	readers map[uint64]*files.Reader
	writers map[uint64]*writer
	isOver  bool
}

func newOpenFiles(source source) *openFiles {
	return &openFiles{source: source, readers: make(map[uint64]*files.Reader), writers: make(map[uint64]*writer)}
}

func (o *openFiles) addReader(reader *files.Reader) (uint64, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	number, err := o.next()
	if err == nil {
		o.readers[number] = reader
	}
	return number, err
}

func (o *openFiles) addWriter(added *writer) (uint64, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	number, err := o.next()
	if err == nil {
		o.writers[number] = added
	}
	return number, err
}

func (o *openFiles) next() (uint64, error) {
	if o.isOver {
		return 0, errSessionOver()
	}
	if len(o.readers)+len(o.writers) >= maxOpenFiles {
		return 0, store.Errorf(store.CodeRefused, "%d files are open already", maxOpenFiles).WithHint("Lower max_open_files of the store.")
	}
	o.last++
	return o.last, nil
}

func (o *openFiles) reader(number uint64) (*files.Reader, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if reader := o.readers[number]; reader != nil {
		return reader, nil
	}
	return nil, notOpen(number, "read")
}

func (o *openFiles) writer(number uint64) (*writer, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if writer := o.writers[number]; writer != nil {
		return writer, nil
	}
	return nil, notOpen(number, "written")
}

func notOpen(number uint64, forWhat string) error {
	return store.Errorf(store.CodeNotFound, "no file %d is open to be %s", number, forWhat).WithHint("Open or create it.")
}

// remove gives the writer of a number, if it is one's; that of a reader is free at once.
func (o *openFiles) remove(number uint64) (*writer, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	written, isRead := o.writers[number], o.readers[number] != nil
	if written == nil && !isRead {
		return nil, notOpen(number, "closed")
	}
	delete(o.writers, number)
	delete(o.readers, number)
	return written, nil
}

// close has nothing opened any more, and gives who is still writing.
func (o *openFiles) close() []*writer {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.isOver = true
	left := slices.Collect(maps.Values(o.writers))
	clear(o.readers)
	clear(o.writers)
	return left
}
