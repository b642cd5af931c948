package servicelevel

import (
	"fmt"
	"time"

	"sluice.dev/control/internal/quantity"
	"sluice.dev/control/internal/servicelevel"
)

// clusterBytes is what so many steps are on all nodes of an object together.
func (r *round) clusterBytes(object *objectState, steps int) float64 {
	return float64(steps) * r.stepBytes * float64(object.nodes)
}

// wantsCache says whether an object whose target is missed is to get more cache now. If more would gain too little, it
// asks for a node; one that has just got or given a step waits.
func (r *round) wantsCache(object *objectState) bool {
	switch {
	case r.state.decisions-object.shrunkAt < rest:
		object.reason += ": it has given cache to another, which is not taken back so soon"
		return false
	case r.isFilling(object):
		object.reason += ": its cache is still being filled"
		return false
	}
	r.checkProfile(object)
	if object.state != servicelevel.Missed {
		return false
	}
	if benefit, isKnown := r.benefit(object); isKnown && benefit < r.leastBenefit {
		r.wantNode(object, fmt.Sprintf("one more step of cache would save %.3g%% of its misses", 100*benefit))
		return false
	}
	return true
}

const (
	// filledShare is the part of a reservation that counts as all of it.
	filledShare = 0.9
	// longestFilling is how many decisions a cache may take to fill: one that is not full then will not be.
	longestFilling = 5
)

// isFilling says whether the last step cannot have shown its effect yet.
func (r *round) isFilling(object *objectState) bool {
	since := r.state.decisions - object.grownAt
	if object.steps == 0 || since > longestFilling {
		return false
	}
	for _, target := range r.targets[object.demand.Name] {
		figures := target.Snapshot.Figures
		kept, given := sumOf(figures, object.demand.Scope, bytesSuffix), float64(object.steps)*r.stepBytes
		if object.isShared {
			kept, given = figures[usedFigure], figures[capacityFigure]
		}
		if kept < filledShare*given {
			return true
		}
	}
	return false
}

// cacheBytes is what can answer an object's reads now, on all of its nodes: its own cache, or the one that all share.
func (r *round) cacheBytes(object *objectState) float64 {
	if !object.isShared {
		return r.clusterBytes(object, object.steps)
	}
	bytes := 0.0
	for _, target := range r.targets[object.demand.Name] {
		bytes += target.Snapshot.Figures[capacityFigure]
	}
	return bytes
}

// benefit is the share of an object's misses that the next step is expected to save: as much for each byte as the last
// one has gained, by measurement; without one, by the model of whichever locality explains the hits that there are. It is
// not known before there is any cache; nor, without a step, where others share it, since none of it is the object's.
func (r *round) benefit(object *objectState) (float64, bool) {
	misses := 1 - object.judged.hitShare
	if misses <= 0 || object.nodes == 0 {
		return 0, true
	}
	if object.hasGrown {
		gained := object.judged.hitShare - object.hitsBefore
		bytes := r.cacheBytes(object) - object.bytesBefore
		if bytes <= 0 {
			return 0, false
		}
		return min(1, max(0, gained/bytes*r.clusterBytes(object, 1)/misses)), true
	}
	if object.steps == 0 || object.isShared {
		return 0, false
	}
	profile := object.demand.Profile
	profile.Locality = profile.LikelyLocality(r.clusterBytes(object, object.steps), object.judged.hitShare)
	is, would := profile.HitShare(r.clusterBytes(object, object.steps)), profile.HitShare(r.clusterBytes(object, object.steps+1))
	if is >= 1 {
		return 0, true
	}
	return (would - is) / (1 - is), true
}

// checkProfile compares the hits with those of the profile. Where the object behaves otherwise, it was admitted for
// something else: it is admitted anew as what it is, and refused if that cannot be promised. Hits in a cache that others
// use as well say nothing of the kind.
func (r *round) checkProfile(object *objectState) {
	if object.isShared && object.lookupShare() < aloneShare {
		return
	}
	profile := object.demand.Profile
	bytes := r.cacheBytes(object)
	if object.steps == 0 || profile.LikelyLocality(bytes, object.judged.hitShare) == profile.Locality {
		return
	}
	real := object.demand
	real.Profile.Locality = profile.LikelyLocality(bytes, object.judged.hitShare)
	found := fmt.Sprintf(": its profile says %s, with which %s of cache would hit %.3g%% of its reads, and it is %.3g%%, as if %s",
		profile.Locality, quantity.FormatBytes(bytes), 100*profile.HitShare(bytes), 100*object.judged.hitShare, real.Profile.Locality)
	object.reason += found
	admitted := servicelevel.Admit(real, r.view.ServiceLevels, r.resources(object))
	if admitted.IsAdmitted {
		return
	}
	object.state = servicelevel.Refused
	object.reason += ", which cannot be promised: " + admitted.Reason + "; " + admitted.Nearest
	r.askForNode(object)
}

// resources are those that admission goes by.
func (r *round) resources(object *objectState) servicelevel.Resources {
	return r.Resources(r.targets[object.demand.Name])
}

// donor is an object that can spare a step for another: one that has reached its target, has not grown lately, and is
// expected to stay well below it. Of several, the one with the most for its weight. What all share is not made larger by
// one who gives his step to another.
func (r *round) donor(receiver *objectState) *objectState {
	if receiver.isShared {
		return nil
	}
	var best *objectState
	for _, object := range r.objects() {
		if object == receiver || !r.canSpare(object) {
			continue
		}
		if best == nil || object.perWeight() > best.perWeight() {
			best = object
		}
	}
	return best
}

func (r *round) canSpare(object *objectState) bool {
	if object.state != servicelevel.Reached || object.steps == 0 || r.state.decisions-object.grownAt < rest {
		return false
	}
	profile := object.demand.Profile
	profile.Locality = profile.LikelyLocality(r.clusterBytes(object, object.steps), object.judged.hitShare)
	modelled := profile.HitShare(r.clusterBytes(object, object.steps))
	left := profile.HitShare(r.clusterBytes(object, object.steps-1))
	if modelled <= 0 {
		return false
	}
	misses := 1 - object.judged.hitShare*left/modelled
	expected := r.expected(object, misses)
	return expected <= r.giveBelow*object.demand.Target.Seconds
}

// expected is what an object's target comes to with another share of misses, which also keep the devices busier: that is
// taken to make a miss longer in proportion.
func (r *round) expected(object *objectState, misses float64) float64 {
	was := max(1-object.judged.hitShare, leastMisses)
	factor := misses / was
	byModel := r.response(object, object.judged.missSeconds*factor, misses)
	return max(byModel, object.judged.seconds*factor)
}

// longestSeconds bounds what is shown, as a time.Duration cannot hold everything that numbers of people lead to.
const longestSeconds = 1e9

func formatSeconds(seconds float64) string {
	return quantity.FormatDuration(time.Duration(min(seconds, longestSeconds) * float64(time.Second)))
}
