package localprotocol

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

//go:generate sh -c "cp ../../../proto/local/*.schema.json schema/"

//go:embed schema/*.schema.json
var schemaFiles embed.FS

const schemaBase = "https://sluice.dev/local/1/"

var ownSchemas = NewSchemas(schemaFiles, schemaBase)

// Schemas are those of a folder "schema". They are compiled when the first one is needed.
type Schemas struct {
	compiled func() (map[string]*jsonschema.Schema, error)
}

// NewSchemas makes them of the files NAME.schema.json, whose ids are a base and the name of the file.
func NewSchemas(files embed.FS, base string) *Schemas {
	return &Schemas{sync.OnceValues(func() (map[string]*jsonschema.Schema, error) { return compileSchemas(files, base) })}
}

// compileSchemas returns the schemas by the names of their files, without ".schema.json".
func compileSchemas(files embed.FS, base string) (map[string]*jsonschema.Schema, error) {
	entries, err := files.ReadDir("schema")
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	for _, entry := range entries {
		if err := addSchema(compiler, files, base, entry.Name()); err != nil {
			return nil, fmt.Errorf("schema %s: %w", entry.Name(), err)
		}
	}
	compiled := make(map[string]*jsonschema.Schema, len(entries))
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".schema.json")
		if compiled[name], err = compiler.Compile(base + entry.Name()); err != nil {
			return nil, err
		}
	}
	return compiled, nil
}

func addSchema(compiler *jsonschema.Compiler, files embed.FS, base, file string) error {
	text, err := files.ReadFile(path.Join("schema", file))
	if err != nil {
		return err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return compiler.AddResource(base+file, document)
}

// Validate checks a JSON text against a schema of proto/local, named as its file is without
// ".schema.json". The error says where the text is wrong, and how.
func Validate(schema string, text []byte) error {
	return ownSchemas.Validate(schema, text)
}

// Validate checks a JSON text against the schema of a name.
func (s *Schemas) Validate(schema string, text []byte) error {
	compiled, err := s.compiled()
	if err != nil {
		return err
	}
	wanted, known := compiled[schema]
	if !known {
		return fmt.Errorf("there is no schema %q", schema)
	}
	// Numbers become float64: one that does not fit is refused here, before exact arithmetic on it could
	// take any amount of memory.
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		return err
	}
	return explain(wanted.Validate(document))
}

// explain puts the places that a schema complains about on one line.
func explain(err error) error {
	var failure *jsonschema.ValidationError
	if !errors.As(err, &failure) {
		return err
	}
	return errors.New(shorten(strings.Join(complaints(failure.DetailedOutput()), "; ")))
}

func complaints(unit *jsonschema.OutputUnit) []string {
	if len(unit.Errors) == 0 {
		return []string{complaint(unit)}
	}
	var all []string
	for i := range unit.Errors {
		all = append(all, complaints(&unit.Errors[i])...)
	}
	return all
}

func complaint(unit *jsonschema.OutputUnit) string {
	where := strings.TrimPrefix(unit.InstanceLocation, "/")
	if where == "" {
		where = "the object"
	}
	if _, forbidden := unit.Error.Kind.(*kind.FalseSchema); forbidden {
		return where + ": must be left out"
	}
	return where + ": " + unit.Error.String()
}
