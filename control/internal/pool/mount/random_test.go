package mount_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// pair is a file of the mount, and one of this host that has the same done to it.
type pair struct {
	w           *world
	dice        *rand.Rand
	real, plain *os.File
}

const mostFileBytes = 2 << 20

func (p *pair) both(do func(file *os.File) error) {
	p.w.t.Helper()
	p.w.must(do(p.plain))
	p.w.must(do(p.real))
}

func (p *pair) write() {
	data := make([]byte, 1+p.dice.IntN(64<<10))
	for i := range data {
		data[i] = byte(p.dice.Uint32())
	}
	offset := p.dice.Int64N(mostFileBytes)
	p.both(func(file *os.File) error {
		_, err := file.WriteAt(data, offset)
		return err
	})
}

// page overwrites one, as most writes of a database do.
func (p *pair) page() {
	data := bytes.Repeat([]byte{byte(p.dice.Uint32())}, 8192)
	offset := 8192 * p.dice.Int64N(mostFileBytes/8192)
	p.both(func(file *os.File) error {
		_, err := file.WriteAt(data, offset)
		return err
	})
}

func (p *pair) truncate() {
	size := p.dice.Int64N(mostFileBytes)
	p.both(func(file *os.File) error { return file.Truncate(size) })
}

func (p *pair) punch() {
	offset, length := p.dice.Int64N(mostFileBytes), 1+p.dice.Int64N(100<<10)
	p.both(func(file *os.File) error {
		return unix.Fallocate(int(file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, offset, length)
	})
}

func (p *pair) allocate() {
	offset, length := p.dice.Int64N(mostFileBytes/2), 1+p.dice.Int64N(mostFileBytes/2)
	p.both(func(file *os.File) error { return unix.Fallocate(int(file.Fd()), 0, offset, length) })
}

// mapped changes a file through its memory, in another process: one that is stopped at a page cannot serve it.
func (p *pair) mapped() {
	value, at := p.dice.IntN(256), p.dice.Int64N(mostFileBytes)
	p.both(func(file *os.File) error {
		process := exec.Command(os.Args[0])
		process.Env = append(os.Environ(), mappedVariable+"="+file.Name(), fmt.Sprintf("%s=%d %d", changeVariable, at, value))
		output, err := process.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, output)
		}
		return nil
	})
}

func (p *pair) read() {
	p.w.t.Helper()
	offset, length := p.dice.Int64N(mostFileBytes), 1+p.dice.IntN(200<<10)
	var got [2][]byte
	for i, file := range []*os.File{p.plain, p.real} {
		got[i] = make([]byte, length)
		n, err := file.ReadAt(got[i], offset)
		if err != nil && err != io.EOF {
			p.w.t.Fatal(err)
		}
		got[i] = got[i][:n]
	}
	if !bytes.Equal(got[0], got[1]) {
		p.w.t.Fatalf("%d bytes at %d differ", length, offset)
	}
}

func (p *pair) sync() {
	p.w.must(p.real.Sync())
}

// open opens both, after the kernel has forgotten what it knew of the mounted one, or not.
func (p *pair) open() {
	p.w.t.Helper()
	var err error
	if p.real != nil {
		p.w.must(p.real.Close())
		p.w.must(p.plain.Close())
	}
	p.real, err = os.OpenFile(p.w.path("file"), os.O_RDWR|os.O_CREATE, 0o600)
	p.w.must(err)
	p.plain, err = os.OpenFile(p.plainPath(), os.O_RDWR|os.O_CREATE, 0o600)
	p.w.must(err)
	if p.dice.IntN(2) == 0 {
		p.w.must(unix.Fadvise(int(p.real.Fd()), 0, 0, unix.FADV_DONTNEED))
	}
}

func (p *pair) plainPath() string {
	return filepath.Join(filepath.Dir(p.w.gateway.Socket), "plain")
}

func (p *pair) remount() {
	p.w.t.Helper()
	p.w.must(p.real.Close())
	p.w.must(p.plain.Close())
	p.real = nil
	p.w.stop()
	p.w.start()
	p.open()
}

func (p *pair) compare() {
	p.w.t.Helper()
	want, err := os.ReadFile(p.plainPath())
	p.w.must(err)
	p.w.mustHave("file", want)
}

// Whatever is done to a file is the same as with a file of this host.
func TestAnythingAgainstAFileOfThisHost(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			p := &pair{w: newWorld(t), dice: rand.New(rand.NewPCG(seed, 4))}
			p.open()
			steps := []func(){
				p.write, p.write, p.page, p.page, p.page, p.page, p.page, p.page, p.page, p.page, p.read, p.read, p.read, p.read, p.truncate,
				p.punch, p.allocate, p.mapped, p.sync, p.open,
			}
			for i := range 800 {
				steps[p.dice.IntN(len(steps))]()
				if i%300 == 150 {
					p.remount()
				}
			}
			p.compare()
		})
	}
}
