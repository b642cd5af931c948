package page

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// Times are in milliseconds since the page was made, by the clock of the controller that never jumps.
// Messages of package sluicev1 are in the JSON of Protocol Buffers, as the CLI prints them.

// clusterAnswer is what /api/cluster answers. In an update of a stream, Nodes holds only those that
// have changed since the last one.
type clusterAnswer struct {
	Instance string `json:"instance"`
	// Milliseconds and WallClock are the same moment, that of the period that is shown.
	Milliseconds int64  `json:"milliseconds"`
	WallClock    string `json:"wall_clock"`
	// AgeMilliseconds is how long ago that was.
	AgeMilliseconds int64 `json:"age_milliseconds"`
	// PeriodMilliseconds is when the next one is to be expected after it.
	PeriodMilliseconds int64           `json:"period_milliseconds"`
	Controller         json.RawMessage `json:"controller"`
	Summary            summary         `json:"summary"`
	Matching           int             `json:"matching"`
	Offset             int             `json:"offset"`
	// Names are those of the nodes on this page of the list.
	Names []string          `json:"names"`
	Nodes []json.RawMessage `json:"nodes"`
	// ServiceLevels are all of them, with their last actions.
	ServiceLevels []json.RawMessage `json:"service_levels"`
}

// decisionsAnswer is what /api/decisions answers, the newest last.
type decisionsAnswer struct {
	Decisions []decisionAnswer `json:"decisions"`
	// LeftOut is how many more there were than fit or were still kept.
	LeftOut uint64 `json:"left_out"`
}

type decisionAnswer struct {
	Ordinal      uint64          `json:"ordinal"`
	Milliseconds int64           `json:"milliseconds"`
	Decision     json.RawMessage `json:"decision"`
}

// historyAnswer is what /api/history answers. In an update of a stream it holds what has come since.
type historyAnswer struct {
	Target targetAnswer `json:"target"`
	// BeganMilliseconds is when the recording began.
	BeganMilliseconds int64 `json:"began_milliseconds"`
	// DebtTriggerBytes and DebtLimitBytes are those of the debt now; 0 for none.
	DebtTriggerBytes uint64           `json:"debt_trigger_bytes"`
	DebtLimitBytes   uint64           `json:"debt_limit_bytes"`
	Points           pointsAnswer     `json:"points"`
	Repeats          []repeatsAnswer  `json:"repeats"`
	Decisions        []decisionAnswer `json:"decisions"`
}

type targetAnswer struct {
	Node     string `json:"node"`
	Store    string `json:"store"`
	Instance string `json:"instance"`
	Kind     string `json:"kind"`
	Scope    string `json:"scope"`
}

// pointsAnswer has one place a point in each of its lists.
type pointsAnswer struct {
	Milliseconds              []int64 `json:"milliseconds"`
	RateBytesPerSecond        figures `json:"rate_bytes_per_second"`
	OrderedRateBytesPerSecond figures `json:"ordered_rate_bytes_per_second"`
	DebtBytes                 figures `json:"debt_bytes"`
	ReadP99Seconds            figures `json:"read_p99_seconds"`
	WriteP99Seconds           figures `json:"write_p99_seconds"`
}

// repeatsAnswer is the decisions of one window that brought nothing new; another one of the same window
// replaces it.
type repeatsAnswer struct {
	Window            int64           `json:"window"`
	FirstMilliseconds int64           `json:"first_milliseconds"`
	LastMilliseconds  int64           `json:"last_milliseconds"`
	Count             int             `json:"count"`
	Decision          json.RawMessage `json:"decision"`
}

// figures are numbers of which some are not known: null in JSON.
type figures []float32

// MarshalJSON writes them as a list.
func (f figures) MarshalJSON() ([]byte, error) {
	text := append(make([]byte, 0, 8*len(f)+2), '[')
	for place, figure := range f {
		if place > 0 {
			text = append(text, ',')
		}
		if value := float64(figure); math.IsNaN(value) || math.IsInf(value, 0) {
			text = append(text, "null"...)
		} else {
			text = strconv.AppendFloat(text, value, 'g', -1, 32)
		}
	}
	return append(text, ']'), nil
}

// answerCluster shows the nodes at the given places of a frame.
func (p *Page) answerCluster(f *frame, query clusterQuery) (clusterAnswer, []int, error) {
	controller, err := f.controllerJSON()
	if err != nil {
		return clusterAnswer{}, nil, err
	}
	levels, err := f.levelsJSON()
	if err != nil {
		return clusterAnswer{}, nil, err
	}
	matching := f.selectNodes(query)
	offset, shown := window(matching, query)
	answer := clusterAnswer{
		Instance:           p.instance,
		Milliseconds:       f.since.Milliseconds(),
		WallClock:          f.takenAt.UTC().Format(time.RFC3339Nano),
		AgeMilliseconds:    p.clock().Sub(f.takenAt).Milliseconds(),
		PeriodMilliseconds: f.cluster().Period.Milliseconds(),
		Controller:         controller,
		Summary:            f.summarise(),
		Matching:           len(matching),
		Offset:             offset,
		Names:              make([]string, len(shown)),
		Nodes:              []json.RawMessage{},
		ServiceLevels:      levels,
	}
	for i, place := range shown {
		answer.Names[i] = f.node(place).Name
	}
	return answer, shown, nil
}

func answerDecisions(all []made) ([]decisionAnswer, error) {
	answers := make([]decisionAnswer, len(all))
	for i, one := range all {
		decision, err := marshal(one.decision)
		if err != nil {
			return nil, err
		}
		answers[i] = decisionAnswer{one.ordinal, one.since.Milliseconds(), decision}
	}
	return answers, nil
}

func answerHistory(shown timeline) (*historyAnswer, error) {
	key := shown.target
	answer := &historyAnswer{
		Target:            targetAnswer{key.node, key.store, key.instance, key.kind.String(), key.scope},
		BeganMilliseconds: shown.began.Milliseconds(),
		Points:            newPoints(),
		Repeats:           make([]repeatsAnswer, len(shown.repeats)),
	}
	if shown.debt != nil {
		answer.DebtTriggerBytes, answer.DebtLimitBytes = shown.debt.TriggerBytes, shown.debt.LimitBytes
	}
	for _, point := range shown.points {
		answer.Points.add(point)
	}
	for i, window := range shown.repeats {
		decision, err := marshal(window.decision)
		if err != nil {
			return nil, err
		}
		answer.Repeats[i] = repeatsAnswer{
			window.window, window.first.Milliseconds(), window.last.Milliseconds(), window.count, decision,
		}
	}
	var err error
	answer.Decisions, err = answerDecisions(shown.decisions)
	return answer, err
}

func newPoints() pointsAnswer {
	return pointsAnswer{
		Milliseconds: []int64{}, RateBytesPerSecond: figures{}, OrderedRateBytesPerSecond: figures{},
		DebtBytes: figures{}, ReadP99Seconds: figures{}, WriteP99Seconds: figures{},
	}
}

func (a *pointsAnswer) add(point sample) {
	a.Milliseconds = append(a.Milliseconds, point.since.Milliseconds())
	a.RateBytesPerSecond = append(a.RateBytesPerSecond, point.rate)
	a.OrderedRateBytesPerSecond = append(a.OrderedRateBytesPerSecond, point.ordered)
	a.DebtBytes = append(a.DebtBytes, point.debtBytes)
	a.ReadP99Seconds = append(a.ReadP99Seconds, point.readP99)
	a.WriteP99Seconds = append(a.WriteP99Seconds, point.writeP99)
}
