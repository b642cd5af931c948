package endtoend

import (
	"testing"
	"time"

	"sluice.dev/control/tests/process"
	"sluice.dev/control/tests/wallclock"
)

// Clocks are set while all is at work, one machine after the other, so that for a while all disagree. No lease
// is lost by it or ends at another time, the controller goes on, and what nobody renews any more ends in its time.
func TestWallClocksJump(t *testing.T) {
	for name, by := range map[string]time.Duration{"ahead": time.Hour, "back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUpgrade(t, builtProgram())
			for _, machine := range u.machines() {
				for _, each := range machine {
					wallclock.Jump(t, each.PID(), by)
				}
				u.waitForRenewals()
			}
			u.checkThatOrdersArrive(6e6)
			for _, each := range u.guards {
				if _, _, problem := each.state(); problem != nil {
					t.Error(problem)
				}
			}
			u.active.Kill()
			u.standby.Kill()
			for _, each := range u.nodes {
				wallclock.Jump(t, each.agent.PID(), -by)
				wallclock.Jump(t, each.store.PID(), -by)
			}
			for _, each := range u.nodes {
				each.waitForNoLease()
			}
		})
	}
}

// machines are the processes that share a clock.
func (u *upgrade) machines() [][]*process.Process {
	all := [][]*process.Process{{u.etcd.Process}, {u.active.Process}, {u.standby.Process}}
	for _, each := range u.nodes {
		all = append(all, []*process.Process{each.agent, each.store})
	}
	return all
}

// checkThatOrdersArrive gives the active controller another rate, and waits for it in the stores.
func (u *upgrade) checkThatOrdersArrive(rate int) {
	u.t.Helper()
	u.configure(u.active, rate, u.extra)
	u.active.Hangup()
	for _, each := range u.nodes {
		each.waitForLease(float64(rate))
	}
}
