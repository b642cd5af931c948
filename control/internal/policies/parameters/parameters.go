// Package parameters declares and decodes what a configuration file says about a policy.
package parameters

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice.dev/control/internal/store"
)

// Type is the type of a parameter's value.
type Type string

// The types of values.
const (
	Number   Type = "number"
	Whole    Type = "whole number"
	Boolean  Type = "boolean"
	Text     Type = "text"
	TextList Type = "list of texts"
	// Objects is a list of mappings, each with parameters of its own.
	Objects Type = "list of mappings"
	// Constants is a mapping of names to numbers, texts and booleans.
	Constants Type = "mapping"
)

// Parameter declares one parameter.
type Parameter struct {
	// Name ends in the unit of a number.
	Name     string
	Type     Type
	Required bool
	// Default is the value that counts when none is given, in the Go type of its Type: float64 for
	// both kinds of numbers, bool, string, []string.
	Default any
	// Least and Most bound a number, both included.
	Least, Most float64
	// Choices are the texts that are allowed; empty for any.
	Choices []string
	// Meaning is one sentence.
	Meaning string
}

// units are the endings of names, the longer before the shorter.
var units = []struct{ ending, unit string }{
	{"_bytes_per_second", "bytes per second"},
	{"_bytes", "bytes"},
	{"_seconds", "seconds"},
	{"_share", "share of 1"},
	{"_factor", "factor"},
}

// Unit is the unit of a number, from its name; empty for what has none.
func (p Parameter) Unit() string {
	for _, known := range units {
		if strings.HasSuffix(p.Name, known.ending) {
			return known.unit
		}
	}
	return ""
}

// Range says which values are allowed.
func (p Parameter) Range() string {
	switch {
	case p.Type == Number || p.Type == Whole:
		return format(p.Least) + " to " + format(p.Most)
	case p.Type == Boolean:
		return "true, false"
	case len(p.Choices) > 0:
		return strings.Join(p.Choices, ", ")
	case p.Type == Objects:
		return "at least one mapping"
	default:
		return "any " + string(p.Type)
	}
}

// DefaultText is the default as documentation shows it.
func (p Parameter) DefaultText() string {
	switch value := p.Default.(type) {
	case nil:
		if p.Required {
			return "required"
		}
		return "none"
	case float64:
		return format(value)
	case string:
		if value == "" {
			return "none"
		}
		return value
	case []string:
		return strings.Join(value, ", ")
	default:
		return fmt.Sprint(value)
	}
}

func format(number float64) string {
	return strconv.FormatFloat(number, 'g', -1, 64)
}

// Values are decoded parameters: every declared one that is given or has a default.
type Values map[string]any

// Decode checks what is given against the declarations: unknown names, missing ones, wrong types,
// numbers out of range. Its errors are of code store.CodeInvalid.
func Decode(declared []Parameter, given map[string]any) (Values, error) {
	values := make(Values, len(declared))
	names := make([]string, 0, len(declared))
	for _, parameter := range declared {
		names = append(names, parameter.Name)
		if err := decodeInto(values, parameter, given); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			return nil, store.Invalidf("the parameter %q is not known", name).
				WithHint("Correct or remove it; known parameters: %s.", strings.Join(names, ", "))
		}
	}
	return values, nil
}

func decodeInto(values Values, parameter Parameter, given map[string]any) error {
	raw, isGiven := given[parameter.Name]
	switch {
	case !isGiven && parameter.Required:
		return store.Invalidf("the parameter %s is missing", parameter.Name).
			WithHint("Add %s: %s Allowed: %s.", parameter.Name, parameter.Meaning, parameter.Range())
	case !isGiven && parameter.Default == nil:
		return nil
	case !isGiven:
		values[parameter.Name] = parameter.Default
		return nil
	}
	value, err := parameter.decode(raw)
	if err != nil {
		return err
	}
	values[parameter.Name] = value
	return nil
}

func (p Parameter) decode(raw any) (any, error) {
	switch p.Type {
	case Number, Whole:
		return p.decodeNumber(raw)
	case Boolean:
		if value, isBoolean := raw.(bool); isBoolean {
			return value, nil
		}
	case Text:
		return p.decodeText(raw)
	case TextList:
		return p.decodeTextList(raw)
	case Objects:
		return p.decodeObjects(raw)
	case Constants:
		return p.decodeConstants(raw)
	}
	return nil, p.wrongType(raw)
}

func (p Parameter) decodeNumber(raw any) (any, error) {
	number, isNumber := toNumber(raw)
	switch {
	case !isNumber:
		return nil, p.wrongType(raw)
	case math.IsNaN(number) || number < p.Least || number > p.Most:
		return nil, store.Invalidf("%s is out of range: %v", p.Name, raw).
			WithHint("Give a %s from %s.", p.Type, p.Range())
	case p.Type == Whole && number != math.Trunc(number):
		return nil, p.wrongType(raw)
	}
	return number, nil
}

// toNumber takes the types that decoders of YAML and JSON give to numbers.
func toNumber(raw any) (float64, bool) {
	switch number := raw.(type) {
	case float64:
		return number, true
	case int:
		return float64(number), true
	case int64:
		return float64(number), true
	case uint64:
		return float64(number), true
	default:
		return 0, false
	}
}

func (p Parameter) decodeText(raw any) (any, error) {
	text, isText := raw.(string)
	if !isText {
		return nil, p.wrongType(raw)
	}
	if len(p.Choices) > 0 && !slices.Contains(p.Choices, text) {
		return nil, store.Invalidf("%s cannot be %q", p.Name, text).WithHint("Allowed: %s.", p.Range())
	}
	return text, nil
}

func (p Parameter) decodeTextList(raw any) (any, error) {
	list, isList := raw.([]any)
	if !isList {
		return nil, p.wrongType(raw)
	}
	texts := make([]string, 0, len(list))
	for _, element := range list {
		text, err := p.decodeText(element)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text.(string))
	}
	return texts, nil
}

func (p Parameter) decodeObjects(raw any) (any, error) {
	list, isList := raw.([]any)
	if !isList {
		return nil, p.wrongType(raw)
	}
	if len(list) == 0 {
		return nil, store.Invalidf("%s is empty", p.Name).WithHint("Allowed: %s.", p.Range())
	}
	objects := make([]map[string]any, 0, len(list))
	for _, element := range list {
		object, isObject := element.(map[string]any)
		if !isObject {
			return nil, p.wrongType(raw)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

func (p Parameter) decodeConstants(raw any) (any, error) {
	mapping, isMapping := raw.(map[string]any)
	if !isMapping {
		return nil, p.wrongType(raw)
	}
	constants := make(map[string]any, len(mapping))
	for name, value := range mapping {
		if number, isNumber := toNumber(value); isNumber {
			value = number
		}
		switch value.(type) {
		case float64, string, bool:
			constants[name] = value
		default:
			return nil, store.Invalidf("%s.%s is neither a number nor a text nor a boolean", p.Name, name).
				WithHint("Give a plain value; lists and mappings are not handed on.")
		}
	}
	return constants, nil
}

func (p Parameter) wrongType(raw any) error {
	return store.Invalidf("%s is no %s: %v", p.Name, p.Type, raw).WithHint("Allowed: %s.", p.Range())
}

// Number is a number that is declared and required or has a default.
func (v Values) Number(name string) float64 {
	number, _ := v[name].(float64)
	return number
}

// Seconds is a number of seconds as a duration.
func (v Values) Seconds(name string) time.Duration {
	return time.Duration(v.Number(name) * float64(time.Second))
}

// Boolean is a boolean.
func (v Values) Boolean(name string) bool {
	value, _ := v[name].(bool)
	return value
}

// Text is a text; empty if there is none.
func (v Values) Text(name string) string {
	text, _ := v[name].(string)
	return text
}

// TextList is a list of texts.
func (v Values) TextList(name string) []string {
	texts, _ := v[name].([]string)
	return texts
}

// Objects is a list of mappings that are still to be decoded.
func (v Values) Objects(name string) []map[string]any {
	objects, _ := v[name].([]map[string]any)
	return objects
}

// Constants is a mapping of names to float64, string and bool.
func (v Values) Constants(name string) map[string]any {
	constants, _ := v[name].(map[string]any)
	return constants
}
