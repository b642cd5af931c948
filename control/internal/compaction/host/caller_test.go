package host_test

import (
	"sync"
	"time"

	"sluice.dev/control/internal/compaction"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// stream is that of a caller.
type stream struct {
	sluicev1.CompactionService_RunCompactionClient

	mutex    sync.Mutex
	isClosed bool
}

// Send may be called while the stream is kept alive.
func (s *stream) Send(request *sluicev1.RunCompactionRequest) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.CompactionService_RunCompactionClient.Send(request)
}

// CloseSend ends what is sent.
func (s *stream) CloseSend() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.isClosed = true
	return s.CompactionService_RunCompactionClient.CloseSend()
}

// keepAlive says that the caller is there, as callers do, until the stream ends: however long a busy machine takes for a job,
// it is not cancelled for that.
func (s *stream) keepAlive() {
	ticker := time.NewTicker(compaction.Heartbeat)
	defer ticker.Stop()
	for s.isAlive() {
		select {
		case <-ticker.C:
		case <-s.Context().Done():
			return
		}
	}
}

func (s *stream) isAlive() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return !s.isClosed && s.CompactionService_RunCompactionClient.Send(&sluicev1.RunCompactionRequest{}) == nil
}
