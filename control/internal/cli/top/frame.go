package top

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sluice.dev/control/internal/cli/listing"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/quantity"
)

// span is a piece of a line in one style.
type span struct {
	text   string
	tone   listing.Tone
	strong bool
}

type line []span

func (l line) text() string {
	var text strings.Builder
	for _, span := range l {
		text.WriteString(span.text)
	}
	return strings.TrimRight(text.String(), " ")
}

// frame is what is to be seen at one moment.
type frame []line

// state is what is known of the cluster.
type state struct {
	// cluster is the last answer, nil if there was none; fetchedAt is when it came.
	cluster *sluicev1.GetClusterResponse
	// levels are the service levels.
	levels    []*sluicev1.ServiceLevelState
	fetchedAt time.Time
	// problem says why there is no newer one.
	problem error
}

func (s state) age(now time.Time) time.Duration {
	if s.cluster == nil {
		return 0
	}
	return now.Sub(s.fetchedAt)
}

// render draws a state as the user wants to see it. A height of 0 stands for as many lines as there are.
func render(state state, view view, width, height int, now time.Time) frame {
	lines := frame{titleLine(state, now)}
	if view.help {
		lines = append(lines, helpLines()...)
	} else {
		panels := panelsFor(state, state.age(now), width)
		lines = append(lines, panelLines(panels, view, width, height-2)...)
	}
	if height == 0 {
		return lines
	}
	for len(lines) < height-1 {
		lines = append(lines, line{})
	}
	return cut(append(lines[:max(0, height-1)], footLine(view)), width)
}

// titleLine begins with what must not be missed where there is no room for all of it.
func titleLine(state state, now time.Time) line {
	title := line{{text: "sluice top", strong: true}}
	if state.problem != nil {
		text := listing.Cell{Text: state.problem.Error()}.Shown()
		if state.cluster != nil {
			text = fmt.Sprintf("no answer for %s: %s", quantity.FormatDuration(state.age(now)), text)
		}
		title = append(title, span{text: "  " + text, tone: listing.Bad})
	}
	if state.cluster != nil {
		title = append(title, span{text: clusterText(state.cluster)})
	}
	return title
}

func clusterText(cluster *sluicev1.GetClusterResponse) string {
	reachable := 0
	for _, node := range cluster.GetNodes() {
		if node.GetSnapshot() != nil && node.GetProblem() == "" {
			reachable++
		}
	}
	text := "  cluster " + listing.Cell{Text: cluster.GetCluster()}.Shown()
	if cluster.GetIsDryRun() {
		text += "  dry run"
	}
	text += fmt.Sprintf("  %d of %d nodes answer", reachable, len(cluster.GetNodes()))
	if cluster.GetActiveController() != "" {
		text += "  active controller " + listing.Cell{Text: cluster.GetActiveController()}.Shown()
	}
	return text
}

// panelLines draws the panels below each other, in so many lines at most; under 1 stands for no bound, as
// does a width of 0.
func panelLines(panels [panelCount]panel, view view, width, height int) []line {
	var rows [panelCount][]row
	for i, panel := range panels {
		rows[i] = panel.arranged(view.orders[i], view.filter)
	}
	headers := headersOf(panels)
	shown := allot(rows, headers, view.focus, height)
	gaps := height < 1 || height >= linesOf(shown, headers)+headers-1
	var lines []line
	for i, panel := range panels {
		if panel.isHidden() {
			continue
		}
		if i > 0 && gaps {
			lines = append(lines, line{})
		}
		lines = append(lines, panel.lines(rows[i], view, i, shown[i], width)...)
	}
	return lines
}

// headersOf is how many panels are there, each with a header.
func headersOf(panels [panelCount]panel) int {
	count := 0
	for _, panel := range panels {
		if !panel.isHidden() {
			count++
		}
	}
	return count
}

// linesOf is how many lines panels with so many headers and rows take.
func linesOf(shown [panelCount]int, headers int) int {
	lines := headers
	for _, rows := range shown {
		lines += rows
	}
	return lines
}

// allot says how many rows of each panel there is room for: a row each in turn, as long as there are
// rows and lines, the panel that has the keys first.
func allot(rows [panelCount][]row, headers, focus, height int) [panelCount]int {
	var shown [panelCount]int
	room := height - headers
	for given := true; given; {
		given = false
		for i := range panelCount {
			panel := (focus + i) % panelCount
			if shown[panel] < len(rows[panel]) && (room > 0 || height < 1) {
				shown[panel]++
				room--
				given = true
			}
		}
	}
	return shown
}

// lines draws one panel: its header, and a window of its rows that holds the selected one.
func (p panel) lines(rows []row, view view, index, shown, width int) []line {
	widths := p.fittedWidths(rows, width)
	first := max(0, min(view.selected[index], len(rows)-1)-shown+1)
	header := p.headerLine(widths)
	if shown < len(rows) {
		header = append(header, span{text: fmt.Sprintf("%d of %d shown", shown, len(rows)), tone: listing.Dim})
	}
	lines := []line{header}
	for i, row := range rows[first : first+shown] {
		selected := index == view.focus && first+i == view.selected[index]
		lines = append(lines, row.line(widths, selected))
	}
	return lines
}

func (p panel) headerLine(widths []int) line {
	header := line{{text: "  ", strong: true}}
	for i, name := range p.header {
		if widths[i] > 0 {
			header = append(header, span{text: padded(name, widths[i]), strong: true})
		}
	}
	return header
}

func (r row) line(widths []int, selected bool) line {
	mark := "  "
	if selected {
		mark = "> "
	}
	drawn := line{{text: mark, strong: selected}}
	for i, cell := range r.cells {
		if widths[i] > 0 {
			drawn = append(drawn, span{text: padded(cell.Shown(), widths[i]), tone: cell.Tone, strong: selected})
		}
	}
	return drawn
}

func padded(text string, width int) string {
	return text + strings.Repeat(" ", width-utf8.RuneCountInString(text)+2)
}

// cut shortens the lines to a width.
func cut(lines frame, width int) frame {
	short := make(frame, len(lines))
	for i, long := range lines {
		room := width
		for _, span := range long {
			runes := []rune(span.text)
			span.text = string(runes[:min(room, len(runes))])
			room -= utf8.RuneCountInString(span.text)
			short[i] = append(short[i], span)
		}
	}
	return short
}

func helpLines() []line {
	texts := []string{
		"",
		"Rates are in bytes per second, debt is work that was put off, TIME-LEFT is that of a lease.",
		"",
		"  tab, shift-tab     next, previous table",
		"  up, down, k, j     previous, next row",
		"  home, end          first, last row",
		"  s                  sort the table by something else",
		"  /                  show rows with a text alone; enter keeps it, escape drops it",
		"  h, ?               this help",
		"  q, ctrl-c          quit",
	}
	var lines []line
	for _, text := range texts {
		lines = append(lines, line{{text: text}})
	}
	return lines
}

func footLine(view view) line {
	switch {
	case view.editing:
		return line{{text: "filter: " + view.filter + "_", strong: true}}
	case view.help:
		return line{{text: "h back  q quit", strong: true}}
	}
	order := panelsOf(state{}, 0, barWidth)[view.focus].orders[view.orders[view.focus]]
	texts := []string{"q quit", "tab table", "arrows row", "s sort (" + order + ")", "/ filter", "h help"}
	if view.filter != "" {
		texts = slices.Insert(texts, 5, fmt.Sprintf("(%q)", view.filter))
	}
	return line{{text: strings.Join(texts, "  "), strong: true}}
}
