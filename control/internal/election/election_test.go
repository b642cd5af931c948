package election_test

import (
	"context"
	"testing"
	"time"

	"sluice.dev/control/internal/election"
)

func TestSingleIsAlwaysActive(t *testing.T) {
	single := election.NewSingle("a")
	if got, want := single.State(), (election.State{Active: true, Leader: "a"}); got != want {
		t.Errorf("state is %+v, want %+v", got, want)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	cancel()
	single.Run(ctx) // returns, as the context has ended
}
