package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"
)

func (p *Page) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", serveIndex)
	mux.HandleFunc("GET /static/{name}", serveStatic)
	mux.HandleFunc("GET /api/cluster", p.serveCluster)
	mux.HandleFunc("GET /api/history", p.serveHistory)
	mux.HandleFunc("GET /api/decisions", p.serveDecisions)
	mux.HandleFunc("GET /api/events", p.serveEvents)
	return withSecurityHeaders(mux)
}

func (p *Page) serveCluster(w http.ResponseWriter, r *http.Request) {
	query, err := parseClusterQuery(r.URL.RawQuery)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	frame := p.currentFrame()
	answer, shown, err := p.answerCluster(frame, query)
	for _, place := range shown {
		if err != nil {
			break
		}
		var node json.RawMessage
		node, err = frame.nodeJSON(place)
		answer.Nodes = append(answer.Nodes, node)
	}
	respond(w, r, answer, err)
}

func (p *Page) serveDecisions(w http.ResponseWriter, r *http.Request) {
	query, err := parseDecisionQuery(r.URL.RawQuery)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	p.mu.RLock()
	found, leftOut, lost := p.decisions.newest(0, query.limit, query.matches)
	p.mu.RUnlock()
	listed, err := answerDecisions(found)
	respond(w, r, decisionsAnswer{Decisions: listed, LeftOut: leftOut + lost}, err)
}

func (p *Page) serveHistory(w http.ResponseWriter, r *http.Request) {
	wanted, err := parseTarget(r.URL.RawQuery)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	shown, found := p.timeline(wanted, fromTheStart, 0)
	if !found {
		refuse(w, http.StatusNotFound, "there is no such task now, and there was none in the last 15 minutes")
		return
	}
	answer, err := answerHistory(shown)
	respond(w, r, answer, err)
}

// fromTheStart is before any moment of the page.
const fromTheStart time.Duration = -1

// timeline copies what the timeline of a target has that is newer than a moment, and the decisions about
// it after an ordinal. It is false for a target that does not exist.
func (p *Page) timeline(wanted target, after time.Duration, ordinal uint64) (timeline, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	exists := p.history.series[wanted] != nil || p.frame.has(wanted)
	kept := p.history.open(wanted, exists, p.frame.since)
	if kept == nil {
		return timeline{}, false
	}
	oldest := max(after, p.frame.since-historyLength)
	shown := timeline{target: wanted, at: p.frame.since, began: kept.began, debt: p.frame.debt(wanted)}
	shown.points, shown.repeats = kept.newerThan(oldest)
	shown.decisions, _, _ = p.decisions.newest(ordinal, maxListed, func(m made) bool {
		return m.since > oldest && wanted.of(m)
	})
	return shown, true
}

// respond writes an answer as JSON, or that it could not be made.
func respond(w http.ResponseWriter, r *http.Request, answer any, err error) {
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	text, err := json.Marshal(answer)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	writeContent(w, r, "application/json", append(text, '\n'))
}

// refuse answers with what is wrong.
func refuse(w http.ResponseWriter, status int, problem string) {
	text, err := json.Marshal(map[string]string{"error": problem})
	if err != nil {
		http.Error(w, problem, status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a client that has gone needs no answer
}

// writeContent writes what a browser may keep, but has to ask about before it shows it again.
func writeContent(w http.ResponseWriter, r *http.Request, mediaType string, content []byte) {
	hash := sha256.Sum256(content)
	tag := `"` + hex.EncodeToString(hash[:16]) + `"`
	header := w.Header()
	header.Set("Content-Type", mediaType)
	header.Set("Cache-Control", "private, no-cache")
	header.Set("ETag", tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}
