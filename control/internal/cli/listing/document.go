package listing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/goccy/go-yaml"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// Part is a message of a snapshot with the target that it is from, as programs get it.
type Part struct {
	Node     string `json:"node"`
	Store    string `json:"store"`
	Instance string `json:"instance"`
	// AgeSeconds is how long ago the message was true; what it says in times counts from there.
	AgeSeconds float64 `json:"age_seconds"`
	// One of these is there.
	Description *Message `json:"description,omitempty"`
	Snapshot    *Message `json:"snapshot,omitempty"`
	Task        *Message `json:"task,omitempty"`
	Lease       *Message `json:"lease,omitempty"`
	Debt        *Message `json:"debt,omitempty"`
	Latency     *Message `json:"latency,omitempty"`
}

// Message is a protobuf message in its JSON mapping, with the names of proto/sluice/v1. It is nothing
// for a nil message.
type Message struct{ proto.Message }

// MarshalJSON is byte-stable, which protojson alone is not.
func (m Message) MarshalJSON() ([]byte, error) {
	options := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}
	content, err := options.Marshal(m.Message)
	if err != nil {
		return nil, fmt.Errorf("writing %s as JSON: %w", m.ProtoReflect().Descriptor().FullName(), err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, content); err != nil {
		return nil, fmt.Errorf("writing %s as JSON: %w", m.ProtoReflect().Descriptor().FullName(), err)
	}
	return compact.Bytes(), nil
}

// PartOf is the document of one part; set puts the message where it belongs.
func PartOf[P any](located Located[P], set func(*Part, P)) Part {
	part := Part{
		Node: located.Node, Store: located.Ref.GetStore(), Instance: located.Ref.GetInstance(),
		AgeSeconds: located.Age.Seconds(),
	}
	set(&part, located.Part)
	return part
}

// PartsOf is the documents of parts, never nil.
func PartsOf[P any](located []Located[P], set func(*Part, P)) []Part {
	parts := make([]Part, 0, len(located))
	for _, each := range located {
		parts = append(parts, PartOf(each, set))
	}
	return parts
}

// SetTask makes a part that of a task.
func SetTask(part *Part, task *sluicev1.Task) { part.Task = &Message{task} }

// SetLease makes a part that of a lease.
func SetLease(part *Part, lease *sluicev1.Lease) { part.Lease = &Message{lease} }

// SetDebt makes a part that of a debt.
func SetDebt(part *Part, debt *sluicev1.Debt) { part.Debt = &Message{debt} }

// SetLatency makes a part that of a latency.
func SetLatency(part *Part, latency *sluicev1.Latency) { part.Latency = &Message{latency} }

// SetInstance makes a part that of a store.
func SetInstance(part *Part, instance Instance) {
	if instance.Description != nil {
		part.Description = &Message{instance.Description}
	}
	if instance.Snapshot != nil {
		part.Snapshot = &Message{instance.Snapshot}
	}
}

// WriteJSON writes a document, indented.
func WriteJSON(w io.Writer, document any) error {
	content, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	_, err = w.Write(append(content, '\n'))
	return err
}

// WriteJSONLine writes a document on one line.
func WriteJSONLine(w io.Writer, document any) error {
	content, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	_, err = w.Write(append(content, '\n'))
	return err
}

// WriteYAML writes a document with the keys and values that it has as JSON.
func WriteYAML(w io.Writer, document any) error {
	content, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("writing YAML: %w", err)
	}
	converted, err := yaml.JSONToYAML(content)
	if err != nil {
		return fmt.Errorf("writing YAML: %w", err)
	}
	_, err = w.Write(converted)
	return err
}
