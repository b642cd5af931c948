package metadata

import (
	"context"
	"testing"
	"time"
)

func TestAttemptsLeaveTimeForOtherVoters(t *testing.T) {
	for within, most := range map[time.Duration]time.Duration{
		time.Hour: attemptTime, 5 * time.Second: time.Second, time.Millisecond: shortestAttempt,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		if got := attemptWithin(ctx); got > most || got < shortestAttempt {
			t.Errorf("%v of %v for one voter, at most %v were expected", got, within, most)
		}
	}
}
