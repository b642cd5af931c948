package server

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// patience is how long a condition may take to come true before a test gives up.
const patience = time.Minute

// WaitUntil polls a condition until it holds; a test in which it never does fails and says what was
// waited for.
func WaitUntil(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for !condition() {
		select {
		case <-poll.C:
		case <-deadline.C:
			t.Fatalf("waited %v in vain for %s", patience, what)
		}
	}
}

// Connect opens a session of the superuser, closed with the test.
func (s *Server) Connect(t testing.TB) *pgx.Conn {
	t.Helper()
	connection, err := s.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close(context.Background()) })
	return connection
}

// Execute executes statements as the superuser, each in a transaction of its own.
func (s *Server) Execute(t testing.TB, statements ...string) {
	t.Helper()
	connection, err := s.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close(context.Background())
	for _, statement := range statements {
		if _, err := connection.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// DirtyBuffers leaves some 2500 buffers of 8 KiB for the next checkpoint to write.
func (s *Server) DirtyBuffers(t testing.TB) {
	t.Helper()
	s.Execute(t, "CREATE TABLE IF NOT EXISTS pages (i int, filler text)",
		"INSERT INTO pages SELECT i, repeat('x', 1000) FROM generate_series(1, 20000) i")
}

// clock is the time that the server tells.
func (s *Server) clock(t testing.TB) time.Time {
	t.Helper()
	connection, err := s.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close(context.Background())
	var told time.Time
	if err := connection.QueryRow(t.Context(), "SELECT clock_timestamp()").Scan(&told); err != nil {
		t.Fatal(err)
	}
	return told
}

func (s *Server) answers() bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	connection, err := s.connect(ctx)
	if err != nil {
		return false
	}
	return connection.Close(ctx) == nil
}

func (s *Server) connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.Connect(ctx, fmt.Sprintf("host=%s port=%d user=%s database=%s sslmode=disable", s.folder, Port, Superuser, Database))
}
