package stripe

import (
	"sync"
	"time"
)

// suspectTime is how long a node that has failed is asked last: so long another attempt, which may take all of
// the patience, is put off.
const suspectTime = 30 * time.Second

// Suspects are the nodes that have failed somebody a short while ago. Its methods may be called at the same time.
type Suspects struct {
	now func() time.Time

	mutex sync.Mutex
	until map[string]time.Time
}

// NewSuspects begins with none.
func NewSuspects(now func() time.Time) *Suspects {
	return &Suspects{now: now, until: make(map[string]time.Time)}
}

// Add notes that a node has failed.
func (s *Suspects) Add(node string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.until[node] = s.now().Add(suspectTime)
}

// Has says whether a node has failed a short while ago.
func (s *Suspects) Has(node string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.now().Before(s.until[node])
}
