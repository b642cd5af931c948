package mount

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"sluice.dev/control/internal/pool/gateway/client"
	"sluice.dev/control/internal/pool/gateway/message"
	"sluice.dev/control/internal/pool/overwrite"
)

// pooled are the files of a directory of the pool, as package overwrite wants them.
type pooled struct {
	session *client.Session

	mutex sync.Mutex
	// begun is the snapshot that was begun last, with the name that it has until it is whole.
	begun     message.FileID
	begunName string
	// made are the snapshots of which one is the last: that which has got its name for certain, and those that may have since.
	made []message.FileID

	// asking is held while the pool is asked for free. That may begin the session anew, which calls goesOn: mutex is not
	// held meanwhile.
	asking sync.Mutex
	// free is what was free when it was asked for last.
	free      int64
	freeSince time.Time
}

// attach takes the lease.
func attach(ctx context.Context, config client.Config) (*pooled, error) {
	p := &pooled{}
	config.GoesOn = p.goesOn
	var err error
	p.session, err = client.Attach(ctx, config)
	if err != nil {
		return nil, client.Explain(err)
	}
	return p, nil
}

// goesOn wants the last snapshot to be one of this process: whoever else mounts the directory begins with one.
func (p *pooled) goesOn(files []message.Name, id func(string) (message.FileID, error)) error {
	var names []string
	for _, each := range files {
		names = append(names, each.Name)
	}
	last, err := id(overwrite.LastSnapshot(names))
	if err != nil {
		return err
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if !slices.Contains(p.made, last) {
		return client.ErrLost
	}
	// The one that was begun last may be about to get its name.
	p.made = slices.DeleteFunc(p.made, func(id message.FileID) bool { return id != last && id != p.begun })
	return nil
}

// explain says of an error what package overwrite has to know.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, client.ErrLost):
		return fmt.Errorf("%w: %w", overwrite.ErrLost, err)
	case client.IsFull(err):
		return fmt.Errorf("%w: %w", overwrite.ErrFull, err)
	default:
		return client.Explain(err)
	}
}

// renewing has a session begun anew whose lease may be lost, as a change of names has shown. A file that cannot be
// written shows nothing: its servers may be gone, and whoever begins a session has to wait for those.
func (p *pooled) renewing(err error) error {
	if client.MayBeOver(err) {
		p.session.Renew()
	}
	return explain(err)
}

// List gives of files that were left open what was synced.
func (p *pooled) List(ctx context.Context) ([]overwrite.Listed, error) {
	names, err := p.session.List(ctx)
	if err != nil {
		return nil, p.renewing(err)
	}
	left := p.session.Left()
	var all []overwrite.Listed
	for _, each := range names {
		listed := overwrite.Listed{Name: each.Name, Synced: left[each.Name]}
		if each.LengthBytes != nil {
			listed.Length = *each.LengthBytes
		}
		all = append(all, listed)
	}
	return all, nil
}

func (p *pooled) Create(ctx context.Context, name string) (overwrite.Appender, error) {
	file, err := p.session.Create(ctx, name)
	if err != nil {
		return nil, p.renewing(err)
	}
	p.began(name, file.ID)
	return &appender{file}, nil
}

// began notes a snapshot, of which one at a time is written.
func (p *pooled) began(name string, id message.FileID) {
	if !overwrite.IsSnapshot(name) {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.begun, p.begunName = id, name
	if isNamed := overwrite.LastSnapshot([]string{name}) == name; isNamed {
		p.made = append(p.made, id)
	}
}

func (p *pooled) Open(ctx context.Context, name string) (overwrite.Reader, error) {
	file, err := p.session.Open(ctx, name)
	if err != nil {
		return nil, p.renewing(err)
	}
	return &reader{of: p, name: name, file: file}, nil
}

func (p *pooled) Rename(ctx context.Context, from, to string) error {
	p.naming(from)
	err := p.session.Rename(ctx, from, to)
	if err == nil {
		p.named(from)
	}
	return p.renewing(err)
}

// naming notes that a snapshot may be the last one from now on, whatever is answered.
func (p *pooled) naming(from string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if from == p.begunName {
		p.made = append(p.made, p.begun)
	}
}

// named notes that a snapshot is the last one.
func (p *pooled) named(from string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if from == p.begunName {
		p.made = []message.FileID{p.begun}
	}
}

func (p *pooled) Remove(ctx context.Context, name string) error {
	return p.renewing(p.session.Remove(ctx, name))
}

// freeBytes is not older than some seconds, and what was known before if the pool does not say.
func (p *pooled) freeBytes(ctx context.Context) int64 {
	const age = 5 * time.Second
	p.asking.Lock()
	defer p.asking.Unlock()
	if time.Since(p.freeSince) < age {
		return p.free
	}
	p.freeSince = time.Now()
	if free, err := p.session.FreeBytes(ctx); err == nil {
		p.free = free
	}
	return p.free
}

type appender struct {
	file *client.File
}

func (a *appender) Append(ctx context.Context, data []byte) error {
	return explain(a.file.Append(ctx, data))
}

func (a *appender) Sync(ctx context.Context) error {
	return explain(a.file.Sync(ctx))
}

func (a *appender) Seal(ctx context.Context) error {
	return explain(a.file.Seal(ctx))
}

func (a *appender) Close() {
	a.file.Close(context.Background())
}

// reader opens its file again where a session was begun anew.
type reader struct {
	of   *pooled
	name string

	mutex sync.Mutex
	file  *client.File
}

func (r *reader) ReadAt(ctx context.Context, buffer []byte, offset int64) error {
	const mostTries = 3
	file := r.current()
	for tries := 1; ; tries++ {
		err := file.ReadAt(ctx, buffer, offset)
		if !client.IsFormer(err) || tries == mostTries || ctx.Err() != nil {
			return explain(err)
		}
		if file, err = r.again(ctx, file); err != nil {
			return r.of.renewing(err)
		}
	}
}

func (r *reader) current() *client.File {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.file
}

// again opens the file unless somebody else has already.
func (r *reader) again(ctx context.Context, former *client.File) (*client.File, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.file != former {
		return r.file, nil
	}
	file, err := r.of.session.Open(ctx, r.name)
	if err == nil {
		r.file = file
	}
	return r.file, err
}

func (r *reader) Close() {
	r.current().Close(context.Background())
}
