package mount_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sluice.dev/control/internal/pool/gateway/client"
	"sluice.dev/control/internal/pool/mount"
	"sluice.dev/control/internal/pool/overwrite"
	"sluice.dev/control/internal/store"
)

func TestWhatAServerOfADatabaseDoes(t *testing.T) {
	w := newWorld(t)
	w.must(os.MkdirAll(w.path("base/1"), 0o700))
	page, other := bytes.Repeat([]byte{1}, 8192), bytes.Repeat([]byte{2}, 8192)
	file, err := os.OpenFile(w.path("base/1/16384"), os.O_RDWR|os.O_CREATE, 0o600)
	w.must(err)
	w.must(unix.Fallocate(int(file.Fd()), 0, 0, 4*8192))
	for at := range int64(4) {
		_, err := file.WriteAt(page, at*8192)
		w.must(err)
	}
	_, err = file.WriteAt(other, 8192)
	w.must(err)
	w.must(unix.SyncFileRange(int(file.Fd()), 0, 8192, unix.SYNC_FILE_RANGE_WRITE))
	w.must(unix.Fdatasync(int(file.Fd())))
	w.must(file.Truncate(3*8192 - 1))
	w.must(file.Close())
	want := bytes.Join([][]byte{page, other, page[:8191]}, nil)
	w.mustHave("base/1/16384", want)

	w.write("pg_wal.tmp", page)
	w.must(os.Rename(w.path("pg_wal.tmp"), w.path("pg_wal")))
	w.must(os.Link(w.path("pg_wal"), w.path("again")))
	w.must(os.Remove(w.path("pg_wal")))
	w.must(os.Symlink("base/1", w.path("tablespace")))
	w.must(os.Chmod(w.path("base"), 0o750))
	w.must(os.Chown(w.path("base"), 65534, 65534))
	directory, err := os.Open(w.folder)
	w.must(err)
	w.must(directory.Sync())
	w.must(directory.Close())
	w.stop()
	w.start()
	w.mustHave("tablespace/16384", want)
	w.mustHave("again", page)
	var found unix.Stat_t
	w.must(unix.Stat(w.path("base"), &found))
	if found.Mode != unix.S_IFDIR|0o750 || found.Uid != 65534 || found.Gid != 65534 || found.Nlink != 3 {
		t.Errorf("%+v", found)
	}
	w.must(os.RemoveAll(w.path("base")))
	if names, err := os.ReadDir(w.folder); err != nil || len(names) != 2 {
		t.Errorf("%v, %v", names, err)
	}
}

// A file that has lost its name is there for those that have it open.
func TestFilesWithoutANameThatAreOpen(t *testing.T) {
	w := newWorld(t)
	w.write("1", []byte("content"))
	file, err := os.OpenFile(w.path("1"), os.O_RDWR, 0)
	w.must(err)
	w.write("2", []byte("other"))
	w.must(os.Rename(w.path("2"), w.path("1")))
	_, err = file.WriteAt([]byte("C"), 0)
	w.must(err)
	w.must(file.Sync())
	got := make([]byte, 7)
	if _, err := file.ReadAt(got, 0); err != nil || string(got) != "Content" {
		t.Errorf("%q, %v", got, err)
	}
	w.must(file.Close())
	w.mustHave("1", []byte("other"))
}

func TestManyNames(t *testing.T) {
	w := newWorld(t)
	const many = 3000
	for i := range many {
		w.must(os.Symlink("there", w.path(fmt.Sprint(i))))
	}
	names, err := os.ReadDir(w.folder)
	if err != nil || len(names) != many {
		t.Fatalf("%d names, %v", len(names), err)
	}
	for _, each := range names {
		w.must(os.Remove(w.path(each.Name())))
	}
	if names, err := os.ReadDir(w.folder); err != nil || len(names) != 0 {
		t.Errorf("%d names, %v", len(names), err)
	}
}

func TestSpace(t *testing.T) {
	w := newWorld(t)
	var before, after unix.Statfs_t
	w.must(unix.Statfs(w.folder, &before))
	w.write("1", bytes.Repeat([]byte{7}, 1<<20))
	w.must(unix.Statfs(w.folder, &after))
	if before.Bfree == 0 || before.Bavail == 0 || after.Blocks-after.Bfree < before.Blocks-before.Bfree+1<<20/4096 {
		t.Errorf("%+v, then %+v", before, after)
	}
}

func TestFoldersThatAreRefused(t *testing.T) {
	w := newWorld(t)
	second := configOf(w.gateway.Socket, t.TempDir())
	second.Wait = 0
	err := mount.Run(t.Context(), second, second.Options.Logger, nil)
	if err == nil || !bytes.Contains([]byte(err.Error()), []byte("a test of db-1")) {
		t.Errorf("a second mount of the directory: %v", err)
	}
	w.must(os.WriteFile(filepath.Join(second.Folder, "mine"), nil, 0o600))
	err = mount.Run(t.Context(), second, second.Options.Logger, nil)
	if err == nil || !bytes.Contains([]byte(err.Error()), []byte("mine is there")) {
		t.Errorf("a folder that is not empty: %v", err)
	}
	second.Folder = filepath.Join(second.Folder, "not")
	if err := mount.Run(t.Context(), second, second.Options.Logger, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// What was synced and is gone is an error that says what to do, and the files that are left stay.
func TestSegmentThatIsGone(t *testing.T) {
	w := newWorld(t)
	w.write("pages", bytes.Repeat([]byte{1}, 1<<20))
	w.stop()
	config := configOf(w.gateway.Socket, w.folder)
	session, err := client.Attach(t.Context(), config.Config)
	w.must(err)
	before, err := session.List(t.Context())
	w.must(err)
	for _, each := range before {
		if strings.HasPrefix(each.Name, "segment-") {
			w.must(session.Remove(t.Context(), each.Name))
		}
	}
	left, err := session.List(t.Context())
	w.must(err)
	if len(left) == 0 || len(left) == len(before) {
		t.Fatalf("of %d files %d are left", len(before), len(left))
	}
	session.End()
	err = mount.Run(t.Context(), config, config.Options.Logger, nil)
	var told *store.Error
	if !errors.Is(err, overwrite.ErrCorrupt) || !errors.As(err, &told) || !strings.Contains(told.Hint, "sluice pool status") {
		t.Errorf("mounted all the same, or with no word on what to do: %v", err)
	}
	session, err = client.Attach(t.Context(), config.Config)
	w.must(err)
	defer session.End()
	if after, err := session.List(t.Context()); err != nil || len(after) != len(left) {
		t.Errorf("of %d files %d are left: %v", len(left), len(after), err)
	}
}

// Who has files open when it is unmounted has not lost what was written.
func TestUnmountedInUse(t *testing.T) {
	w := newWorld(t)
	file, err := os.Create(w.path("1"))
	w.must(err)
	defer file.Close()
	_, err = file.WriteString("content")
	w.must(err)
	w.stop()
	w.start()
	w.mustHave("1", []byte("content"))
}

// What nobody has synced is there all the same when the agent comes back.
func TestAgentThatIsStartedAnew(t *testing.T) {
	w := newWorld(t)
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
	w.write("1", content)
	w.gateway.Stop()
	file, err := os.OpenFile(w.path("1"), os.O_RDWR, 0)
	w.must(err)
	defer file.Close()
	_, err = file.WriteAt([]byte("changed"), 99)
	w.must(err)
	w.gateway.Start(lease)
	w.must(file.Sync())
	copy(content[99:], "changed")
	w.mustHave("1", content)
	w.stop()
	w.start()
	w.mustHave("1", content)
}

// What was synced outlasts the process; of what was not, the beginning.
func TestMountThatIsKilled(t *testing.T) {
	w := newWorld(t)
	synced := bytes.Repeat([]byte("synced"), 100_000)
	w.must(os.Mkdir(w.path("directory"), 0o700))
	w.write("directory/1", synced)
	file, err := os.OpenFile(w.path("directory/1"), os.O_RDWR, 0)
	w.must(err)
	w.must(file.Sync())
	for i := range 200 {
		_, err := file.WriteAt([]byte{byte(i)}, int64(i))
		w.must(err)
	}
	w.kill()
	if _, err := file.WriteAt([]byte{1}, 0); !errors.Is(err, unix.ECONNABORTED) && !errors.Is(err, unix.ENOTCONN) {
		t.Errorf("a write to a mount whose process is gone: %v", err)
	}
	_ = file.Close()
	w.start()
	got, err := os.ReadFile(w.path("directory/1"))
	w.must(err)
	begin := 0
	for begin < 200 && got[begin] == byte(begin) {
		begin++
	}
	if !bytes.Equal(got[begin:], synced[begin:]) {
		t.Errorf("after %d writes that are there, there is something else than before", begin)
	}
}

// Servers that are lost one after the other take all copies of what is being written with them: it is made anew.
func TestServersThatAreLostInTurn(t *testing.T) {
	w := newUnmounted(t)
	w.gateway.Stop()
	w.gateway.Patience = 5 * time.Second
	w.gateway.Start(lease)
	w.start()
	file, err := os.Create(w.path("1"))
	w.must(err)
	defer file.Close()
	var content []byte
	for _, name := range []string{"pool1", "pool2", "pool3"} {
		w.gateway.Pool.Servers[name].Stop()
		_, err := file.WriteString(name)
		w.must(err)
		w.must(file.Sync())
		w.gateway.Pool.Servers[name].Start()
		content = append(content, name...)
	}
	w.kill()
	w.start()
	w.mustHave("1", content)
}
