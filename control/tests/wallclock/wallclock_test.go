package wallclock_test

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice.dev/control/tests/process"
	"sluice.dev/control/tests/wallclock"
)

// tellTheTime makes this program one that writes its wall clock and the time since its start at each SIGHUP.
const tellTheTime = "tell-the-time"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == tellTheTime {
		told := make(chan os.Signal, 1)
		signal.Notify(told, syscall.SIGHUP)
		start := time.Now()
		fmt.Println("ready")
		for range told {
			fmt.Println("told", time.Now().Unix(), int64(time.Since(start)/time.Second))
		}
	}
	os.Exit(m.Run())
}

func TestJump(t *testing.T) {
	start := time.Now()
	clock := process.Start(t, os.Args[0], tellTheTime)
	process.Eventually(t, func() error {
		if !strings.Contains(clock.Output(), "ready") {
			return fmt.Errorf("it has not started")
		}
		return nil
	})
	for _, by := range []time.Duration{0, time.Hour, -time.Hour, 0} {
		wallclock.Jump(t, clock.PID(), by)
		earliest := time.Now().Add(by).Unix()
		wall, sinceStart := ask(t, clock)
		if latest := time.Now().Add(by).Unix(); wall < earliest || wall > latest {
			t.Errorf("put ahead by %v, the clock is at %d, not between %d and %d", by, wall, earliest, latest)
		}
		if sinceStart < 0 || sinceStart > int64(time.Since(start)/time.Second) {
			t.Errorf("put ahead by %v, the time since the start is %d s", by, sinceStart)
		}
	}
}

func ask(t *testing.T, clock *process.Process) (wall, sinceStart int64) {
	t.Helper()
	seen := len(clock.Output())
	clock.Hangup()
	process.Eventually(t, func() error {
		_, err := fmt.Sscanf(clock.Output()[seen:], "told %d %d\n", &wall, &sinceStart)
		return err
	})
	return wall, sinceStart
}
