package election

import (
	"sync"
	"time"
)

// tenure is the time for which this controller may act. It ends by the controller's own monotonic clock,
// before the session can have ended at the server: that counts from when it handled a renewal, which is
// never before the renewal was sent.
type tenure struct {
	now        func() time.Time
	timeToLive time.Duration
	margin     time.Duration
	changed    chan struct{}

	mutex   sync.Mutex
	elected bool
	term    uint64
	until   time.Time
	leader  string
	problem string
}

func newTenure(now func() time.Time, timeToLive, margin time.Duration) *tenure {
	return &tenure{now: now, timeToLive: timeToLive, margin: margin, changed: make(chan struct{}, 1)}
}

// renewed notes that the session was renewed by a request that was sent at that time.
func (t *tenure) renewed(sentAt time.Time) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.until = sentAt.Add(t.timeToLive - t.margin)
	t.problem = ""
}

// elect notes that this controller has won the election.
func (t *tenure) elect() {
	t.mutex.Lock()
	t.elected = true
	t.term++
	t.mutex.Unlock()
	t.announce()
}

// end notes that the session is over. A nil cause is no problem to show.
func (t *tenure) end(cause error) {
	t.mutex.Lock()
	t.elected, t.leader, t.until = false, "", time.Time{}
	if cause != nil {
		t.problem = cause.Error()
	}
	t.mutex.Unlock()
	t.announce()
}

// follow notes who the active controller is.
func (t *tenure) follow(leader string) {
	t.mutex.Lock()
	t.leader = leader
	t.mutex.Unlock()
	t.announce()
}

// left is how long the session is sure to hold; not positive if it may have ended.
func (t *tenure) left() time.Duration {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.until.Sub(t.now())
}

func (t *tenure) state() State {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	state := State{
		Active:  t.elected && t.now().Before(t.until),
		Leader:  t.leader,
		Problem: t.problem,
	}
	if state.Active {
		state.Term = t.term
	}
	return state
}

// announce never blocks: one notice that has not been taken yet stands for all later ones.
func (t *tenure) announce() {
	select {
	case t.changed <- struct{}{}:
	default:
	}
}
