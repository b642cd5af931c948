package servicelevel

import (
	"fmt"
	"math"

	"sluice.dev/control/internal/quantity"
	"sluice.dev/control/internal/servicelevel"
)

// move is what it takes to bring a node in: its part of the data of all objects, from the nodes that there are.
type move struct {
	bytes, allBytes, bytesPerSecond, seconds float64
	// share is the part of the time of each device that it takes meanwhile, busy the one that requests take now.
	share, busy float64
}

func (m move) String() string {
	return fmt.Sprintf("a node more would take %s of %s over, at %s for %s, and meanwhile %s of the time of each device, of which requests take %s",
		quantity.FormatBytes(m.bytes), quantity.FormatBytes(m.allBytes), quantity.FormatRate(m.bytesPerSecond),
		formatSeconds(m.seconds), quantity.FormatShare(m.share), quantity.FormatShare(m.busy))
}

// moveFor is the move to a node that joins those of an object. It is no faster than the one device that takes it all.
func (r *round) moveFor(object *objectState) move {
	made := move{bytesPerSecond: min(r.moveBytesPerSecond, r.deviceBytesPerSecond)}
	for _, demand := range r.view.ServiceLevels {
		made.allBytes += demand.Profile.DataBytes
	}
	nodes := float64(object.nodes)
	made.bytes = made.allBytes / (nodes + 1)
	made.seconds = made.bytes / made.bytesPerSecond
	made.share = made.bytesPerSecond / (nodes * r.deviceBytesPerSecond)
	made.busy = min(1, object.servers.misses*r.costs.ReadSeconds/(nodes*r.costs.ParallelReads))
	return made
}

// against is why a move is not to be begun; empty if it may. Whoever asks for the node may be slower meanwhile, as his
// target is missed already; whoever has reached his is not to lose it.
func (r *round) against(asking *objectState, planned move) string {
	if planned.seconds > r.mostMoveSeconds {
		return fmt.Sprintf("longer than the %s in which it has to pay", formatSeconds(r.mostMoveSeconds))
	}
	for _, object := range r.objects() {
		if object == asking || object.state != servicelevel.Reached {
			continue
		}
		target := object.demand.Target
		if expected := r.during(object, planned); expected > target.Seconds {
			return fmt.Sprintf("with which the %s of %s would be %s, target %s", target.Statistic, object.demand.Name,
				expectedText(expected), formatSeconds(target.Seconds))
		}
	}
	return ""
}

// during is what an object's target comes to while a move takes its share of the devices: a miss then waits longer, as
// in a queue M/M/1 that has so much less left.
func (r *round) during(object *objectState, planned move) float64 {
	misses := object.hits.missShare()
	if misses <= leastMisses {
		return object.judged.seconds
	}
	left := 1 - planned.busy
	if left <= planned.share {
		return math.Inf(1)
	}
	factor := left / (left - planned.share)
	now := r.response(object, object.judged.missSeconds, misses)
	return object.judged.seconds + r.response(object, factor*object.judged.missSeconds, misses) - now
}

func expectedText(seconds float64) string {
	if math.IsInf(seconds, 1) {
		return "without bound"
	}
	return formatSeconds(seconds)
}

// askForNode asks for a node if its move can be afforded, and says what that takes in either case.
func (r *round) askForNode(object *objectState) bool {
	planned := r.moveFor(object)
	object.reason += ": " + planned.String()
	against := r.against(object, planned)
	if against == "" {
		r.ask(object, servicelevel.AddNode)
		return true
	}
	object.reason += ", " + against + ": none is asked for"
	object.withdraw()
	return false
}

// withdraw takes back that a node is asked for.
func (o *objectState) withdraw() {
	if o.wanted == servicelevel.AddNode {
		o.wanted = ""
	}
}
