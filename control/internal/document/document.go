// Package document reads files of YAML that people write, and says what is wrong with them by line, key and what to do.
package document

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Document is a file of YAML as it was written, so that what is wrong can be said with its line.
type Document struct {
	root  ast.Node
	value any
}

// Read reads one YAML document of at most so many bytes; page is the page of the documentation with an example.
// Anchors are refused: a few lines of them can stand for any amount of configuration.
func Read(text []byte, maxBytes int, page string) (Document, Problems) {
	if len(text) > maxBytes {
		return Document{}, Problems{{Message: fmt.Sprintf("the file has more than %d bytes", maxBytes),
			Hint: "Is this another file?"}}
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return Document{}, Problems{SyntaxProblem(err)}
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return Document{}, Problems{{Message: fmt.Sprintf("the file has %d YAML documents that are not empty, not one",
			countBodies(file)), Hint: "Start from the example in " + page + "."}}
	}
	d := Document{root: file.Docs[0].Body}
	finder := &anchorFinder{}
	ast.Walk(finder, d.root)
	if len(finder.problems) > 0 {
		return Document{}, finder.problems
	}
	if err := yaml.Unmarshal(text, &d.value); err != nil {
		return Document{}, Problems{SyntaxProblem(err)}
	}
	return d, nil
}

func countBodies(file *ast.File) int {
	count := 0
	for _, doc := range file.Docs {
		if doc.Body != nil {
			count++
		}
	}
	return count
}

// anchorFinder collects what stands for something else in the file.
type anchorFinder struct{ problems Problems }

// Visit is called for each node.
func (f *anchorFinder) Visit(node ast.Node) ast.Visitor {
	switch node.Type() {
	case ast.AnchorType, ast.AliasType, ast.MergeKeyType, ast.TagType:
		f.problems = append(f.problems, Problem{Line: lineOf(node),
			Message: "anchors, aliases, merges and tags are not taken", Hint: "Write the value out."})
		return nil
	}
	return f
}

// SyntaxProblem is what a decoder of YAML found wrong.
func SyntaxProblem(err error) Problem {
	var syntax yaml.Error
	if !errors.As(err, &syntax) {
		return Problem{Message: err.Error()}
	}
	problem := Problem{Message: "this is no valid YAML: " + syntax.GetMessage()}
	if token := syntax.GetToken(); token != nil && token.Position != nil {
		problem.Line = token.Position.Line
	}
	return problem
}

// Finding is a problem whose place is a path of keys and indices.
type Finding struct {
	Path    []string
	Message string
	Hint    string
}

// Locate gives findings their lines and the names of their keys.
func (d Document) Locate(findings []Finding) Problems {
	problems := make(Problems, len(findings))
	for i, found := range findings {
		line, key := d.place(found.Path)
		problems[i] = Problem{Line: line, Key: key, Message: found.Message, Hint: found.Hint}
	}
	return problems.sort()
}

// place finds the line of a path, or of the innermost part of it that is there, and its name.
func (d Document) place(path []string) (int, string) {
	node, line := d.root, lineOf(d.root)
	var key strings.Builder
	for _, step := range path {
		next, at, isItem := enter(node, step)
		if at > 0 {
			line = at
		}
		node = next
		switch {
		case isItem:
			fmt.Fprintf(&key, "[%s]", step)
		case key.Len() > 0:
			key.WriteString("." + step)
		default:
			key.WriteString(step)
		}
	}
	return line, key.String()
}

// enter gives the value at a key or index of a node, the line where it starts, and whether it is an item
// of a list. The node is nil, and the line 0, where there is no such value.
func enter(node ast.Node, step string) (ast.Node, int, bool) {
	switch node := node.(type) {
	case ast.MapNode:
		for entries := node.MapRange(); entries.Next(); {
			if key := entries.Key(); key.GetToken().Value == step {
				return entries.Value(), lineOf(key), false
			}
		}
	case *ast.SequenceNode:
		if index, err := strconv.Atoi(step); err == nil && index >= 0 && index < len(node.Values) {
			return node.Values[index], lineOf(node.Values[index]), true
		}
	}
	return nil, 0, false
}

// lineOf is the line of a node, 0 if that is not known. A mapping's own token is the colon of its first
// entry, which is on the line where it starts.
func lineOf(node ast.Node) int {
	if node == nil || node.GetToken() == nil || node.GetToken().Position == nil {
		return 0
	}
	return node.GetToken().Position.Line
}
