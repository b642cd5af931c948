package overwrite

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

func open(t *testing.T, files *memoryFiles) *FileSystem {
	t.Helper()
	opened, err := Open(t.Context(), files, small())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	return opened
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, f *FileSystem, name string) uint64 {
	t.Helper()
	made, err := f.Create(New{Parent: RootInode, Name: name, Mode: unix.S_IFREG | 0o600})
	mustDo(t, err)
	return made.Number
}

func dice() *rand.Rand { return rand.New(rand.NewPCG(7, 7)) }

// written has a file in a log that goes over several segments, synced, in files of a holder that is gone.
func written(t *testing.T) *memoryFiles {
	t.Helper()
	files := newMemoryFiles()
	f := open(t, files)
	inode := create(t, f, "file")
	for i := range 20 {
		mustDo(t, f.Write(inode, bytes.Repeat([]byte{byte(i)}, 2048), int64(i)*2048))
	}
	mustDo(t, f.Sync())
	return files.crash(dice())
}

// Any byte of what was synced that is another one is found, and said, when it is read.
func TestDamageIsFound(t *testing.T) {
	good := written(t)
	for _, name := range good.names() {
		for at := 0; at < len(good.files[name].content); at += 977 {
			t.Run(fmt.Sprintf("%s byte %d", name, at), func(t *testing.T) {
				bad := good.crash(dice())
				for name, file := range good.files {
					bad.files[name].floor = file.floor
				}
				bad.files[name].content[at] ^= 0x10
				opened, err := Open(t.Context(), bad, small())
				if err == nil {
					_ = opened.Close()
				}
				if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), name) {
					t.Errorf("%v", err)
				}
			})
		}
	}
}

// What a later record says was synced must be there, even if nobody knows how much of the file was.
func TestDamageThatOnlyTheLogKnowsOf(t *testing.T) {
	files := newMemoryFiles()
	f := open(t, files)
	inode := create(t, f, "file")
	mustDo(t, f.Sync())
	mustDo(t, f.Write(inode, []byte("later"), 0))
	mustDo(t, f.Sync())
	left := files.crash(dice())
	for _, file := range left.files {
		file.floor = 0
	}
	left.files[segmentName(1)].content[60] ^= 1
	if _, err := Open(t.Context(), left, small()); !errors.Is(err, ErrCorrupt) {
		t.Errorf("%v", err)
	}
}

func TestFilesThatAreMissing(t *testing.T) {
	good := written(t)
	for _, name := range good.names() {
		left := good.crash(dice())
		delete(left.files, name)
		opened, err := Open(t.Context(), left, small())
		if err == nil {
			_ = opened.Close()
		}
		// Without the last segment nothing says that there was one.
		isLast := name == good.names()[len(good.names())-2]
		if !errors.Is(err, ErrCorrupt) && !isLast {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestDirectoriesOfOthersAreRefused(t *testing.T) {
	files := newMemoryFiles()
	files.files["CURRENT"] = &memoryFile{isSealed: true}
	if _, err := Open(t.Context(), files, small()); err == nil || !strings.Contains(err.Error(), "CURRENT") {
		t.Errorf("%v", err)
	}
}

func TestFilesWithoutANameAreThereUntilTheyAreForgotten(t *testing.T) {
	files := newMemoryFiles()
	f := open(t, files)
	inode := create(t, f, "file")
	mustDo(t, f.Write(inode, []byte("content"), 0))
	mustDo(t, f.Unlink(RootInode, "file"))
	mustDo(t, f.Write(inode, []byte("C"), 0))
	mustDo(t, f.Sync())
	found, err := f.Inode(inode)
	mustDo(t, err)
	if got := contentOf(t, f, found); string(got) != "Content" || found.Links != 0 {
		t.Errorf("%q, %+v", got, found)
	}
	if _, err := f.Link(inode, RootInode, "again"); !errors.Is(err, unix.ENOENT) {
		t.Errorf("a name for it: %v", err)
	}
	left := files.crash(dice())
	f.Forget(inode)
	if _, err := f.Inode(inode); !errors.Is(err, unix.ENOENT) {
		t.Errorf("it is there: %v", err)
	}
	if _, err := open(t, left).Inode(inode); !errors.Is(err, unix.ENOENT) {
		t.Errorf("it is there after a crash: %v", err)
	}
}

// However often files are overwritten, what is dead is bounded, also where little pieces are.
func TestSpaceIsBounded(t *testing.T) {
	for _, bytes := range []int{1, 100, 2048} {
		t.Run(fmt.Sprintf("pieces of %d", bytes), func(t *testing.T) {
			files := newMemoryFiles()
			f := open(t, files)
			inode, other, random := create(t, f, "file"), create(t, f, "other"), dice()
			data := make([]byte, bytes)
			for i := range 3000 {
				mustDo(t, f.Write(inode, data, random.Int64N(64<<10)))
				if i%100 == 0 {
					mustDo(t, f.Write(other, data, int64(i)*int64(bytes)))
				}
			}
			mustDo(t, f.Sync())
			options, usage := small(), f.Usage()
			most := 3*usage.LiveBytes + options.MostSpareBytes + 4*int64(options.SegmentBytes) + options.SnapshotBytes
			if held := files.heldBytes(); held > most {
				t.Errorf("%d bytes are held for %+v, over %d", held, usage, most)
			}
		})
	}
}

func TestRoomThatIsNotThere(t *testing.T) {
	files := newMemoryFiles()
	f := open(t, files)
	inode := create(t, f, "file")
	setFails := func(err error) {
		files.mutex.Lock()
		defer files.mutex.Unlock()
		files.fails = func() error { return err }
	}
	setFails(ErrFull)
	if err := f.Sync(); !errors.Is(err, ErrFull) {
		t.Errorf("a sync: %v", err)
	}
	data := make([]byte, 2048)
	var err error
	written := 0
	for ; err == nil; written++ {
		err = f.Write(inode, data, int64(written)*2048)
	}
	if options := small(); !errors.Is(err, ErrFull) || written > 4*options.SegmentBytes/2048 {
		t.Errorf("after %d writes: %v", written, err)
	}
	setFails(nil)
	mustDo(t, f.Sync())
	if got := dump(t, f); got != dump(t, open(t, files.crash(dice()))) {
		t.Errorf("it is not what was written:\n%s", got)
	}
}

func TestDirectoryThatIsLost(t *testing.T) {
	files := newMemoryFiles()
	f := open(t, files)
	inode := create(t, f, "file")
	mustDo(t, f.Sync())
	files.crash(dice())
	mustDo(t, f.Write(inode, []byte("content"), 0))
	if err := f.Sync(); !errors.Is(err, ErrLost) {
		t.Errorf("a sync: %v", err)
	}
	<-f.Lost()
	if err := f.Write(inode, []byte("content"), 0); !errors.Is(err, ErrLost) {
		t.Errorf("a write: %v", err)
	}
	if _, err := f.Read(t.Context(), inode, make([]byte, 1), 0); !errors.Is(err, ErrLost) {
		t.Errorf("a read: %v", err)
	}
}

// Many who write, sync and read at once do not see each other, while segments are cleaned and snapshots written.
func TestManyAtOnce(t *testing.T) {
	files := newMemoryFiles()
	f := open(t, files)
	var all sync.WaitGroup
	for i := range 6 {
		inode, random := create(t, f, fmt.Sprint(i)), rand.New(rand.NewPCG(uint64(i), 5))
		all.Go(func() {
			want := make([]byte, 32<<10)
			mustBeDone(t, f.Resize(inode, int64(len(want))))
			for range 300 {
				offset := random.IntN(len(want) - 2048)
				data := bytes.Repeat([]byte{byte(random.Uint32())}, 1+random.IntN(2048))
				copy(want[offset:], data)
				mustBeDone(t, f.Write(inode, data, int64(offset)))
				if random.IntN(10) == 0 {
					mustBeDone(t, f.Sync())
				}
				got := make([]byte, len(want))
				if _, err := f.Read(t.Context(), inode, got, 0); err != nil || !bytes.Equal(got, want) {
					t.Errorf("it is not what was written: %v", err)
				}
			}
		})
	}
	all.Wait()
	mustDo(t, f.Sync())
	if got := dump(t, f); got != dump(t, open(t, files.crash(dice()))) {
		t.Errorf("it is not what was synced:\n%s", got)
	}
}

// mustBeDone is mustDo of another goroutine.
func mustBeDone(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}
