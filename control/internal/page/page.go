// Package page is the web page of a controller: the cluster at a glance, a timeline of each task with
// the decisions about it, and the decisions themselves. It shows and never orders.
//
// What the controller does:
//
//	shown := page.New(controller, time.Now)
//	server := &http.Server{Handler: shown, ReadHeaderTimeout: ..., WriteTimeout: page.WriteTimeout}
//	server.RegisterOnShutdown(shown.Close)
//	// at the end of each period, active or standing by:
//	shown.Record()
//
// Record reads the Source and returns: it never waits for a browser. The handler may be mounted beside
// others, such as /metrics, as long as it gets the paths / and those below /static/ and /api/.
//
// Everything is bounded: the nodes of one answer, the tasks with a timeline and the points of each, the
// decisions that are kept, the streams that are open, and how long one of them may fail to take an
// update. Nothing is buffered for a stream: one that is late gets the state of the latest period, and
// the number of decisions that it missed.
package page

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// Source is the controller, as the page sees it. Messages that it has returned are kept and read later:
// it must not change them, nor what they hold.
type Source interface {
	// Cluster returns the state of the cluster.
	Cluster() Cluster
	// DecisionsAfter returns the decisions that are kept and whose sequence is greater, oldest first.
	DecisionsAfter(sequence uint64) []*sluicev1.Decision
}

// WriteTimeout bounds how long an answer may take, and each update of a stream, which sets it anew.
const WriteTimeout = 5 * time.Second

const (
	// publishInterval is a second less what the end of a period may jitter.
	publishInterval = 900 * time.Millisecond
	maxStreams      = 64
	beatInterval    = 15 * time.Second
)

// Page is the page of one controller, an http.Handler. Its methods are safe for concurrent use.
type Page struct {
	source  Source
	clock   func() time.Time
	started time.Time
	// instance tells the event IDs of this process from those of an earlier one.
	instance     string
	handler      http.Handler
	writeTimeout time.Duration
	beatInterval time.Duration

	// streams has a token for each open stream.
	streams chan struct{}
	closed  chan struct{}
	close   func()

	recording    sync.Mutex
	lastSequence uint64

	mu        sync.RWMutex
	frame     *frame
	history   *history
	decisions *decisionLog
	// recorded is closed, and replaced, when there is a new frame.
	recorded chan struct{}
}

// New makes the page of a source, and records its state for the first time. The clock must be
// monotonic, as time.Now is.
func New(source Source, clock func() time.Time) *Page {
	closed := make(chan struct{})
	p := &Page{
		source:       source,
		clock:        clock,
		started:      clock(),
		instance:     rand.Text(),
		writeTimeout: WriteTimeout,
		beatInterval: beatInterval,
		streams:      make(chan struct{}, maxStreams),
		closed:       closed,
		close:        sync.OnceFunc(func() { close(closed) }),
		history:      newHistory(),
		decisions:    newDecisionLog(),
		recorded:     make(chan struct{}),
	}
	p.handler = p.routes()
	p.Record()
	return p
}

// Record takes the state of the source over, for the timelines and for every open stream. Calls that
// come sooner than about a second after the last one change nothing; the next one makes up for them.
func (p *Page) Record() {
	p.recording.Lock()
	defer p.recording.Unlock()
	at := p.clock()
	if last := p.currentFrame(); last != nil && at.Sub(last.takenAt) < publishInterval {
		return
	}
	cluster := p.source.Cluster()
	made := p.source.DecisionsAfter(p.lastSequence)
	if len(made) > 0 {
		p.lastSequence = made[len(made)-1].GetSequence()
	}
	p.publish(cluster, made, at)
}

func (p *Page) publish(cluster Cluster, made []*sluicev1.Decision, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	since := at.Sub(p.started)
	p.history.record(cluster, since)
	for _, decision := range made {
		if !p.decisions.add(decision, since) {
			p.history.repeat(decision, since)
		}
	}
	p.frame = newFrame(p.source, at, since)
	p.decisions.forget(since - historyLength)
	p.frame.changes, p.frame.stops = p.decisions.countSince(since - historyLength)
	close(p.recorded)
	p.recorded = make(chan struct{})
}

// Close ends every open stream, so that a server can shut down.
func (p *Page) Close() {
	p.close()
}

// ServeHTTP serves the page, its files and its data.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.handler.ServeHTTP(w, r)
}

func (p *Page) currentFrame() *frame {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.frame
}
