package servicelevel

import (
	"container/heap"
	"math"
)

// Resources is what a cluster can give: nodes that are alike, over which each object's data and load are spread evenly.
type Resources struct {
	Nodes int
	// ReservableBytes is how much cache of a node may be reserved in all; of nodes that differ, the least.
	ReservableBytes float64
	// StepBytes is the step in which cache of a node is given.
	StepBytes float64
	// IsShared says that the cache of a node is one for all objects, none of which has a part of its own.
	IsShared bool
	Costs    Costs
}

// readsPerSecond is how many reads of the devices may be promised.
func (r Resources) readsPerSecond() float64 {
	return r.Costs.MostUtilisation * r.readsAtMost()
}

// readsAtMost is how many reads the devices can do.
func (r Resources) readsAtMost() float64 {
	return float64(r.Nodes) * r.Costs.ParallelReads / r.Costs.ReadSeconds
}

// steps is how many steps of cache a node can give in all.
func (r Resources) steps() int {
	return int(math.Floor(r.ReservableBytes / r.StepBytes))
}

// share is what a plan gives to an object.
type share struct {
	object Object
	// mostMisses is the largest share of its reads that may miss, leastSteps the cache on each node that it takes.
	mostMisses float64
	leastSteps int
	// steps is what it gets.
	steps int
}

// shortage is what there is too little of.
type shortage int

const (
	noShortage shortage = iota
	tooFast
	tooLittleCache
	tooFewReads
)

// plan is how the resources are spread over all objects.
type plan struct {
	resources Resources
	shares    []share
	shortage  shortage
	// steps and readsPerSecond are what all objects take together.
	steps          int
	readsPerSecond float64
}

// hitShare is that of an object with so many steps of cache on each node.
func (r Resources) hitShare(object Object, steps int) float64 {
	return object.Profile.HitShare(float64(steps) * r.StepBytes * float64(r.Nodes))
}

// diskReads is how many reads of the devices the promised load of an object leads to.
func (r Resources) diskReads(object Object, steps int) float64 {
	return object.ReadsPerSecond() * (1 - r.hitShare(object, steps))
}

// makePlan gives each object the least cache with which its target is held while the devices are as busy as is planned,
// and then the rest, a step at a time, where it saves the devices most, until they can do what is left. Hit shares
// are concave in the cache, so that no other plan takes fewer reads of the devices (Fox, Discrete Optimization via
// Marginal Analysis, 1966): what one plan cannot do, none can.
func makePlan(objects []Object, resources Resources) plan {
	made := plan{resources: resources}
	for _, object := range objects {
		given := share{object: object, mostMisses: resources.Costs.MostMisses(object.Target, resources.Costs.MostUtilisation)}
		if given.mostMisses < 0 {
			made.shortage = tooFast
		} else {
			given.leastSteps = resources.leastSteps(object, given.mostMisses)
		}
		given.steps = given.leastSteps
		made.shares = append(made.shares, given)
		made.steps += given.steps
		made.readsPerSecond += resources.diskReads(object, given.steps)
	}
	switch {
	case made.shortage != noShortage:
	case made.steps > resources.steps():
		made.shortage = tooLittleCache
	default:
		made.fill()
	}
	return made
}

// fill gives away what cache is left as long as the devices have too much to do.
func (p *plan) fill() {
	candidates := &gains{}
	for i := range p.shares {
		candidates.offer(p, i)
	}
	for p.readsPerSecond > p.resources.readsPerSecond() {
		if p.steps >= p.resources.steps() || candidates.Len() == 0 {
			p.shortage = tooFewReads
			return
		}
		best := heap.Pop(candidates).(gain)
		p.shares[best.index].steps++
		p.steps++
		p.readsPerSecond -= best.readsPerSecond
		candidates.offer(p, best.index)
	}
}

// leastSteps is the least cache with which no more than a share of the reads misses.
func (r Resources) leastSteps(object Object, mostMisses float64) int {
	enough := func(steps int) bool { return 1-r.hitShare(object, steps) <= mostMisses }
	low, high := 0, int(math.Ceil(object.Profile.DataBytes/(r.StepBytes*float64(r.Nodes))))
	for low < high {
		middle := low + (high-low)/2
		if enough(middle) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// gain is what the next step of cache of an object saves.
type gain struct {
	index          int
	readsPerSecond float64
}

// gains is a heap, the largest first, of objects that gain alike the first one first.
type gains []gain

func (g *gains) offer(p *plan, index int) {
	of := p.shares[index]
	saved := p.resources.diskReads(of.object, of.steps) - p.resources.diskReads(of.object, of.steps+1)
	if saved > 0 {
		heap.Push(g, gain{index, saved})
	}
}

func (g gains) Len() int      { return len(g) }
func (g gains) Swap(i, j int) { g[i], g[j] = g[j], g[i] }
func (g gains) Less(i, j int) bool {
	if g[i].readsPerSecond != g[j].readsPerSecond {
		return g[i].readsPerSecond > g[j].readsPerSecond
	}
	return g[i].index < g[j].index
}

// Push implements heap.Interface.
func (g *gains) Push(offered any) { *g = append(*g, offered.(gain)) }

// Pop implements heap.Interface.
func (g *gains) Pop() any {
	last := (*g)[len(*g)-1]
	*g = (*g)[:len(*g)-1]
	return last
}
