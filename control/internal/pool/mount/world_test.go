package mount_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sluice.dev/control/internal/pool/gateway/client"
	"sluice.dev/control/internal/pool/mount"
	"sluice.dev/control/internal/pool/overwrite"
	"sluice.dev/control/internal/pool/pooltest"
)

const lease = time.Minute

// What this program does in a process of its own, so that it can be killed, or be stopped at a page.
const (
	socketVariable = "SLUICE_TEST_SOCKET"
	folderVariable = "SLUICE_TEST_FOLDER"
	mappedVariable = "SLUICE_TEST_MAPPED"
	changeVariable = "SLUICE_TEST_CHANGE"
)

func TestMain(m *testing.M) {
	if socket := os.Getenv(socketVariable); socket != "" {
		os.Exit(mountUntilTold(socket, os.Getenv(folderVariable)))
	}
	if path := os.Getenv(mappedVariable); path != "" {
		if err := changeMapped(path, os.Getenv(changeVariable)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// changeMapped sets some bytes of a file, from an offset on, to a value: both are what is said.
func changeMapped(path, said string) error {
	var at, value int
	if _, err := fmt.Sscan(said, &at, &value); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	memory, err := unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	const changed = 5000
	for i := at; i < min(at+changed, len(memory)); i++ {
		memory[i] = byte(value)
	}
	return errors.Join(unix.Msync(memory, unix.MS_SYNC), unix.Munmap(memory))
}

// mountUntilTold says on its output when the mount can be used.
func mountUntilTold(socket, folder string) int {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	config := configOf(socket, folder)
	err := mount.Run(ctx, config, config.Options.Logger, func() error {
		_, err := fmt.Println("ready")
		return err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func configOf(socket, folder string) mount.Config {
	options := overwrite.Defaults(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	options.SegmentBytes, options.SnapshotBytes = 4<<20, 16<<20
	options.SpareBytes, options.MostSpareBytes = 16<<20, 64<<20
	return mount.Config{
		Config: client.Config{Socket: socket, Volume: "orders", Path: "/", Holder: "a test", Wait: lease},
		Folder: folder, Options: options,
	}
}

// world is a pool, and a mount of it.
type world struct {
	t       *testing.T
	gateway *pooltest.Gateway
	folder  string
	process *exec.Cmd
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := newUnmounted(t)
	w.start()
	return w
}

// newUnmounted has no mount yet.
func newUnmounted(t *testing.T) *world {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a mount for all users needs root")
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip("the kernel has no FUSE here")
	}
	w := &world{t: t, gateway: pooltest.NewGateway(t, "orders", lease), folder: t.TempDir()}
	t.Cleanup(func() {
		if w.process != nil {
			w.stop()
		}
	})
	return w
}

// start mounts, and returns when the mount can be used.
func (w *world) start() {
	w.t.Helper()
	w.process = exec.Command(os.Args[0])
	w.process.Env = append(os.Environ(), socketVariable+"="+w.gateway.Socket, folderVariable+"="+w.folder)
	w.process.Stderr = w.t.Output()
	said, err := w.process.StdoutPipe()
	w.must(err)
	w.must(w.process.Start())
	if line, err := bufio.NewReader(said).ReadString('\n'); line != "ready\n" {
		w.t.Fatalf("it does not mount: %q, %v, %v", line, err, w.process.Wait())
	}
}

// stop unmounts in order.
func (w *world) stop() {
	w.t.Helper()
	w.must(w.process.Process.Signal(unix.SIGTERM))
	w.end()
}

func (w *world) end() {
	w.t.Helper()
	err := w.process.Wait()
	w.process = nil
	w.must(err)
}

// kill ends the process of the mount at once.
func (w *world) kill() {
	w.t.Helper()
	w.must(w.process.Process.Kill())
	_ = w.process.Wait()
	w.process = nil
}

func (w *world) path(name string) string { return filepath.Join(w.folder, name) }

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(name string, content []byte) {
	w.t.Helper()
	w.must(os.WriteFile(w.path(name), content, 0o600))
}

func (w *world) mustHave(name string, content []byte) {
	w.t.Helper()
	if got, err := os.ReadFile(w.path(name)); err != nil || !bytes.Equal(got, content) {
		w.t.Errorf("%s has %d bytes of %d: %v", name, len(got), len(content), err)
	}
}
