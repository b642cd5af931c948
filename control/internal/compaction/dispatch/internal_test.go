package dispatch

import (
	"testing"
	"time"

	"sluice.dev/control/internal/compaction"
)

func TestPeerThatIsLeftOut(t *testing.T) {
	p := &peer{name: "db-2"}
	p.learn(compaction.Capacity{FreeSlots: 2}, time.Minute)
	p.leaveOut(time.Minute)
	// What it says meanwhile changes nothing.
	p.learn(compaction.Capacity{FreeSlots: 3}, time.Minute+time.Second)
	for at, want := range map[time.Duration]uint32{
		time.Minute: 0, time.Minute + 9*time.Second: 0, time.Minute + 10*time.Second: 3,
	} {
		if known, isKnown := p.known(at); !isKnown || known.FreeSlots != want {
			t.Errorf("at %v: %d free slots, known %t", at, known.FreeSlots, isKnown)
		}
	}
}

// A job that was accepted has begun, however soon it has ended.
func TestAcceptanceCountsBeforeTheEnd(t *testing.T) {
	for range 100 {
		ended := &Job{peer: &peer{}, accepted: make(chan struct{}), done: make(chan struct{})}
		close(ended.accepted)
		close(ended.done)
		if refusal, isFree := await(ended, nil); refusal != nil || isFree {
			t.Fatalf("%v, free for another peer: %t", refusal, isFree)
		}
	}
	failed := &Job{
		peer: &peer{}, accepted: make(chan struct{}), done: make(chan struct{}),
		failure: compaction.Failuref(compaction.WorkerLost, ""), isSent: true, isRefused: true,
	}
	close(failed.accepted)
	close(failed.done)
	for range 100 {
		if refusal, _ := await(failed, nil); refusal != nil {
			t.Fatalf("a job that has begun and failed counts as not begun: %v", refusal)
		}
	}
}
