package top

import (
	"unicode"

	"github.com/gdamore/tcell/v2"
)

// view is what the user has chosen to see.
type view struct {
	// focus is the panel that has the keys.
	focus int
	// orders and selected are those of each panel: an index of its orders, and of its arranged rows.
	orders   [panelCount]int
	selected [panelCount]int
	filter   string
	editing  bool
	help     bool
}

// maxFilterRunes keeps the filter on one line.
const maxFilterRunes = 60

// key changes the view as a key asks for, and says whether it quits. panels are those on the screen.
func (v view) key(event *tcell.EventKey, panels [panelCount]panel) (view, bool) {
	if event.Key() == tcell.KeyCtrlC {
		return v, true
	}
	switch {
	case v.editing:
		v = v.editKey(event)
	case v.help:
		return v.helpKey(event)
	case event.Key() == tcell.KeyRune:
		return v.runeKey(event.Rune(), panels)
	default:
		v = v.moveKey(event.Key(), panels)
	}
	return v.within(panels), false
}

// within keeps the selections on rows that are there.
func (v view) within(panels [panelCount]panel) view {
	if panels[v.focus].isHidden() {
		v.focus = startPanel
	}
	for i, panel := range panels {
		last := len(panel.arranged(v.orders[i], v.filter)) - 1
		v.selected[i] = max(0, min(v.selected[i], last))
	}
	return v
}

func (v view) editKey(event *tcell.EventKey) view {
	filter := []rune(v.filter)
	switch event.Key() {
	case tcell.KeyEnter:
		v.editing = false
	case tcell.KeyEscape:
		v.editing, v.filter = false, ""
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		v.filter = string(filter[:max(0, len(filter)-1)])
	case tcell.KeyRune:
		if unicode.IsPrint(event.Rune()) && len(filter) < maxFilterRunes {
			v.filter += string(event.Rune())
		}
	}
	return v
}

func (v view) helpKey(event *tcell.EventKey) (view, bool) {
	if event.Key() == tcell.KeyRune && event.Rune() == 'q' {
		return v, true
	}
	v.help = false
	return v, false
}

func (v view) runeKey(key rune, panels [panelCount]panel) (view, bool) {
	switch key {
	case 'q':
		return v, true
	case 'h', '?':
		v.help = true
	case '/':
		v.editing = true
	case 's':
		v.orders[v.focus] = (v.orders[v.focus] + 1) % len(panels[v.focus].orders)
	case 'j':
		v.selected[v.focus]++
	case 'k':
		v.selected[v.focus]--
	}
	return v.within(panels), false
}

func (v view) moveKey(key tcell.Key, panels [panelCount]panel) view {
	switch key {
	case tcell.KeyTab, tcell.KeyRight:
		v.focus = nextPanel(v.focus, 1, panels)
	case tcell.KeyBacktab, tcell.KeyLeft:
		v.focus = nextPanel(v.focus, panelCount-1, panels)
	case tcell.KeyDown:
		v.selected[v.focus]++
	case tcell.KeyUp:
		v.selected[v.focus]--
	case tcell.KeyHome:
		v.selected[v.focus] = 0
	case tcell.KeyEnd:
		v.selected[v.focus] = len(panels[v.focus].rows)
	case tcell.KeyEscape:
		v.filter = ""
	}
	return v
}

// nextPanel goes on from a panel, so many at a time, until there is one that is not hidden.
func nextPanel(from, by int, panels [panelCount]panel) int {
	next := (from + by) % panelCount
	for panels[next].isHidden() {
		next = (next + by) % panelCount
	}
	return next
}
