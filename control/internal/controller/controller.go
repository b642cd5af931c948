package controller

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"sluice.dev/control/internal/election"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policies"
	"sluice.dev/control/internal/servicelevel"
)

// dependencies are what a Controller needs of the world.
type dependencies struct {
	log     *slog.Logger
	now     func() time.Time
	dial    dialFunc
	elector election.Elector
	// levels is what is known of service levels.
	levels *serviceLevels
	// signals is nil where no Prometheus is configured.
	signals signalSource
	metrics *metrics
	// limit bounds how long agents and Prometheus may take.
	limit func(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc)
}

// Controller is one controller of a cluster. One goroutine runs its periods and changes its
// configuration; the state that it publishes is safe for concurrent use.
type Controller struct {
	dependencies
	startedAt time.Time
	decisions *decisionLog

	// What follows is the loop's alone.
	config      Config
	nodes       []*node
	nodesByName map[string]*node
	policies    []*activePolicy
	// madeNodes counts the nodes that there have been.
	madeNodes int
	periods   uint64
	wasActive bool
	// term is that of the election in which this controller was last the active one.
	term uint64
	// readOffset is where the turn of agents without a connection begins.
	readOffset  int
	readBuckets [ranks][]*node
	outcomes    []outcome
	due         []*outcome

	published atomic.Pointer[publication]

	mutex sync.Mutex
	// paused has who paused a policy, by the policy's name.
	paused map[string]string
}

// publication is what others see of the loop's state. It is never changed, only replaced.
type publication struct {
	config Config
	nodes  []*node
	byName map[string]*node
	// lastDecisions are those of the last period in which this controller was the active one, by policy.
	lastDecisions map[string][]*sluicev1.Decision
	// statuses are how service levels fared in that period, by name.
	statuses map[string]servicelevel.Status
}

func newController(config Config, needs dependencies) (*Controller, error) {
	c := &Controller{
		dependencies: needs, startedAt: needs.now(), decisions: newDecisionLog(keptDecisions),
		paused: make(map[string]string),
	}
	if err := c.configure(config); err != nil {
		return nil, err
	}
	return c, nil
}

// configure takes over a configuration that has been checked. On an error nothing has changed.
func (c *Controller) configure(config Config) error {
	active, err := c.makePolicies(config)
	if err != nil {
		return err
	}
	nodes, err := c.makeNodes(config)
	if err != nil {
		return err
	}
	gone := c.nodesByName
	c.config, c.policies, c.nodes, c.nodesByName = config, active, nodes, make(map[string]*node, len(nodes))
	for _, node := range nodes {
		c.nodesByName[node.agent.Node] = node
	}
	for name, old := range gone {
		if c.nodesByName[name] != old {
			c.closeNode(old)
		}
	}
	c.publish(c.shownDecisions())
	c.forgetPauses()
	return nil
}

// shownDecisions are those that are shown of policies that are still there: a reload decides nothing.
func (c *Controller) shownDecisions() (shown []*sluicev1.Decision) {
	published := c.published.Load()
	if published == nil {
		return nil
	}
	for _, p := range c.policies {
		shown = append(shown, published.lastDecisions[p.config.Name]...)
	}
	return shown
}

// makePolicies keeps a policy that is configured as before, with its memory.
func (c *Controller) makePolicies(config Config) ([]*activePolicy, error) {
	before := make(map[string]*activePolicy, len(c.policies))
	for _, p := range c.policies {
		before[p.config.Name] = p
	}
	active := make([]*activePolicy, len(config.Policies))
	for i, wanted := range config.Policies {
		decider, err := policies.New(wanted.Type, wanted.Parameters)
		if err != nil {
			return nil, fmt.Errorf("policy %s: %w", wanted.Name, err)
		}
		active[i] = newActivePolicy(wanted, decider)
		if old := before[wanted.Name]; old != nil && samePolicy(old.config, wanted) {
			active[i].targets, active[i].memory, active[i].statuses = old.targets, old.memory, old.statuses
		}
	}
	return active, nil
}

// makeNodes keeps the connection to an agent whose address is as before.
func (c *Controller) makeNodes(config Config) ([]*node, error) {
	nodes := make([]*node, len(config.Agents))
	for i, agent := range config.Agents {
		if old := c.nodesByName[agent.Node]; old != nil && old.agent == agent {
			nodes[i] = old
			continue
		}
		made, err := newNode(agent, c.madeNodes, c.dial)
		if err != nil {
			c.closeNew(nodes[:i])
			return nil, err
		}
		c.madeNodes++
		nodes[i] = made
	}
	return nodes, nil
}

func (c *Controller) closeNew(nodes []*node) {
	for _, node := range nodes {
		if c.nodesByName[node.agent.Node] != node {
			c.closeNode(node)
		}
	}
}

func (c *Controller) closeNode(node *node) {
	if err := node.close(); err != nil {
		c.log.Debug("the connection to an agent did not close", "node", node.agent.Node, "error", err)
	}
}

// close ends the connections to all agents.
func (c *Controller) close() {
	for _, node := range c.nodes {
		c.closeNode(node)
	}
}

// publish shows the state of the loop to others; decisions are those of the last period in which there were some.
func (c *Controller) publish(decisions []*sluicev1.Decision) {
	last := make(map[string][]*sluicev1.Decision, len(c.policies))
	for _, decision := range decisions {
		last[decision.GetPolicy()] = append(last[decision.GetPolicy()], decision)
	}
	c.published.Store(&publication{
		config: c.config, nodes: c.nodes, byName: c.nodesByName, lastDecisions: last, statuses: c.statuses(),
	})
}

func (c *Controller) statuses() map[string]servicelevel.Status {
	statuses := map[string]servicelevel.Status{}
	for _, p := range c.policies {
		for _, status := range p.statuses {
			statuses[status.Name] = status
		}
	}
	return statuses
}

// countLevels is how many service levels fare so, 0 where this controller is not the active one.
func (c *Controller) countLevels(state servicelevel.State) int {
	if !c.elector.State().Active {
		return 0
	}
	count := 0
	for _, status := range c.published.Load().statuses {
		if status.State == state {
			count++
		}
	}
	return count
}

// period reads all agents, and decides and writes if this controller is the active one.
func (c *Controller) period(ctx context.Context) {
	c.periods++
	startedAt := c.now()
	var signals signalsByPolicy
	var asked sync.WaitGroup
	asked.Go(func() { signals = c.readSignals(ctx) })
	c.readAgents(ctx, startedAt)
	asked.Wait()
	readAt := c.now()
	c.metrics.phase("read", readAt.Sub(startedAt))
	if ctx.Err() != nil || !c.mayDecide() {
		return
	}
	outcomes := c.decideAll(signals)
	decidedAt := c.now()
	c.metrics.phase("decide", decidedAt.Sub(readAt))
	c.writeAll(ctx, outcomes)
	c.record(ctx, outcomes)
	c.metrics.phase("write", c.now().Sub(decidedAt))
}

// mayDecide says whether this controller is the active one. One that was not may know nothing of what
// has been decided meanwhile: its policies begin anew.
func (c *Controller) mayDecide() bool {
	state := c.elector.State()
	if state.Active != c.wasActive || state.Active && state.Term != c.term {
		c.log.Info("activity changed", "active", state.Active, "active_controller", state.Leader)
		for _, p := range c.policies {
			p.forget()
		}
	}
	c.wasActive, c.term = state.Active, state.Term
	return state.Active
}
