package servicelevel

import (
	"fmt"
	"math"
	"slices"
)

// Admission is whether what objects ask for can be promised, with the arithmetic.
type Admission struct {
	IsAdmitted bool
	// Lines are the arithmetic, one step each; OwnLines those of them that are about the object, and about all together.
	Lines, OwnLines []string
	// Reason is why it cannot be promised, in one sentence; Nearest what could be. Both are empty if it can.
	Reason, Nearest string
	// CacheBytes is what the object takes of the cache of each node, by the model.
	CacheBytes float64
}

// Admit says whether an object can be promised beside others that are, and shows the arithmetic.
func Admit(asked Object, promised []Object, resources Resources) Admission {
	objects := append(slices.DeleteFunc(slices.Clone(promised), func(other Object) bool { return other.Name == asked.Name }), asked)
	made := makePlan(objects, resources)
	own := made.shares[len(made.shares)-1:]
	answer := Admission{
		IsAdmitted: made.shortage == noShortage, Lines: made.explain(made.shares), OwnLines: made.explain(own),
		CacheBytes: float64(own[0].steps) * resources.StepBytes,
	}
	if answer.IsAdmitted {
		answer.conclude(asked.Name + " is admitted")
		return answer
	}
	answer.Reason = made.whyNot()
	answer.Nearest = nearest(asked, objects[:len(objects)-1], resources)
	answer.conclude(asked.Name+" is refused: "+answer.Reason, answer.Nearest)
	return answer
}

func (a *Admission) conclude(lines ...string) {
	a.Lines, a.OwnLines = append(a.Lines, lines...), append(a.OwnLines, lines...)
}

// whyNot is what there is too little of, in one sentence.
func (p plan) whyNot() string {
	switch p.shortage {
	case tooFast:
		return fmt.Sprintf("a request takes %s even if it is answered from the cache", duration(p.resources.Costs.HitSeconds))
	case tooLittleCache:
		return fmt.Sprintf("the targets take %s of cache on each node, and %s may be reserved",
			p.cache(p.steps), p.cache(p.resources.steps()))
	case tooFewReads:
		return fmt.Sprintf("the devices would have to do %s, and %s are planned for, even with all of the cache that helps",
			rate(p.readsPerSecond), rate(p.resources.readsPerSecond()))
	default:
		return ""
	}
}

const (
	searchSteps = 60
	// longestSeconds and mostNodes bound the search for what is possible.
	longestSeconds = 600
	mostNodes      = 256
)

// nearest says what is possible in place of what was asked for: a longer time, a lower load, or more nodes.
func nearest(asked Object, promised []Object, resources Resources) string {
	isPossible := func(object Object, given Resources) bool {
		return makePlan(append(slices.Clone(promised), object), given).shortage == noShortage
	}
	text := "possible are: "
	if seconds, found := shortestTime(asked, resources, isPossible); found {
		text += fmt.Sprintf("%s %s at this load; ", asked.Target.Statistic, duration(seconds))
	}
	if operations, found := highestLoad(asked, resources, isPossible); found {
		text += fmt.Sprintf("%.3g operations/s at this target; ", operations)
	}
	for nodes := resources.Nodes + 1; nodes <= mostNodes; nodes++ {
		more := resources
		more.Nodes = nodes
		if isPossible(asked, more) {
			return text + fmt.Sprintf("this with %d nodes like these", nodes)
		}
	}
	return text + fmt.Sprintf("this with no number of nodes up to %d", mostNodes)
}

// shortestTime is the least target that can be held, rounded up to three digits.
func shortestTime(asked Object, resources Resources, isPossible func(Object, Resources) bool) (float64, bool) {
	at := func(seconds float64) Object {
		changed := asked
		changed.Target.Seconds = seconds
		return changed
	}
	if !isPossible(at(longestSeconds), resources) {
		return 0, false
	}
	low, high := asked.Target.Seconds, float64(longestSeconds)
	for range searchSteps {
		if middle := math.Sqrt(low * high); isPossible(at(middle), resources) {
			high = middle
		} else {
			low = middle
		}
	}
	return rounded(high, math.Ceil), true
}

// highestLoad is the highest load at which the target can be held, rounded down to three digits.
func highestLoad(asked Object, resources Resources, isPossible func(Object, Resources) bool) (float64, bool) {
	at := func(operations float64) Object {
		changed := asked
		changed.MostOperationsPerSecond = operations
		return changed
	}
	low, high := 0.0, asked.MostOperationsPerSecond
	for range searchSteps {
		if middle := (low + high) / 2; isPossible(at(middle), resources) {
			low = middle
		} else {
			high = middle
		}
	}
	operations := rounded(low, math.Floor)
	return operations, operations > 0 && low >= asked.MostOperationsPerSecond/1000
}

// rounded has three digits, in the direction that is given.
func rounded(number float64, direction func(float64) float64) float64 {
	if number <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(number))-2)
	return direction(number/unit) * unit
}
