package controller

import (
	"context"
	"time"

	"sluice.dev/control/internal/policy"
)

// signalSource answers PromQL queries; promql.Client is one.
type signalSource interface {
	Query(ctx context.Context, query string, maxAge time.Duration) policy.Signal
}

// signalsByPolicy has the signals of each policy, by the policy's name and the signal's.
type signalsByPolicy map[string]map[string]policy.Signal

// signalWorkers is how many queries are under way at once.
const signalWorkers = 16

type signalQuery struct {
	policy, name string
	signal       Signal
	result       policy.Signal
}

// readSignals asks each query of each policy once.
func (c *Controller) readSignals(ctx context.Context) signalsByPolicy {
	if c.signals == nil {
		return nil
	}
	ctx, cancel := c.limit(ctx, c.config.RequestTimeout())
	defer cancel()
	var queries []signalQuery
	for _, p := range c.policies {
		for name, signal := range p.config.Signals {
			queries = append(queries, signalQuery{policy: p.config.Name, name: name, signal: signal})
		}
	}
	fanout{signalWorkers, callPatience}.each(len(queries), func(i int) {
		queries[i].result = c.signals.Query(ctx, queries[i].signal.Query, queries[i].signal.Stale())
	})
	signals := make(signalsByPolicy)
	for _, query := range queries {
		if signals[query.policy] == nil {
			signals[query.policy] = make(map[string]policy.Signal)
		}
		signals[query.policy][query.name] = query.result
		c.metrics.queried(query.policy, query.name, query.result.Fresh)
	}
	return signals
}
