package dispatch

import (
	"slices"
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

func TestPeerThatFailsAgainIsLeftOutForLonger(t *testing.T) {
	p := &peer{name: "db-2"}
	p.learn(compaction.Capacity{FreeSlots: 1}, 0)
	isLeftOut := func(at time.Duration) bool {
		known, _ := p.known(at)
		return known.FreeSlots == 0
	}
	now := time.Duration(0)
	for _, pause := range []time.Duration{10, 20, 40, 80, 160, 300, 300} {
		p.leaveOut(now)
		end := now + pause*time.Second
		if !isLeftOut(end-1) || isLeftOut(end) {
			t.Errorf("left out at %v: not for %d s", now, pause)
		}
		now = end
	}
	p.trust()
	p.leaveOut(now)
	if !isLeftOut(now+10*time.Second-1) || isLeftOut(now+10*time.Second) {
		t.Error("after a job that was done, what came before still counts")
	}
}

// Jobs that a peer has in flight when it is lost are lost with it, once.
func TestJobsThatAreLostTogetherCountOnce(t *testing.T) {
	p := &peer{name: "db-2"}
	p.learn(compaction.Capacity{FreeSlots: 1}, 0)
	for at := range 4 {
		p.leaveOut(time.Duration(at) * time.Second)
	}
	for at, want := range map[time.Duration]uint32{10*time.Second - 1: 0, 10 * time.Second: 1} {
		if known, _ := p.known(at); known.FreeSlots != want {
			t.Errorf("at %v: %d free slots", at, known.FreeSlots)
		}
	}
	p.leaveOut(10 * time.Second)
	if known, _ := p.known(30*time.Second - 1); known.FreeSlots != 0 {
		t.Error("what failed before does not count any more")
	}
}

// A peer whose workers fail is idle, and would get all that follows; what fails wherever it goes is not its fault.
func TestPeerWhoseWorkersFail(t *testing.T) {
	for _, reason := range compaction.Reasons() {
		p := &peer{name: "db-2"}
		p.learn(compaction.Capacity{FreeSlots: 1}, 0)
		d := &Dispatcher{started: time.Now()}
		d.judge(p, compaction.Failuref(reason, ""))
		known, _ := p.known(d.now())
		isOfPeer := slices.Contains([]compaction.Reason{
			compaction.PeerLost, compaction.PeerRefused, compaction.WorkerLost, compaction.WorkerSilent,
			compaction.WorkerOutput, compaction.DiskFull,
		}, reason)
		if isLeftOut := known.FreeSlots == 0; isLeftOut != isOfPeer {
			t.Errorf("%s: left out %t", reason, isLeftOut)
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
