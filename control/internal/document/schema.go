package document

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Schema is a JSON Schema that documents are checked against. It is safe for concurrent use.
type Schema struct {
	compiled func() (*jsonschema.Schema, error)
}

// NewSchema is a schema by its text, which is read at the first check; name is for errors.
func NewSchema(name string, text []byte) *Schema {
	return &Schema{sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(name, text) })}
}

func compile(name string, text []byte) (*jsonschema.Schema, error) {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name, parsed); err != nil {
		return nil, fmt.Errorf("add %s: %w", name, err)
	}
	return compiler.Compile(name)
}

// Keys are those that the mapping at a path may have, sorted; nil where the schema has no mapping.
func (s *Schema) Keys(path []string) ([]string, error) {
	compiled, err := s.compiled()
	if err != nil {
		return nil, err
	}
	at := schemaAt(compiled, path)
	if at == nil {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(resolve(at).Properties)), nil
}

// Check says everything about a document that a schema does not allow.
func (d Document) Check(schema *Schema) Problems {
	compiled, err := schema.compiled()
	if err != nil {
		return Problems{{Message: err.Error()}}
	}
	err = compiled.Validate(d.value)
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		return d.Locate(schemaFindings(compiled, invalid))
	}
	if err != nil {
		return Problems{{Message: err.Error()}}
	}
	return nil
}

// CheckJSON says everything about a text of JSON that a schema does not allow; it names no lines.
func CheckJSON(text []byte, schema *Schema) Problems {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return Problems{{Message: err.Error()}}
	}
	return Document{value: value}.Check(schema)
}

// schemaFindings gives the innermost errors: those around them say only that there are some.
func schemaFindings(root *jsonschema.Schema, invalid *jsonschema.ValidationError) []Finding {
	if len(invalid.Causes) == 0 {
		return explain(root, invalid)
	}
	var findings []Finding
	for _, cause := range invalid.Causes {
		findings = append(findings, schemaFindings(root, cause)...)
	}
	return findings
}

// explain says in words what one rule of the schema found.
func explain(root *jsonschema.Schema, invalid *jsonschema.ValidationError) []Finding {
	path := invalid.InstanceLocation
	switch rule := invalid.ErrorKind.(type) {
	case *kind.Required:
		return explainEach(rule.Missing, func(name string) Finding {
			return Finding{path, fmt.Sprintf("%s is missing", name), meaning(root, append(slices.Clone(path), name))}
		})
	case *kind.AdditionalProperties:
		known := describeKeys(root, path)
		return explainEach(rule.Properties, func(name string) Finding {
			return Finding{append(slices.Clone(path), name), "this key is not known", known}
		})
	}
	return []Finding{{path, explainValue(invalid.ErrorKind), meaning(root, path)}}
}

func explainEach(names []string, explainOne func(string) Finding) []Finding {
	findings := make([]Finding, len(names))
	for i, name := range names {
		findings[i] = explainOne(name)
	}
	return findings
}

func explainValue(rule jsonschema.ErrorKind) string {
	switch rule := rule.(type) {
	case *kind.Type:
		return fmt.Sprintf("this is a %s, not a %s", rule.Got, strings.Join(rule.Want, " or "))
	case *kind.Enum:
		return fmt.Sprintf("%q is none of the values that are allowed", fmt.Sprint(rule.Got))
	case *kind.Pattern:
		return fmt.Sprintf("%q does not have the right form", rule.Got)
	case *kind.Minimum:
		return fmt.Sprintf("%s is too low, the least is %s", decimal(rule.Got), decimal(rule.Want))
	case *kind.ExclusiveMinimum:
		return fmt.Sprintf("%s is too low, it must be above %s", decimal(rule.Got), decimal(rule.Want))
	case *kind.Maximum:
		return fmt.Sprintf("%s is too high, the most is %s", decimal(rule.Got), decimal(rule.Want))
	case *kind.MinLength, *kind.MinItems:
		return "this is empty"
	case *kind.MaxLength, *kind.MaxItems, *kind.MaxProperties:
		return "this is too long"
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d are the same", rule.Duplicates[0]+1, rule.Duplicates[1]+1)
	default:
		return fmt.Sprintf("this is not allowed (rule %s)", strings.Join(rule.KeywordPath(), "/"))
	}
}

func decimal(number *big.Rat) string {
	float, _ := number.Float64()
	return strconv.FormatFloat(float, 'g', -1, 64)
}

// meaning is what the schema says about the value at a path; empty if it says nothing.
func meaning(root *jsonschema.Schema, path []string) string {
	for schema := schemaAt(root, path); schema != nil; schema = schema.Ref {
		if schema.Description != "" {
			return schema.Description
		}
	}
	return ""
}

// describeKeys lists the keys that a mapping may have, or says what form they must have.
func describeKeys(root *jsonschema.Schema, path []string) string {
	schema := schemaAt(root, path)
	if schema == nil || len(resolve(schema).Properties) == 0 {
		return meaning(root, path)
	}
	keys := slices.Sorted(maps.Keys(resolve(schema).Properties))
	return "Known keys: " + strings.Join(keys, ", ")
}

// schemaAt follows a path through properties and items; nil where the schema ends.
func schemaAt(schema *jsonschema.Schema, path []string) *jsonschema.Schema {
	for _, step := range path {
		if schema = schemaBelow(resolve(schema), step); schema == nil {
			return nil
		}
	}
	return schema
}

// resolve follows references: in this schema, what refers to another one adds a description only.
func resolve(schema *jsonschema.Schema) *jsonschema.Schema {
	for schema.Ref != nil {
		schema = schema.Ref
	}
	return schema
}

func schemaBelow(schema *jsonschema.Schema, step string) *jsonschema.Schema {
	if below, known := schema.Properties[step]; known {
		return below
	}
	if _, err := strconv.Atoi(step); err == nil && schema.Items2020 != nil {
		return schema.Items2020
	}
	for pattern, below := range schema.PatternProperties {
		if pattern.MatchString(step) {
			return below
		}
	}
	return nil
}
