package servicelevel

import (
	"fmt"
	"math"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/quantity"
	"sluice.dev/control/internal/store"
)

// budget is how many steps of cache every node can give to all objects, false if some node does not tell.
func (r *round) budget() (int, bool) {
	budget := math.MaxInt
	ours := leased(r.view)
	for _, target := range r.view.Targets {
		if !r.isNode(target) {
			continue
		}
		if !target.Fresh {
			return 0, false
		}
		bytes, isTold := reservable(target, ours)
		if !isTold {
			return 0, false
		}
		budget = min(budget, int(bytes/r.stepBytes))
	}
	return budget, budget < math.MaxInt
}

// reservable is what an instance can give to all objects together: all that may be reserved there, less what is reserved
// by others than the policy; false if the instance does not tell.
func reservable(target policy.Target, ours map[policy.Ref]float64) (float64, bool) {
	bytes, isTold := target.Snapshot.Figures[reservableFigure]
	others := max(0, target.Snapshot.Figures[reservedFigure]-ours[target.Ref])
	return max(0, bytes-others), isTold
}

// leased is what the policy's own leases keep on each instance.
func leased(view policy.View) map[policy.Ref]float64 {
	ours := map[policy.Ref]float64{}
	for _, target := range view.Targets {
		ours[target.Ref] += leasedBytes(target)
	}
	return ours
}

func leasedBytes(target policy.Target) float64 {
	if target.Lease == nil {
		return 0
	}
	return target.Lease.Setting.Number
}

// rooms says where objects can have what they are to have. What one gives to another is given in orders that arrive in
// any order: whoever grows waits until an instance has taken it from whoever shrinks.
type rooms struct {
	ours map[policy.Ref]float64
	// claimed is what the objects come to while orders are under way: of each, what it has or is to have, if that is more.
	claimed map[policy.Ref]float64
}

func (p *Policy) roomsOf(view policy.View, byScope map[string]*objectState) rooms {
	r := rooms{ours: leased(view), claimed: map[policy.Ref]float64{}}
	for _, target := range view.Targets {
		wanted := 0.0
		if object := byScope[target.Scope]; object != nil {
			wanted = float64(object.steps) * p.stepBytes
		}
		r.claimed[target.Ref] += max(wanted, leasedBytes(target))
	}
	return r
}

// limit holds a decision that grows a reservation at what there is now, if there is no room for more yet.
func (r rooms) limit(target policy.Target, decision policy.Decision) policy.Decision {
	has := leasedBytes(target)
	if decision.Setting == nil || decision.Setting.Number <= has {
		return decision
	}
	bytes, isTold := reservable(target, r.ours)
	if !isTold || r.claimed[target.Ref] <= bytes {
		return decision
	}
	waits := fmt.Sprintf("%s: here it waits for others to give theirs up, of %s in all",
		decision.Reason, quantity.FormatBytes(bytes))
	if has > 0 {
		return policy.SettingFor(target, store.Setting{Name: decision.Setting.Name, Number: has}, waits, decision.Inputs)
	}
	decision.Verdict, decision.Setting, decision.Reason = policy.Keep, nil, waits
	return decision
}
