package controller

import (
	"context"
	"math"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

const (
	// steerPause is after what time an exchange that brought nothing is tried again: the agent may be of a
	// version that has none.
	steerPause = 30 * time.Second
	// Snapshots come in the second half of a period, less some time for the last of them: the first half
	// is for decisions and orders, and what is decided on has come at most about half a period before.
	firstPhase, phases = 0.5, 0.4
)

// phaseOf is when in a period the snapshots of the node of a number come. Those of any number of nodes are spread
// evenly, whenever their exchanges begin.
func phaseOf(number int, period time.Duration) time.Duration {
	_, share := math.Modf(float64(number) * math.Phi)
	return time.Duration((firstPhase + phases*share) * float64(period))
}

// beginExchanges begins one with each agent that has answered and has none.
func (c *Controller) beginExchanges(ctx context.Context, asked []*node, periodBegan time.Time) {
	ctx = context.WithoutCancel(ctx)
	for _, n := range asked {
		if !n.answers() {
			continue
		}
		begun := newSteering(ctx, n, c.config.Period(), c.now, c.log)
		if !n.begin(begun) {
			begun.cancel()
			continue
		}
		go begun.run(periodBegan, phaseOf(n.number, begun.interval))
	}
}

// begin makes an exchange that of the node, if it may have one and has none.
func (n *node) begin(begun *steering) bool {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.isClosed || n.steering != nil || begun.now().Before(n.steerAfter) {
		return false
	}
	n.steering = begun
	return true
}

// end notes that an exchange has ended, and whether it had brought anything.
func (n *node) end(ended *steering, hasBrought bool) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.steering != ended {
		return
	}
	n.steering = nil
	if !hasBrought {
		n.steerAfter = ended.now().Add(steerPause)
	}
}

// exchange is the one by which snapshots come and orders go now, nil if there is none.
func (n *node) exchange(now time.Time, period time.Duration) *steering {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	switch {
	case n.steering == nil:
		return nil
	case n.steering.isLive(now, period):
		return n.steering
	case n.steering.isDead(now, period):
		n.steering.cancel()
		n.steering = nil
	}
	return nil
}

// countSteered is how many agents send their snapshots unasked.
func (c *Controller) countSteered() int {
	published, now := c.published.Load(), c.now()
	count := 0
	for _, n := range published.nodes {
		if n.exchange(now, published.config.Period()) != nil {
			count++
		}
	}
	return count
}

// close ends everything with the agent.
func (n *node) close() error {
	n.mutex.Lock()
	n.isClosed = true
	if n.steering != nil {
		n.steering.cancel()
	}
	n.mutex.Unlock()
	return n.connection.Close()
}

// giveLease gives an order for a lease, by the exchange if there is one.
func (c *Controller) giveLease(
	ctx context.Context, n *node, request *sluicev1.SetLeaseRequest,
) (*sluicev1.SetLeaseResponse, error) {
	exchange := n.exchange(c.now(), c.config.Period())
	if exchange == nil {
		return n.connection.SetLease(ctx, request)
	}
	answer, err := exchange.order(ctx, &sluicev1.SteerRequest{
		Order: &sluicev1.SteerRequest_SetLease{SetLease: request},
	})
	if err != nil {
		return nil, err
	}
	return answer.GetSetLease(), nil
}

// giveStart gives an order to start a task, by the exchange if there is one.
func (c *Controller) giveStart(ctx context.Context, n *node, request *sluicev1.StartTaskRequest) error {
	exchange := n.exchange(c.now(), c.config.Period())
	if exchange == nil {
		_, err := n.connection.StartTask(ctx, request)
		return err
	}
	_, err := exchange.order(ctx, &sluicev1.SteerRequest{
		Order: &sluicev1.SteerRequest_StartTask{StartTask: request},
	})
	return err
}
