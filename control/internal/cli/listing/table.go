package listing

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Tone says how a cell is to be taken; a terminal shows it as a colour.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Dim
	Good
	Warning
	Bad
)

// Cell is one field of a table.
type Cell struct {
	Text string
	Tone Tone
}

// Table is rows under a header. Every row has as many cells as the header has names.
type Table struct {
	Header []string
	Rows   [][]Cell
}

// columnGap separates columns. No cell holds it, so that scripts can cut at it.
const columnGap = "  "

// empty stands for a cell without a text, so that every row has the same number of fields.
const empty = "-"

// Write writes the table, columns aligned, with colours if they are wanted.
func (t Table) Write(w io.Writer, colours bool) error {
	widths := t.widths()
	var text strings.Builder
	writeRow(&text, headerCells(t.Header), widths, false)
	for _, row := range t.Rows {
		writeRow(&text, row, widths, colours)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func headerCells(names []string) []Cell {
	cells := make([]Cell, len(names))
	for i, name := range names {
		cells[i].Text = name
	}
	return cells
}

func (t Table) widths() []int {
	widths := make([]int, len(t.Header))
	widen(widths, headerCells(t.Header))
	for _, row := range t.Rows {
		widen(widths, row)
	}
	return widths
}

// widen makes columns wide enough for a row.
func widen(widths []int, row []Cell) {
	for i, cell := range row {
		widths[i] = max(widths[i], utf8.RuneCountInString(cell.Shown()))
	}
}

func writeRow(text *strings.Builder, row []Cell, widths []int, colours bool) {
	for i, cell := range row {
		shown := cell.Shown()
		text.WriteString(coloured(shown, cell.Tone, colours))
		if i < len(row)-1 {
			padding := widths[i] - utf8.RuneCountInString(shown)
			text.WriteString(strings.Repeat(" ", padding) + columnGap)
		}
	}
	text.WriteString("\n")
}

// Shown is the cell's text as one field of one line.
func (c Cell) Shown() string {
	if text := strings.Join(strings.Fields(Printable(c.Text)), " "); text != "" {
		return text
	}
	return empty
}

// Printable keeps what a store or peer wrote from ordering a terminal about: control characters become
// question marks.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			return r
		}
		return '?'
	}, text)
}

// escapes are ECMA-48 sequences that select the colours of tones.
var escapes = [...]string{Plain: "", Dim: "\x1b[2m", Good: "\x1b[32m", Warning: "\x1b[33m", Bad: "\x1b[31m"}

func coloured(text string, tone Tone, colours bool) string {
	if !colours || tone == Plain {
		return text
	}
	return escapes[tone] + text + "\x1b[0m"
}
