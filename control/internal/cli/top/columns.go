package top

import (
	"slices"
	"time"
	"unicode/utf8"
)

// gap is how far columns are apart.
const gap = 2

// panelsFor makes the panels of a state that is so old for a terminal of a width, 0 for any: one that is
// too wide goes without bars first.
func panelsFor(known state, age time.Duration, width int) [panelCount]panel {
	panels := panelsOf(known, age, barWidth)
	short := panelsOf(known, age, 0)
	for i, panel := range panels {
		if width > 0 && lineWidth(panel.widths(panel.rows)) > width {
			panels[i] = short[i]
		}
	}
	return panels
}

func (p panel) widths(rows []row) []int {
	widths := make([]int, len(p.header))
	for i, name := range p.header {
		widths[i] = utf8.RuneCountInString(name)
	}
	for _, row := range rows {
		for i, cell := range row.cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell.Shown()))
		}
	}
	return widths
}

// lineWidth is that of a line with columns of the given widths, and the mark before them.
func lineWidth(widths []int) int {
	sum := 0
	for _, width := range widths {
		if width > 0 {
			sum += width + gap
		}
	}
	return sum
}

// fittedWidths are the widths of the columns on a terminal of a width, 0 for any. A column that there is
// no room for has a width of 0.
func (p panel) fittedWidths(rows []row, width int) []int {
	widths := p.widths(rows)
	for _, column := range p.spareColumns(rows) {
		if width == 0 || lineWidth(widths) <= width {
			break
		}
		widths[column] = 0
	}
	return widths
}

// spareColumns are those that a narrow terminal goes without, the ones with nothing in them first.
func (p panel) spareColumns(rows []row) []int {
	var empty, filled []int
	for _, name := range p.spare {
		column := slices.Index(p.header, name)
		if slices.ContainsFunc(rows, func(r row) bool { return r.cells[column].Text != "" }) {
			filled = append(filled, column)
		} else {
			empty = append(empty, column)
		}
	}
	return append(empty, filled...)
}
