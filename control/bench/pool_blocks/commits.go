package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"sluice.dev/control/internal/pool/files"
)

// tableBytes is a table of a small store.
const tableBytes = 4 << 20

// table is a file that a store commits: files.Writer, or one on the device.
type table interface {
	Append(data []byte) error
	Sync(ctx context.Context) error
	Seal(ctx context.Context) error
	Close()
}

// folder is where tables are made.
type folder interface {
	createTable(ctx context.Context, name string) (table, error)
	removeTable(ctx context.Context, name string) error
}

// deviceFolder is one on a device.
type deviceFolder string

func (f deviceFolder) createTable(_ context.Context, name string) (table, error) {
	file, err := os.Create(filepath.Join(string(f), name))
	if err != nil {
		return nil, err
	}
	return deviceTable{file}, f.sync()
}

func (f deviceFolder) removeTable(_ context.Context, name string) error {
	return errors.Join(os.Remove(filepath.Join(string(f), name)), f.sync())
}

func (f deviceFolder) sync() error {
	directory, err := os.Open(string(f))
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}

type deviceTable struct{ file *os.File }

func (t deviceTable) Append(data []byte) error {
	_, err := t.file.Write(data)
	return err
}

func (t deviceTable) Sync(context.Context) error { return unix.Fdatasync(int(t.file.Fd())) }

func (t deviceTable) Seal(ctx context.Context) error { return t.Sync(ctx) }

func (t deviceTable) Close() { _ = t.file.Close() }

// poolFolder is the root of the pool's volume.
type poolFolder struct{ session *files.Session }

func (f poolFolder) createTable(ctx context.Context, name string) (table, error) {
	return f.session.Create(ctx, "/"+name)
}

func (f poolFolder) removeTable(ctx context.Context, name string) error {
	return f.session.Remove(ctx, "/"+name)
}

// steps are the times of what a store does with a table, one after the other.
type steps struct {
	create, sync, seal, whole []float64
}

// measureCommits makes small tables, each synced before it is sealed, and then some of tableBytes.
func measureCommits(ctx context.Context, where folder, count int, found *measured) error {
	var small, large steps
	for number := range count {
		if err := small.measure(ctx, where, fmt.Sprintf("small%d", number), smallBytes); err != nil {
			return err
		}
		if err := large.measure(ctx, where, fmt.Sprintf("large%d", number), tableBytes); err != nil {
			return err
		}
	}
	found.CreateP50Seconds, found.SyncP50Seconds = median(small.create), median(small.sync)
	found.SealP50Seconds, found.TableP50Seconds = median(small.seal), median(large.whole)
	return nil
}

func (s *steps) measure(ctx context.Context, where folder, name string, size int) error {
	data := make([]byte, size)
	begin := time.Now()
	made, err := where.createTable(ctx, name)
	if err != nil {
		return err
	}
	defer made.Close()
	created := time.Now()
	if err := errors.Join(made.Append(data), made.Sync(ctx)); err != nil {
		return err
	}
	synced := time.Now()
	if err := made.Seal(ctx); err != nil {
		return err
	}
	s.create = append(s.create, created.Sub(begin).Seconds())
	s.sync = append(s.sync, synced.Sub(created).Seconds())
	s.seal = append(s.seal, time.Since(synced).Seconds())
	s.whole = append(s.whole, time.Since(begin).Seconds())
	return where.removeTable(ctx, name)
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
