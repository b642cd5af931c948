package discovery

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func listen(t *testing.T, path string) net.Listener {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

func TestScan(t *testing.T) {
	directory := t.TempDir()
	listen(t, filepath.Join(directory, "rocksdb", "b.sock"))
	listen(t, filepath.Join(directory, "rocksdb", "a.sock"))
	listen(t, filepath.Join(directory, "hbase", "region-1.sock"))
	listen(t, filepath.Join(directory, "hbase", "region-1.tmp"))
	listen(t, filepath.Join(directory, "hbase", ".sock"))
	listen(t, filepath.Join(directory, "hbase", "a b.sock"))
	listen(t, filepath.Join(directory, ".hidden", "a.sock"))
	listen(t, filepath.Join(directory, "top.sock"))
	if err := os.WriteFile(filepath.Join(directory, "rocksdb", "file.sock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Scan(directory)
	if err != nil {
		t.Fatal(err)
	}
	want := []Socket{
		{"hbase", "region-1", filepath.Join(directory, "hbase", "region-1.sock")},
		{"rocksdb", "a", filepath.Join(directory, "rocksdb", "a.sock")},
		{"rocksdb", "b", filepath.Join(directory, "rocksdb", "b.sock")},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestScanMissingDirectory(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "missing")
	if _, err := Scan(directory); err == nil || !strings.Contains(err.Error(), directory) {
		t.Errorf("error %v does not name the directory", err)
	}
}

func TestScanBound(t *testing.T) {
	directory := t.TempDir()
	for i := range maxSockets + 1 {
		listen(t, filepath.Join(directory, "s", fmt.Sprintf("%d.sock", i)))
	}
	sockets, err := Scan(directory)
	if len(sockets) != maxSockets || err == nil {
		t.Errorf("%d sockets and error %v, want %d and one", len(sockets), err, maxSockets)
	}
}

func TestIncarnation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sock")
	first := listen(t, path)
	before, err := Incarnation(path)
	if err != nil {
		t.Fatal(err)
	}
	// What a server may do to its socket while it serves.
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if same, err := Incarnation(path); err != nil || same != before {
		t.Errorf("incarnation %q, %v of the same process, before %q", same, err, before)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if gone, err := Incarnation(path); err == nil {
		t.Errorf("incarnation %q without a socket", gone)
	}
	listen(t, path)
	if after, err := Incarnation(path); err != nil || after == before {
		t.Errorf("incarnation %q, %v of another process, before %q", after, err, before)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if of, err := Incarnation(file); err == nil {
		t.Errorf("incarnation %q of a plain file", of)
	}
}

// watched runs Watch with a rescan period that is as good as never, and returns what it finds.
func watched(t *testing.T, directory string, rescan time.Duration) <-chan []Socket {
	t.Helper()
	found := make(chan []Socket, 100)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		Watch(ctx, directory, rescan, slog.New(slog.DiscardHandler), func(sockets []Socket) { found <- sockets })
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return found
}

// awaitCount waits until so many sockets are found.
func awaitCount(t *testing.T, found <-chan []Socket, want int) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	for {
		select {
		case sockets := <-found:
			if len(sockets) == want {
				return
			}
		case <-deadline:
			t.Fatalf("%d sockets were not found in time", want)
		}
	}
}

func TestWatchIsNotified(t *testing.T) {
	directory := t.TempDir()
	found := watched(t, directory, time.Hour)
	awaitCount(t, found, 0)
	a := listen(t, filepath.Join(directory, "rocksdb", "a.sock"))
	awaitCount(t, found, 1)
	listen(t, filepath.Join(directory, "hbase", "a.sock"))
	awaitCount(t, found, 2)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	awaitCount(t, found, 1)
}

func TestWatchLooksByItself(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "later")
	found := watched(t, directory, 10*time.Millisecond)
	awaitCount(t, found, 0)
	listen(t, filepath.Join(directory, "rocksdb", "a.sock"))
	awaitCount(t, found, 1)
	if err := os.RemoveAll(directory); err != nil {
		t.Fatal(err)
	}
	awaitCount(t, found, 0)
}
