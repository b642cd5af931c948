package script

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

const (
	maxReasonBytes = 1000
	maxEntries     = 64
	maxNameBytes   = 100
)

// outcome is what a script returned.
type outcome struct {
	setting *store.Setting
	isStart bool
	reason  string
	inputs  map[string]float64
	memory  map[string]float64
}

// Decide implements policy.Policy. A script that fails ends in the verdict stop, with the reason, and
// keeps the memory that it had.
func (p *Policy) Decide(view policy.View, target policy.Target, memory policy.Memory) (policy.Decision, policy.Memory) {
	if !target.Fresh {
		return policy.StopFor(target, target.Missing), memory
	}
	kept, _ := memory.(map[string]float64)
	argument := p.viewValue(view, target, kept)
	argument.Freeze()
	thread := newThread(target.String(), p.maxSteps)
	returned, err := starlark.Call(thread, p.decide, starlark.Tuple{argument}, nil)
	if err != nil {
		return policy.StopFor(target, shortened("the script failed: "+backtrace(err))), memory
	}
	result, err := decode(returned)
	if err == nil {
		err = checkSetting(target, result)
	}
	if err != nil {
		return policy.StopFor(target, shortened("the script's result is of no use: "+err.Error())), memory
	}
	return result.decision(target), result.memory
}

func (o outcome) decision(target policy.Target) policy.Decision {
	if o.setting != nil {
		decision := policy.SettingFor(target, *o.setting, o.reason, o.inputs)
		if o.isStart {
			decision = decision.WithStart()
		}
		return decision
	}
	decision := policy.StopFor(target, o.reason)
	decision.Inputs = o.inputs
	if target.Lease == nil {
		decision.Verdict = policy.Keep
	}
	return decision
}

// decode reads None, a dict or a struct.
func decode(returned starlark.Value) (outcome, error) {
	result := outcome{reason: "the script wants no lease", memory: map[string]float64{}}
	if returned == starlark.None {
		return result, nil
	}
	fields, err := fieldsOf(returned)
	if err != nil {
		return outcome{}, err
	}
	result.reason = "the script gave no reason"
	for _, name := range fields.Keys() {
		if err := result.take(name, fields[name]); err != nil {
			return outcome{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	if result.isStart && result.setting == nil {
		return outcome{}, fmt.Errorf("start needs a setting: give setting as well")
	}
	return result, nil
}

func fieldsOf(returned starlark.Value) (starlark.StringDict, error) {
	fields := starlark.StringDict{}
	switch value := returned.(type) {
	case *starlarkstruct.Struct:
		value.ToStringDict(fields)
		return fields, nil
	case *starlark.Dict:
		for _, item := range value.Items() {
			name, isText := starlark.AsString(item[0])
			if !isText {
				return nil, fmt.Errorf("the dict has a key of type %s: use names only", item[0].Type())
			}
			fields[name] = item[1]
		}
		return fields, nil
	default:
		return nil, fmt.Errorf("decide returned a %s: return a dict, a struct or None", returned.Type())
	}
}

func (o *outcome) take(name string, value starlark.Value) error {
	var err error
	switch name {
	case "setting":
		return o.takeSetting(value)
	case "start":
		start, isBool := value.(starlark.Bool)
		if !isBool {
			return fmt.Errorf("it is a %s: give True or False", value.Type())
		}
		o.isStart = bool(start)
	case "reason":
		reason, isText := starlark.AsString(value)
		if !isText {
			return fmt.Errorf("it is a %s: give a text", value.Type())
		}
		o.reason = shortened(reason)
	case "inputs":
		o.inputs, err = figuresOf(value)
	case "memory":
		o.memory, err = figuresOf(value)
	default:
		return fmt.Errorf("it is not known: return setting, start, reason, inputs and memory only")
	}
	return err
}

func (o *outcome) takeSetting(value starlark.Value) error {
	if value == starlark.None {
		return nil
	}
	text, isText := starlark.AsString(value)
	if !isText {
		return fmt.Errorf("it is a %s: give a text such as \"hold\" or \"rate_bytes_per_second=5e6\"", value.Type())
	}
	setting, err := store.ParseSetting(text)
	if err != nil {
		return err
	}
	if setting.Aspect() != store.AspectPace {
		return fmt.Errorf("%s is no pace: give rate_bytes_per_second=N, duration_seconds=N, hold, full or stock", setting.Name)
	}
	o.setting = &setting
	return nil
}

func figuresOf(value starlark.Value) (map[string]float64, error) {
	dict, isDict := value.(*starlark.Dict)
	if !isDict {
		return nil, fmt.Errorf("it is a %s: give a dict of numbers", value.Type())
	}
	if dict.Len() > maxEntries {
		return nil, fmt.Errorf("it has %d entries: at most %d are allowed", dict.Len(), maxEntries)
	}
	figures := make(map[string]float64, dict.Len())
	for _, item := range dict.Items() {
		name, isText := starlark.AsString(item[0])
		if !isText || len(name) > maxNameBytes || strings.ContainsFunc(name, unicode.IsControl) {
			return nil, fmt.Errorf("it has a key that is no plain name of at most %d bytes", maxNameBytes)
		}
		figure, isNumber := starlark.AsFloat(item[1])
		if !isNumber || math.IsNaN(figure) || math.IsInf(figure, 0) {
			return nil, fmt.Errorf("%q is no finite number", name)
		}
		figures[name] = figure
	}
	return figures, nil
}

// checkSetting says whether the store can do what the script wants.
func checkSetting(target policy.Target, result outcome) error {
	if result.setting == nil {
		return nil
	}
	for _, offered := range target.Description.Capabilities {
		if offered.Kind != target.Kind || !slices.Contains(offered.Settings, result.setting.Name) {
			continue
		}
		if result.isStart && !offered.CanStart {
			return fmt.Errorf("the store cannot start a %s by order: leave out start", target.Kind)
		}
		return nil
	}
	return fmt.Errorf("the store cannot set %s of %s: return another setting", result.setting.Name, target.Kind)
}

// shortened is a text as a log and a terminal may have it: one line, without control characters.
func shortened(text string) string {
	isGap := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), isGap), " ")
	if len(text) <= maxReasonBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxReasonBytes], "") + "..."
}
