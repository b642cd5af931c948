package document

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	// Line is where, counted from 1; 0 if no line can be named.
	Line int
	// Key is which setting, such as "policies[0].targets.kind"; empty for the file as a whole.
	Key string
	// Message is what is wrong; Hint is what to do about it, if that is not plain.
	Message string
	Hint    string
}

// String is the form "line 12: policies[0].type: what is wrong. What to do."
func (p Problem) String() string {
	var text strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&text, "line %d: ", p.Line)
	}
	if p.Key != "" {
		fmt.Fprintf(&text, "%s: ", p.Key)
	}
	text.WriteString(p.Message)
	if p.Hint != "" {
		fmt.Fprintf(&text, ". %s", p.Hint)
	}
	return text.String()
}

// Problems is everything that is wrong with a configuration.
type Problems []Problem

// Error gives a line for each.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// sort puts problems into the order of the file.
func (p Problems) sort() Problems {
	slices.SortStableFunc(p, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return strings.Compare(a.Key, b.Key)
	})
	return p
}
