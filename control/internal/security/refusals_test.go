package security

import (
	"bytes"
	"encoding/json"
	"errors"
	"log"
	"log/slog"
	"testing"
	"time"
)

// refusalLog is a log of refusals, with a clock that the test sets.
type refusalLog struct {
	*refusals
	text bytes.Buffer
	at   time.Time
}

func newRefusalLog() *refusalLog {
	l := &refusalLog{at: time.Now()}
	l.refusals = &refusals{logger: slog.New(slog.NewJSONHandler(&l.text, nil)), now: func() time.Time { return l.at }}
	return l
}

// lines gives what has been logged since the last call.
func (l *refusalLog) lines(t *testing.T) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for line := range bytes.Lines(l.text.Bytes()) {
		var record map[string]any
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, record)
	}
	l.text.Reset()
	return lines
}

func TestRefusalsDoNotFillTheLog(t *testing.T) {
	l := newRefusalLog()
	refuseMany := func(count int) {
		for range count {
			l.log("connection refused", "peer", "192.0.2.1:5", "error", errors.New("no certificate"))
		}
	}
	refuseMany(1000)
	if lines := l.lines(t); len(lines) != maxRefusalLines || lines[0]["peer"] != "192.0.2.1:5" {
		t.Errorf("%d lines, want %d: %v", len(lines), maxRefusalLines, lines)
	}
	l.at = l.at.Add(refusalLinesTime - 1)
	refuseMany(10)
	if lines := l.lines(t); len(lines) != 0 {
		t.Errorf("logged before its time: %v", lines)
	}
	l.at = l.at.Add(1)
	refuseMany(2)
	lines := l.lines(t)
	if len(lines) != 2 || lines[0]["suppressed_lines"] != float64(1010-maxRefusalLines) {
		t.Fatalf("the first line after a minute does not tell how many were left out: %v", lines)
	}
	if _, isThere := lines[1]["suppressed_lines"]; isThere {
		t.Errorf("they are told twice: %v", lines[1])
	}
	credentials := &Credentials{refusals: l.refusals}
	if total := credentials.RefusedHandshakes(); total != 1012 {
		t.Errorf("%d handshakes were refused, want 1012", total)
	}
}

func TestErrorsOfHTTPServers(t *testing.T) {
	l := newRefusalLog()
	server := log.New(httpErrors{l.refusals}, "", 0)
	server.Printf("http: TLS handshake error from %s: %v", "[2001:db8::1]:5", errors.New("tls: no: reason"))
	server.Print("http: superfluous response.WriteHeader call")
	lines := l.lines(t)
	if len(lines) != 2 || lines[0]["msg"] != "connection refused" || lines[0]["peer"] != "[2001:db8::1]:5" ||
		lines[0]["error"] != "tls: no: reason" || lines[1]["msg"] != "http: superfluous response.WriteHeader call" {
		t.Errorf("the log has %v", lines)
	}
	for range 100 {
		server.Print("http: TLS handshake error from 192.0.2.1:5: EOF")
		server.Print("something else")
	}
	if lines := l.lines(t); len(lines) != 100+maxRefusalLines-1 {
		t.Errorf("%d lines, want all but those of handshakes beyond the limit", len(lines))
	}
}
