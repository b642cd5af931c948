package blocks

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"time"

	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/segment"
)

// Scrubbing reads all segments again and again, so that what the disk has lost is found while there is
// another copy.
type Scrubbing struct {
	// Period is the time from the begin of a pass to that of the next.
	Period time.Duration
	// BytesPerSecond bounds what it takes of the disk.
	BytesPerSecond int64
}

// Scrub scrubs until its context ends. A pass begins at a random place: one that is cut short by the end of
// the agent leaves others out each time.
func (s *Server) Scrub(ctx context.Context, scrubbing Scrubbing, logger *slog.Logger) {
	passes := time.NewTicker(scrubbing.Period)
	defer passes.Stop()
	for {
		s.pass(ctx, scrubbing, logger)
		select {
		case <-ctx.Done():
			return
		case <-passes.C:
		}
	}
}

func (s *Server) pass(ctx context.Context, scrubbing Scrubbing, logger *slog.Logger) {
	var begin, end layout.FileID
	_, _ = rand.Read(begin[:])
	for i := range end {
		end[i] = 0xff
	}
	damaged := s.passBetween(ctx, begin, end, scrubbing, logger) + s.passBetween(ctx, layout.FileID{}, begin, scrubbing, logger)
	if ctx.Err() == nil {
		s.metrics.scrubbedAll(damaged)
	}
}

// passBetween scrubs the files whose ids are greater than one and at most another, and counts what is damaged.
func (s *Server) passBetween(ctx context.Context, after, last layout.FileID, scrubbing Scrubbing, logger *slog.Logger) int {
	damaged := 0
	for ctx.Err() == nil {
		states, more, err := s.segments.List(after, filesInPage)
		if err != nil {
			logger.Warn("the blocks of the pool cannot be listed", "error", err)
			return damaged
		}
		for _, state := range states {
			if string(state.ID.File[:]) > string(last[:]) {
				return damaged
			}
			after = state.ID.File
			damaged += s.scrubOne(ctx, state, scrubbing, logger)
		}
		if !more {
			return damaged
		}
	}
	return damaged
}

// scrubOne returns 1 for a segment that is damaged. What is still written to is read by a later pass.
func (s *Server) scrubOne(ctx context.Context, state segment.State, scrubbing Scrubbing, logger *slog.Logger) int {
	if !state.Sealed {
		return 0
	}
	if state.Damaged {
		return s.found(state, logger, errNoSums)
	}
	buffer := make([]byte, segment.MaxRequestBytes)
	for offset := int64(0); offset < state.Length && ctx.Err() == nil; {
		n, err := s.segments.Read(state.ID, offset, buffer)
		if isRemoved(err) {
			s.damaged.remove(state.ID)
			return 0
		}
		if err != nil {
			return s.found(state, logger, err)
		}
		if n == 0 {
			return 0 // It was removed since it was listed, and is made anew: a later pass reads it.
		}
		offset += int64(n)
		s.metrics.scrubbedPart(n)
		pause(ctx, time.Duration(int64(n)*int64(time.Second)/scrubbing.BytesPerSecond))
	}
	if ctx.Err() == nil {
		s.damaged.remove(state.ID)
	}
	return 0
}

// errNoSums is of segments that may have no byte left to be read.
var errNoSums = errors.New("its checksums cannot be read, or are of another length")

// found notes a segment that is damaged, and counts it.
func (s *Server) found(state segment.State, logger *slog.Logger, cause error) int {
	s.damaged.add(state)
	logger.Error("a segment of the pool is damaged", "segment", state.ID.String(), "error", cause)
	return 1
}

func isRemoved(err error) bool {
	return reasonOf(err) == segment.NotFound
}

func pause(ctx context.Context, length time.Duration) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
