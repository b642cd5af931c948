package security

import (
	"bytes"
	"log/slog"
	"sync"
	"time"
)

// Whoever reaches the port can have handshakes refused as fast as it connects, and must not fill the log.
const (
	maxRefusalLines  = 10
	refusalLinesTime = time.Minute
)

// refusals logs and counts the handshakes that the servers of a process refuse. It is safe for concurrent use.
type refusals struct {
	logger *slog.Logger
	now    func() time.Time

	mutex sync.Mutex
	total uint64
	// lines is how many were logged since beganAt, suppressed how many were not since the last one that was.
	lines      int
	beganAt    time.Time
	suppressed uint64
}

// log logs one refusal, or leaves it out if there were too many; the next line then tells how many were.
func (r *refusals) log(message string, attributes ...any) {
	suppressed, isLogged := r.count()
	if !isLogged {
		return
	}
	if suppressed > 0 {
		attributes = append(attributes, "suppressed_lines", suppressed)
	}
	r.logger.Warn(message, attributes...)
}

func (r *refusals) count() (suppressed uint64, isLogged bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.total++
	now := r.now()
	if now.Sub(r.beganAt) >= refusalLinesTime {
		r.lines, r.beganAt = 0, now
	}
	if r.lines == maxRefusalLines {
		r.suppressed++
		return 0, false
	}
	r.lines++
	suppressed, r.suppressed = r.suppressed, 0
	return suppressed, true
}

// RefusedHandshakes is how many TLS handshakes the servers of this process have refused.
func (c *Credentials) RefusedHandshakes() uint64 {
	c.refusals.mutex.Lock()
	defer c.refusals.mutex.Unlock()
	return c.refusals.total
}

// handshakeError begins the lines about refused handshakes of an HTTP server, which has no other way to tell.
var handshakeError = []byte("http: TLS handshake error from ")

// httpErrors takes what an HTTP server logs.
type httpErrors struct {
	refusals *refusals
}

func (e httpErrors) Write(line []byte) (int, error) {
	text := bytes.TrimSuffix(line, []byte("\n"))
	refusal, isRefusal := bytes.CutPrefix(text, handshakeError)
	if !isRefusal {
		e.refusals.logger.Warn(string(text))
		return len(line), nil
	}
	peer, reason, _ := bytes.Cut(refusal, []byte(": "))
	e.refusals.log("connection refused", "peer", string(peer), "error", string(reason))
	return len(line), nil
}
