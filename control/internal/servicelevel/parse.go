package servicelevel

import (
	_ "embed" // for the schema
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/goccy/go-yaml"

	"sluice.dev/control/internal/document"
	"sluice.dev/control/internal/store"
)

// Schema is the JSON Schema of a file of service levels, for editors. Parse rests on the same one.
//
//go:embed service-levels.schema.json
var Schema []byte

var objectsSchema = document.NewSchema("service-levels.schema.json", Schema)

const (
	// MaxObjects bounds the service levels of a cluster.
	MaxObjects = 200
	// maxFileBytes is enough for the longest names of so many.
	maxFileBytes = 1 << 20
	pageOfAll    = "docs/service-levels.md"
)

// File is what people write service levels in.
type File struct {
	ServiceLevels []Object `yaml:"service_levels" json:"service_levels"`
}

// Parse reads a file of service levels. Errors are of code store.CodeInvalid and say everything that is wrong, with
// line, key and what to do.
func Parse(text []byte) ([]Object, error) {
	objects, problems := parse(text)
	if len(problems) > 0 {
		return nil, store.Invalidf("%w", problems)
	}
	return objects, nil
}

func parse(text []byte) ([]Object, document.Problems) {
	written, problems := document.Read(text, maxFileBytes, pageOfAll)
	if len(problems) > 0 {
		return nil, problems
	}
	if problems := written.Check(objectsSchema); len(problems) > 0 {
		return nil, problems
	}
	var read File
	if err := yaml.UnmarshalWithOptions(text, &read, yaml.Strict()); err != nil {
		return nil, document.Problems{document.SyntaxProblem(err)}
	}
	for i := range read.ServiceLevels {
		read.ServiceLevels[i].setDefaults()
	}
	if findings := checkAll(read.ServiceLevels); len(findings) > 0 {
		return nil, written.Locate(findings)
	}
	return read.ServiceLevels, nil
}

func (o *Object) setDefaults() {
	if o.Profile.ReadShare == 0 {
		o.Profile.ReadShare = 1
	}
	if o.Weight == 0 {
		o.Weight = 1
	}
	o.Target.MeasuredAt = PlaceOf(o.Target.MeasuredAt)
}

func checkAll(objects []Object) []document.Finding {
	var findings []document.Finding
	names := make(map[string]int, len(objects))
	for i, object := range objects {
		at := []string{"service_levels", strconv.Itoa(i)}
		if err := object.check(); err != nil {
			findings = append(findings, document.Finding{Path: at, Message: err.Error()})
		}
		if first, isTwice := names[object.Name]; isTwice {
			findings = append(findings, document.Finding{
				Path: append(at, "name"), Message: fmt.Sprintf("the name %s is that of service_levels[%d] already", object.Name, first),
				Hint: "Give each one a name of its own.",
			})
		}
		names[object.Name] = i
	}
	return findings
}

// Validate says what is wrong with an object that did not come out of Parse, such as one from the network.
func (o Object) Validate() error {
	if err := o.check(); err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"service_levels": []Object{o}})
	if err != nil {
		return store.Invalidf("the service level %q cannot be written: %w", o.Name, err)
	}
	if problems := document.CheckJSON(text, objectsSchema); len(problems) > 0 {
		return store.Invalidf("%w", problems)
	}
	return nil
}
