// Package script runs a policy that is written in Starlark, a dialect of Python that cannot reach
// anything outside of itself: no files, no network, no clock, no random numbers.
package script

import (
	"errors"
	"os"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"

	"sluice.dev/control/internal/policies/parameters"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

const (
	maxSourceBytes = 64 << 10
	entryPoint     = "decide"
	inlineName     = "source"
)

// Policy is a script that has been loaded. It is safe for concurrent use: all that its calls share is
// frozen.
type Policy struct {
	decide    *starlark.Function
	constants starlark.Value
	maxSteps  uint64
}

// Parameters declares the parameters.
func Parameters() []parameters.Parameter {
	return []parameters.Parameter{
		{
			Name: "file", Type: parameters.Text, Default: "",
			Meaning: "Path of the script; it is read when the configuration is loaded.",
		},
		{
			Name: "source", Type: parameters.Text, Default: "",
			Meaning: "The script itself, in place of a file.",
		},
		{
			Name: "maximum_steps", Type: parameters.Whole, Default: 1e5, Least: 1000, Most: 1e8,
			Meaning: "Steps of the interpreter after which a decision is given up.",
		},
		{
			Name: "constants", Type: parameters.Constants,
			Meaning: "Numbers, texts and booleans that the script finds in view.constants.",
		},
	}
}

// New loads the script. Whatever can be known to be wrong before the first decision is an error, with
// the line.
func New(given map[string]any) (policy.Policy, error) {
	values, err := parameters.Decode(Parameters(), given)
	if err != nil {
		return nil, err
	}
	name, source, err := read(values.Text("file"), values.Text("source"))
	if err != nil {
		return nil, err
	}
	maxSteps := uint64(values.Number("maximum_steps"))
	decide, err := load(name, source, maxSteps)
	if err != nil {
		return nil, err
	}
	constants := constantsValue(values.Constants("constants"))
	return &Policy{decide: decide, constants: constants, maxSteps: maxSteps}, nil
}

func read(file, source string) (string, []byte, error) {
	if (file == "") == (source == "") {
		return "", nil, store.Invalidf("a script needs either file or source, and not both").
			WithHint("Give file: PATH, or source: with the script below it.")
	}
	name, content := inlineName, []byte(source)
	if file != "" {
		var err error
		if content, err = os.ReadFile(file); err != nil {
			return "", nil, store.Errorf(store.CodeInvalid, "the script cannot be read: %w", err).
				WithHint("Correct the parameter file, or let the controller read it.")
		}
		name = file
	}
	if len(content) > maxSourceBytes {
		return "", nil, store.Invalidf("%s has %d bytes, at most %d are allowed", name, len(content), maxSourceBytes)
	}
	return name, content, nil
}

func load(name string, source []byte, maxSteps uint64) (*starlark.Function, error) {
	predeclared := starlark.StringDict{"struct": starlark.NewBuiltin("struct", starlarkstruct.Make)}
	file, program, err := starlark.SourceProgramOptions(&syntax.FileOptions{}, name, source, predeclared.Has)
	if err != nil {
		return nil, store.Errorf(store.CodeInvalid, "the script does not compile: %w", err).
			WithHint("Correct the line that the message names.")
	}
	if err := refuseLoad(file); err != nil {
		return nil, err
	}
	globals, err := program.Init(newThread(name, maxSteps), predeclared)
	if err != nil {
		return nil, store.Invalidf("the script fails as it is loaded: %s", backtrace(err)).
			WithHint("Correct the line that the message names.")
	}
	globals.Freeze()
	decide, isFunction := globals[entryPoint].(*starlark.Function)
	if !isFunction {
		return nil, store.Invalidf("%s has no function %s", name, entryPoint).
			WithHint("Add \"def decide(view):\".")
	}
	if decide.NumParams() != 1 || decide.HasVarargs() || decide.HasKwargs() {
		return nil, store.Invalidf("%s: decide must take one parameter", decide.Position()).
			WithHint("Write \"def decide(view):\".")
	}
	return decide, nil
}

func refuseLoad(file *syntax.File) error {
	for _, statement := range file.Stmts {
		if loads, isLoad := statement.(*syntax.LoadStmt); isLoad {
			return store.Invalidf("%s: load is not available", loads.Load).
				WithHint("Put everything into one script.")
		}
	}
	return nil
}

func newThread(name string, maxSteps uint64) *starlark.Thread {
	thread := &starlark.Thread{Name: name, Print: func(*starlark.Thread, string) {}}
	thread.SetMaxExecutionSteps(maxSteps)
	return thread
}

// backtrace is the message of an error with the lines that led to it.
func backtrace(err error) string {
	var failure *starlark.EvalError
	if errors.As(err, &failure) {
		return failure.Backtrace()
	}
	return err.Error()
}

func constantsValue(constants map[string]any) starlark.Value {
	fields := starlark.StringDict{}
	for name, constant := range constants {
		switch value := constant.(type) {
		case float64:
			fields[name] = starlark.Float(value)
		case string:
			fields[name] = starlark.String(value)
		case bool:
			fields[name] = starlark.Bool(value)
		}
	}
	return record(fields)
}

// record is a frozen struct.
func record(fields starlark.StringDict) starlark.Value {
	made := starlarkstruct.FromStringDict(starlarkstruct.Default, fields)
	made.Freeze()
	return made
}
