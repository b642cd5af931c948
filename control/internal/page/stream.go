package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"sluice.dev/control/internal/wire"
)

// retryMilliseconds is after how long a browser tries again when it has lost the stream.
const retryMilliseconds = 2000

// maxStreamed is how many decisions one update has at most.
const maxStreamed = 200

// update is one message of a stream. The first one has everything that the query asks for, the others
// what has changed.
type update struct {
	Cluster   clusterAnswer   `json:"cluster"`
	Decisions decisionsAnswer `json:"decisions"`
	// History is absent if no timeline is open, or if its task is gone.
	History *historyAnswer `json:"history,omitempty"`
}

// stream is what one browser has been sent.
type stream struct {
	page    *Page
	query   streamQuery
	nodes   map[string]sentNode
	ordinal uint64
	since   time.Duration
}

// sentNode tells whether a node is still as it was sent.
type sentNode struct {
	report  *wire.Report
	problem string
}

func (p *Page) serveEvents(w http.ResponseWriter, r *http.Request) {
	query, err := parseStreamQuery(r.URL.RawQuery)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	select {
	case p.streams <- struct{}{}:
		defer func() { <-p.streams }()
	default:
		w.Header().Set("Retry-After", "10")
		// One that is kept would take the place of another client, such as one that reads the metrics.
		w.Header().Set("Connection", "close")
		refuse(w, http.StatusServiceUnavailable,
			fmt.Sprintf("%d streams are open, which is the bound; close other windows of this page", cap(p.streams)))
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return
	}
	after := query.after
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		after = id
	}
	p.follow(w, r, p.newStream(query, after))
}

// newStream starts after the decision that an event ID names, or with the last ones if the ID is not
// one of this process.
func (p *Page) newStream(query streamQuery, after string) *stream {
	s := &stream{page: p, query: query, since: fromTheStart}
	p.mu.RLock()
	defer p.mu.RUnlock()
	ordinal, known := p.parseEventID(after)
	if !known || ordinal > p.decisions.count {
		ordinal = p.decisions.count - min(p.decisions.count, defaultListed)
	}
	s.ordinal = ordinal
	return s
}

// follow sends an update at each new frame, until the client or the page is gone.
func (p *Page) follow(w http.ResponseWriter, r *http.Request, s *stream) {
	beat := time.NewTicker(p.beatInterval)
	defer beat.Stop()
	if err := p.send(w, fmt.Appendf(nil, "retry: %d\n\n", retryMilliseconds)); err != nil {
		return
	}
	for {
		recorded := p.nextRecord()
		event, err := s.next()
		if err != nil {
			return
		}
		if err := p.send(w, event); err != nil {
			return
		}
		if err := p.wait(w, r, recorded, beat.C); err != nil {
			return
		}
	}
}

// errEnded says that a stream is no longer wanted.
var errEnded = errors.New("the stream has ended")

// wait returns when there is a newer frame. Meanwhile it sends comments, by which a connection that has
// silently gone is noticed.
func (p *Page) wait(w http.ResponseWriter, r *http.Request, recorded <-chan struct{}, beat <-chan time.Time) error {
	for {
		select {
		case <-recorded:
			return nil
		case <-r.Context().Done():
			return errEnded
		case <-p.closed:
			return errEnded
		case <-beat:
			if err := p.send(w, []byte(": nothing new\n\n")); err != nil {
				return err
			}
		}
	}
}

// nextRecord returns a channel that is closed when there is a newer frame than now.
func (p *Page) nextRecord() <-chan struct{} {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.recorded
}

// send writes and flushes, and fails for a client that does not take it in time.
func (p *Page) send(w http.ResponseWriter, text []byte) error {
	control := http.NewResponseController(w)
	if err := control.SetWriteDeadline(time.Now().Add(p.writeTimeout)); err != nil {
		return fmt.Errorf("bounding the time of a write: %w", err)
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("writing to a stream: %w", err)
	}
	if err := control.Flush(); err != nil {
		return fmt.Errorf("flushing a stream: %w", err)
	}
	// HTTP/2 ends a stream at its deadline, even if nothing is being written then.
	if err := control.SetWriteDeadline(time.Time{}); err != nil {
		return fmt.Errorf("ending the bound of a write: %w", err)
	}
	return nil
}

// next makes the next event of a stream.
func (s *stream) next() ([]byte, error) {
	made, err := s.update()
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(made)
	if err != nil {
		return nil, fmt.Errorf("rendering an update: %w", err)
	}
	return fmt.Appendf(nil, "id: %s\nevent: update\ndata: %s\n\n", s.page.eventID(s.ordinal), data), nil
}

func (s *stream) update() (made update, err error) {
	frame := s.page.currentFrame()
	if made.Cluster, err = s.cluster(frame); err != nil {
		return update{}, err
	}
	before := s.ordinal
	if made.Decisions, err = s.newDecisions(); err != nil {
		return update{}, err
	}
	if made.History, err = s.newHistory(before); err != nil {
		return update{}, err
	}
	return made, nil
}

// cluster has those of the shown nodes that are not as they were sent last.
func (s *stream) cluster(f *frame) (clusterAnswer, error) {
	answer, shown, err := s.page.answerCluster(f, s.query.nodes)
	if err != nil {
		return clusterAnswer{}, err
	}
	sent := make(map[string]sentNode, len(shown))
	for _, place := range shown {
		node := f.node(place)
		state := sentNode{node.Report, node.Problem}
		sent[node.Name] = state
		if before, known := s.nodes[node.Name]; known && before == state {
			continue
		}
		text, err := f.nodeJSON(place)
		if err != nil {
			return clusterAnswer{}, err
		}
		answer.Nodes = append(answer.Nodes, text)
	}
	s.nodes = sent
	return answer, nil
}

func (s *stream) newDecisions() (decisionsAnswer, error) {
	s.page.mu.RLock()
	found, leftOut, lost := s.page.decisions.newest(s.ordinal, maxStreamed, anyDecision)
	s.ordinal = s.page.decisions.count
	s.page.mu.RUnlock()
	listed, err := answerDecisions(found)
	return decisionsAnswer{Decisions: listed, LeftOut: leftOut + lost}, err
}

func (s *stream) newHistory(ordinal uint64) (*historyAnswer, error) {
	if s.query.target == nil {
		return nil, nil
	}
	if s.since == fromTheStart {
		ordinal = 0
	}
	shown, found := s.page.timeline(*s.query.target, s.since, ordinal)
	if !found {
		return nil, nil
	}
	s.since = shown.at
	return answerHistory(shown)
}
