// Package server starts PostgreSQL servers of a build with the extension "sluice", for tests. Each has
// its data and its socket in a folder of its own, is reached by that socket alone, and is gone when its
// test ends.
package server

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice.dev/control/tests/wallclock"
)

// HomeVariable names the environment variable with the folder of the build, which holds "bin".
const HomeVariable = "SLUICE_POSTGRES_HOME"

const (
	// Superuser owns the server, Database has the extension, Port is that of every server: their sockets
	// are in different folders.
	Superuser = "postgres"
	Database  = "postgres"
	Port      = 5432

	// unprivilegedUser runs the programs when the tests run as root, which PostgreSQL refuses.
	unprivilegedUser = "nobody"
)

// Settings go to postgresql.conf, by name.
type Settings map[string]string

// baseSettings make a server that starts no checkpoint by itself and writes buffers in checkpoints
// alone. Without fsync there is no sync phase: tests that want one switch it on.
var baseSettings = Settings{
	"listen_addresses":         "",
	"shared_preload_libraries": "sluice",
	"shared_buffers":           "64MB",
	"checkpoint_timeout":       "1h",
	"max_wal_size":             "1GB",
	"autovacuum":               "off",
	"bgwriter_lru_maxpages":    "0",
	"fsync":                    "off",
	"wal_keep_size":            "512MB",
}

// Server is one server.
type Server struct {
	home   string
	folder string
	// process is nil while the server is stopped; ended is closed when it has ended.
	process *exec.Cmd
	ended   chan struct{}
}

// StartPrimary starts a new server with the extension in its database. Settings come on top of those
// that suit tests.
func StartPrimary(t testing.TB, settings Settings) *Server {
	t.Helper()
	s := startNew(t, settings)
	s.Execute(t, "CREATE EXTENSION sluice")
	return s
}

// StartPlain starts a new server that neither loads the library nor has the extension.
func StartPlain(t testing.TB) *Server {
	t.Helper()
	return startNew(t, Settings{"shared_preload_libraries": ""})
}

func startNew(t testing.TB, settings Settings) *Server {
	t.Helper()
	s := newServer(t)
	s.Run(t, "initdb", "--pgdata", s.data(), "--username", Superuser, "--auth", "trust", "--no-sync", "--no-instructions")
	s.Configure(t, baseSettings)
	s.Configure(t, Settings{"unix_socket_directories": s.folder})
	s.Configure(t, settings)
	s.Start(t)
	return s
}

// StartStandby starts a streaming standby of a primary.
func (s *Server) StartStandby(t testing.TB, settings Settings) *Server {
	t.Helper()
	standby := newServer(t)
	standby.Run(t, "pg_basebackup", "--pgdata", standby.data(), "--host", s.folder, "--username", Superuser,
		"--write-recovery-conf", "--checkpoint", "fast", "--no-sync")
	standby.Configure(t, Settings{"unix_socket_directories": standby.folder})
	standby.Configure(t, settings)
	standby.Start(t)
	return standby
}

// newServer makes the folder. It is not that of t.TempDir: its path is too long for a socket, and closed
// to other users.
func newServer(t testing.TB) *Server {
	t.Helper()
	home := os.Getenv(HomeVariable)
	if _, err := os.Stat(filepath.Join(home, "bin", "postgres")); home == "" || err != nil {
		t.Fatalf("%s is %q, which holds no bin/postgres: set it to the folder of a patched build with the extension, "+
			"as `sluice-dist show postgres/17.11 --testing` names it", HomeVariable, home)
	}
	folder, err := os.MkdirTemp("", "sluice-pg-")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{home: home, folder: folder}
	t.Cleanup(func() {
		s.end(syscall.SIGQUIT)
		if t.Failed() {
			t.Logf("log of the server in %s:\n%s", folder, s.logTail())
		}
		if err := os.RemoveAll(folder); err != nil {
			t.Errorf("removing the server's folder: %v", err)
		}
	})
	if credential := s.credential(t); credential != nil {
		if err := os.Chown(folder, int(credential.Uid), int(credential.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// SocketDirectory is where the server's socket is.
func (s *Server) SocketDirectory() string {
	return s.folder
}

func (s *Server) data() string { return filepath.Join(s.folder, "data") }

func (s *Server) log() string { return filepath.Join(s.folder, "log") }

// Configure adds settings to the configuration file; of one that is there twice the last counts. A
// running server takes them at its next start, or when it is told to reload.
func (s *Server) Configure(t testing.TB, settings Settings) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, value := range settings {
		if _, err := fmt.Fprintf(file, "%s = '%s'\n", name, value); err != nil {
			t.Fatal(err)
		}
	}
}

// Start starts a server that is stopped, and waits until it answers.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.launch(t)
	WaitUntil(t, "a server that answers", func() bool {
		select {
		case <-s.ended:
			// After a kill, the last processes of the old server hold its shared memory for a moment.
			if !strings.Contains(s.logTail(), "is still in use") {
				t.Fatalf("the server did not start:\n%s", s.logTail())
			}
			s.launch(t)
			return false
		default:
			return s.answers()
		}
	})
}

func (s *Server) launch(t testing.TB) {
	t.Helper()
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	process := s.command(t, "postgres", "-D", s.data())
	process.Stdout, process.Stderr = log, log
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	s.process, s.ended = process, ended
	go func() {
		defer close(ended)
		_ = process.Wait() // how it ended is in its log
	}()
}

// Stop stops the server as `pg_ctl stop` does: connections are cut, a checkpoint is made.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.end(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
}

// Kill ends the server without a word to anybody; its processes notice that their parent is gone.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	if err := s.end(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// JumpWallClock puts the clock of all processes of the server ahead of the machine's, or behind it, and checks that
// the server tells the time so.
func (s *Server) JumpWallClock(t testing.TB, by time.Duration) {
	t.Helper()
	postmaster := s.process.Process.Pid
	// The postmaster comes first: what it forks from then on has its clock.
	wallclock.Jump(t, postmaster, by)
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", postmaster, postmaster))
	if err != nil {
		t.Fatal(err)
	}
	for _, child := range strings.Fields(string(children)) {
		pid, err := strconv.Atoi(child)
		if err != nil {
			t.Fatal(err)
		}
		wallclock.Jump(t, pid, by)
	}
	earliest := time.Now().Add(by)
	if told := s.clock(t); told.Before(earliest.Truncate(time.Second)) || told.After(time.Now().Add(by)) {
		t.Fatalf("the server's clock is at %v, not %v ahead", told, by)
	}
}

// end sends a signal to the server, if it runs, and waits until it has ended.
func (s *Server) end(signal syscall.Signal) error {
	if s.process == nil {
		return nil
	}
	if err := s.process.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping the server: %w", err)
	}
	<-s.ended
	s.process = nil
	return nil
}

// Run runs a program of the build to its end and returns what it printed.
func (s *Server) Run(t testing.TB, program string, arguments ...string) string {
	t.Helper()
	output, err := s.command(t, program, arguments...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, output)
	}
	return string(output)
}

// StartProgram starts a program of the build against the database, such as pgbench; it is ended with
// the test, if it has not ended before.
func (s *Server) StartProgram(t testing.TB, program string, arguments ...string) {
	t.Helper()
	process := s.command(t, program, arguments...)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Kill() // fails if it has ended
		_ = process.Wait()
	})
}

// command runs in the server's folder, with the environment that points clients to the server.
func (s *Server) command(t testing.TB, program string, arguments ...string) *exec.Cmd {
	t.Helper()
	command := exec.Command(filepath.Join(s.home, "bin", program), arguments...)
	command.Dir = s.folder
	command.Env = append(os.Environ(), "PGHOST="+s.folder, "PGUSER="+Superuser, "PGDATABASE="+Database, "LC_ALL=C")
	if credential := s.credential(t); credential != nil {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: credential}
	}
	return command
}

// credential of the user that programs run as; nil for that of the test.
func (s *Server) credential(t testing.TB) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	account, err := user.Lookup(unprivilegedUser)
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// logTail is the end of the server's log, of its last start alone.
func (s *Server) logTail() string {
	const most = 4000
	log, err := os.ReadFile(s.log())
	if err != nil {
		return err.Error()
	}
	return string(log[max(0, len(log)-most):])
}
