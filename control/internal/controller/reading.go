package controller

import (
	"context"
	"time"

	"google.golang.org/grpc/connectivity"
)

const (
	// callWorkers is how many calls are in flight, not counting those that hang. More make nothing faster on
	// a few cores, but each call slower.
	callWorkers = 128
	// callPatience is far above what an agent takes that is well, and far below the request timeout.
	callPatience = 50 * time.Millisecond
	// maxConnecting bounds the handshakes that are begun in a period: a core makes some thousand a second, and
	// has others to look after.
	maxConnecting = 500
)

// readAgents asks the agents whose snapshots do not come by themselves: all that have a connection, and some
// of those that have none. With those that answer it begins an exchange.
func (c *Controller) readAgents(ctx context.Context, periodBegan time.Time) {
	limited, cancel := c.limit(ctx, c.config.RequestTimeout())
	defer cancel()
	asked := c.readOrder(periodBegan)
	fanout{callWorkers, callPatience}.each(len(asked), func(i int) { asked[i].read(limited, c.now) })
	c.beginExchanges(ctx, asked, periodBegan)
}

// Ranks of agents, in the order in which they are asked.
const (
	rankAnswering = iota
	rankNotAsked
	rankFailed
	rankNotConnected
	ranks
)

func rank(node *node) int {
	state := node.state.Load()
	switch {
	case node.connection.State() != connectivity.Ready:
		return rankNotConnected
	case state.problem == "":
		return rankAnswering
	case state.wasNotAsked:
		return rankNotAsked
	default:
		return rankFailed
	}
}

// readOrder gives the agents that are to be asked. It puts those that answered last time first, so that
// those that hang cannot take the time of the others. Of those without a connection it takes a bounded number, beginning where it left off.
func (c *Controller) readOrder(now time.Time) []*node {
	for i := range c.readBuckets {
		c.readBuckets[i] = c.readBuckets[i][:0]
	}
	offset := c.readOffset
	for i := range c.nodes {
		node := c.nodes[(c.readOffset+i)%len(c.nodes)]
		if node.exchange(now, c.config.Period()) != nil {
			continue
		}
		bucket := &c.readBuckets[rank(node)]
		if bucket == &c.readBuckets[rankNotConnected] {
			if len(*bucket) == maxConnecting {
				node.skip("it is not connected, and others were before it", now)
				continue
			}
			offset = (c.readOffset + i + 1) % len(c.nodes)
		}
		*bucket = append(*bucket, node)
	}
	c.readOffset = offset
	order := c.readBuckets[rankAnswering]
	for _, bucket := range c.readBuckets[rankNotAsked:] {
		order = append(order, bucket...)
	}
	c.readBuckets[rankAnswering] = order
	return order
}
