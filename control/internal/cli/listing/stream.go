package listing

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/quantity"
)

// Lines writes rows as they come. A column is as wide as it has had to be so far.
type Lines struct {
	w       io.Writer
	colours bool
	widths  []int
}

// NewLines writes to w, with colours if they are wanted.
func NewLines(w io.Writer, colours bool) *Lines {
	return &Lines{w: w, colours: colours}
}

// Write writes one row.
func (l *Lines) Write(cells []Cell) error {
	for len(l.widths) < len(cells) {
		l.widths = append(l.widths, 0)
	}
	widen(l.widths, cells)
	var text strings.Builder
	writeRow(&text, cells, l.widths, l.colours)
	_, err := io.WriteString(l.w, text.String())
	return err
}

// DecisionLine shows a decision with the time of day at which it was made.
func DecisionLine(decision *sluicev1.Decision, zone *time.Location) []Cell {
	cells := []Cell{
		{Text: decision.GetMadeAt().AsTime().In(zone).Format(time.TimeOnly), Tone: Dim},
		{Text: decision.GetPolicy()},
		{Text: target(decision.GetNode(), decision.GetRef())},
		{Text: Word(decision.GetKind())},
		verdictCell(decision),
		{Text: SettingText(decision.GetSetting())},
		{Text: decision.GetReason()},
	}
	if decision.GetProblem() != "" {
		cells = append(cells, Cell{Text: "not written: " + decision.GetProblem(), Tone: Bad})
	}
	return cells
}

// The events of tasks.
const (
	EventNew     = "new"
	EventChanged = "changed"
	EventGone    = "gone"
)

// TaskEvent is something that happened to a task.
type TaskEvent struct {
	Event string
	Located[*sluicev1.Task]
}

// TaskLine shows an event with the time of day.
func TaskLine(event TaskEvent, now time.Time) []Cell {
	task := event.Part
	progress := quantity.FormatBytes(float64(task.GetBytesDone()))
	if total := knownBytes(task.GetBytesTotal()); total != "" {
		progress += " of " + total
	}
	return []Cell{
		{Text: now.Format(time.TimeOnly), Tone: Dim},
		{Text: event.Event},
		{Text: event.Target()},
		{Text: strings.TrimSpace(Word(task.GetKind()) + " " + task.GetScope())},
		{Text: task.GetId()},
		StateCell(task.GetState()),
		{Text: task.GetPhase()},
		{Text: progress},
		{Text: quantity.FormatRate(task.GetRateBytesPerSecond())},
	}
}

// TaskHistory tells what has changed since the last look.
type TaskHistory struct {
	tasks map[string]Located[*sluicev1.Task]
}

// Events gives what has happened to the tasks that the filter selects. Nothing has happened to those of
// a node that has not answered, as far as is known.
func (h *TaskHistory) Events(cluster *sluicev1.GetClusterResponse, filter Filter) []TaskEvent {
	current := map[string]Located[*sluicev1.Task]{}
	for _, task := range Tasks(cluster, filter) {
		current[task.Target()+" "+task.Part.GetId()] = task
	}
	silent := silentNodes(cluster)
	for key, task := range h.tasks {
		if _, there := current[key]; !there && silent[task.Node] {
			current[key] = task
		}
	}
	events := changes(h.tasks, current)
	h.tasks = current
	return events
}

// silentNodes are those without an answer in this state.
func silentNodes(cluster *sluicev1.GetClusterResponse) map[string]bool {
	silent := map[string]bool{}
	for _, node := range cluster.GetNodes() {
		silent[node.GetNode()] = node.GetSnapshot() == nil || node.GetProblem() != ""
	}
	return silent
}

func changes(before, after map[string]Located[*sluicev1.Task]) []TaskEvent {
	var events []TaskEvent
	for key, task := range after {
		earlier, wasThere := before[key]
		switch {
		case !wasThere:
			events = append(events, TaskEvent{EventNew, task})
		case differs(earlier.Part, task.Part):
			events = append(events, TaskEvent{EventChanged, task})
		}
	}
	for key, task := range before {
		if _, there := after[key]; !there {
			events = append(events, TaskEvent{EventGone, task})
		}
	}
	slices.SortFunc(events, func(a, b TaskEvent) int {
		return cmp.Or(cmp.Compare(a.Target(), b.Target()), cmp.Compare(a.Part.GetId(), b.Part.GetId()))
	})
	return events
}

// differs ignores the times of a task, which grow by themselves.
func differs(before, after *sluicev1.Task) bool {
	before, after = proto.CloneOf(before), proto.CloneOf(after)
	for _, task := range []*sluicev1.Task{before, after} {
		task.Age, task.Throttled = nil, nil
	}
	return !proto.Equal(before, after)
}
