package controller

import (
	"bytes"
	_ "embed" // for the schema
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

// Schema is the JSON Schema of the configuration file, for editors. Check rests on the same one.
//
//go:embed config.schema.json
var Schema []byte

const schemaName = "config.schema.json"

var compiledSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", schemaName, err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(schemaName, parsed); err != nil {
		return nil, fmt.Errorf("add %s: %w", schemaName, err)
	}
	return compiler.Compile(schemaName)
})

// checkSchema says everything about a document that the schema does not allow.
func (d document) checkSchema() Problems {
	schema, err := compiledSchema()
	if err != nil {
		return Problems{{Message: err.Error()}}
	}
	err = schema.Validate(d.value)
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		return d.locate(schemaFindings(schema, invalid))
	}
	if err != nil {
		return Problems{{Message: err.Error()}}
	}
	return nil
}

// schemaFindings gives the innermost errors: those around them say only that there are some.
func schemaFindings(root *jsonschema.Schema, invalid *jsonschema.ValidationError) []finding {
	if len(invalid.Causes) == 0 {
		return explain(root, invalid)
	}
	var findings []finding
	for _, cause := range invalid.Causes {
		findings = append(findings, schemaFindings(root, cause)...)
	}
	return findings
}

// explain says in words what one rule of the schema found.
func explain(root *jsonschema.Schema, invalid *jsonschema.ValidationError) []finding {
	path := invalid.InstanceLocation
	switch rule := invalid.ErrorKind.(type) {
	case *kind.Required:
		return explainEach(rule.Missing, func(name string) finding {
			return finding{path, fmt.Sprintf("%s is missing", name), meaning(root, append(slices.Clone(path), name))}
		})
	case *kind.AdditionalProperties:
		known := describeKeys(root, path)
		return explainEach(rule.Properties, func(name string) finding {
			return finding{append(slices.Clone(path), name), "this key is not known", known}
		})
	}
	return []finding{{path, explainValue(invalid.ErrorKind), meaning(root, path)}}
}

func explainEach(names []string, explainOne func(string) finding) []finding {
	findings := make([]finding, len(names))
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
