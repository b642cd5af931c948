// Package top is the live view of a cluster on a terminal: nodes, tasks, debt, latency and leases.
package top

import (
	"context"
	"io"
	"time"

	"github.com/gdamore/tcell/v2"

	"sluice.dev/control/internal/cli/listing"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// Source is where the view gets what it shows from.
type Source struct {
	// Fetch asks for the state of the cluster.
	Fetch func(context.Context) (*sluicev1.GetClusterResponse, error)
	// Levels asks for the service levels; it is nil, and gives none, where there are none.
	Levels func(context.Context) []*sluicev1.ServiceLevelState
	// Interval is the time from one answer to the next question.
	Interval time.Duration
	// Now is the clock that ages count by.
	Now func() time.Time
}

// countdownInterval is how often the view is drawn when nothing comes in: what is left of leases
// shrinks meanwhile.
const countdownInterval = 500 * time.Millisecond

// WriteOnce asks once and writes one frame as text, with every row.
func WriteOnce(ctx context.Context, source Source, w io.Writer) error {
	known := source.ask(ctx)
	if known.problem != nil {
		return known.problem
	}
	// No panel has a selected row where no keys are.
	view := view{focus: panelCount}
	for _, line := range render(known, view, 0, 0, source.Now()) {
		if _, err := io.WriteString(w, line.text()+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// Run shows the view on a screen until the user quits or the context ends. It initialises the screen
// and gives the terminal back. An answer that does not come is shown, and asked for again.
func Run(ctx context.Context, source Source, screen tcell.Screen, colours bool) error {
	if err := screen.Init(); err != nil {
		return err
	}
	defer screen.Fini()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	events := make(chan tcell.Event)
	go screen.ChannelEvents(events, ctx.Done())
	answers := make(chan state)
	go fetchAll(ctx, source, answers)
	ticker := time.NewTicker(countdownInterval)
	defer ticker.Stop()

	display := display{screen: screen, colours: colours, now: source.Now, view: view{focus: startPanel}}
	for display.draw(); ; display.draw() {
		select {
		case <-ctx.Done():
			return nil
		case answer := <-answers:
			display.take(answer)
		case <-ticker.C:
		case event, open := <-events:
			if !open || display.handle(event) {
				return nil
			}
		}
	}
}

// ask asks for all that is shown. The state of the cluster is as old as its own answer: service levels may take long.
func (s Source) ask(ctx context.Context) state {
	cluster, err := s.Fetch(ctx)
	known := state{cluster: cluster, fetchedAt: s.Now(), problem: err}
	if err == nil && s.Levels != nil {
		known.levels = s.Levels(ctx)
	}
	return known
}

func fetchAll(ctx context.Context, source Source, answers chan<- state) {
	for {
		known := source.ask(ctx)
		select {
		case <-ctx.Done():
			return
		case answers <- known:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(source.Interval):
		}
	}
}

// display is a screen and what is on it.
type display struct {
	screen  tcell.Screen
	colours bool
	now     func() time.Time
	state   state
	view    view
}

// take takes in an answer; one that failed leaves what was known before.
func (d *display) take(answer state) {
	if answer.problem != nil {
		d.state.problem = answer.problem
		return
	}
	d.state = answer
	d.view = d.view.within(d.panels())
}

func (d *display) panels() [panelCount]panel {
	return panelsOf(d.state, d.state.age(d.now()), barWidth)
}

// handle obeys an event and says whether it quits.
func (d *display) handle(event tcell.Event) bool {
	switch event := event.(type) {
	case *tcell.EventResize:
		d.screen.Sync()
	case *tcell.EventKey:
		var quits bool
		d.view, quits = d.view.key(event, d.panels())
		return quits
	}
	return false
}

func (d *display) draw() {
	width, height := d.screen.Size()
	d.screen.Clear()
	for y, line := range render(d.state, d.view, width, height, d.now()) {
		x := 0
		for _, span := range line {
			for _, r := range span.text {
				d.screen.SetContent(x, y, r, nil, d.style(span))
				x++
			}
		}
	}
	d.screen.Show()
}

func (d *display) style(span span) tcell.Style {
	style := tcell.StyleDefault.Bold(span.strong)
	if !d.colours {
		return style
	}
	switch span.tone {
	case listing.Dim:
		return style.Dim(true)
	case listing.Good:
		return style.Foreground(tcell.ColorGreen)
	case listing.Warning:
		return style.Foreground(tcell.ColorYellow)
	case listing.Bad:
		return style.Foreground(tcell.ColorRed)
	default:
		return style
	}
}
