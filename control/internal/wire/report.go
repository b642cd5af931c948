package wire

import (
	"bytes"
	"time"

	"google.golang.org/protobuf/proto"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
)

// Report is the state of a node as its agent told it. It is never changed.
type Report struct {
	NodeSnapshot
	// encoded is the message as it came.
	encoded []byte
}

// NewReport reads the answer to a call, as DecodeNodeSnapshot does.
func NewReport(node string, message *sluicev1.GetSnapshotResponse, asked time.Time) (*Report, error) {
	snapshot, err := DecodeNodeSnapshot(node, message, asked)
	if err != nil {
		return nil, err
	}
	encoded, err := proto.Marshal(message)
	if err != nil {
		return nil, store.Invalidf("the report cannot be passed on: %w", err)
	}
	return &Report{snapshot, encoded}, nil
}

// Message is the report as the agent sent it, with what only newer versions know. It is made anew at each
// call, since it takes ten times the memory.
func (r *Report) Message() *sluicev1.GetSnapshotResponse {
	message := new(sluicev1.GetSnapshotResponse)
	if err := proto.Unmarshal(r.encoded, message); err != nil {
		// It has been read before, so that nothing can be wrong with it.
		return nil
	}
	return message
}

// ReportReader reads the reports that come from a node one after the other. What has not changed from one
// to the next they share. It is not safe for concurrent use.
type ReportReader struct {
	node string
	last *Report
	// descriptions are the encoded ones that those of the last report were made of. They hardly ever change.
	descriptions [][]byte
	figureNames  map[string]string
}

// NewReportReader makes a reader of the reports of one node that follow a last one, nil for none.
func NewReportReader(node string, last *Report) *ReportReader {
	reader := &ReportReader{node: node, last: new(Report), figureNames: make(map[string]string)}
	if last != nil {
		reader.last, reader.descriptions = last, descriptionsIn(last.encoded)
	}
	return reader
}

// Read reads an encoded GetSnapshotResponse, and keeps its memory. asked and errors are those of
// DecodeNodeSnapshot.
func (r *ReportReader) Read(encoded []byte, asked time.Time) (*Report, error) {
	report, isOdd := r.scan(encoded, asked)
	if isOdd {
		snapshot, err := decodeReport(r.node, encoded, asked)
		if err != nil {
			return nil, err
		}
		report = &Report{snapshot, encoded}
		r.descriptions = descriptionsIn(encoded)
	}
	r.last = report
	return report, nil
}

func decodeReport(node string, encoded []byte, asked time.Time) (NodeSnapshot, error) {
	message := new(sluicev1.GetSnapshotResponse)
	if err := proto.Unmarshal(encoded, message); err != nil {
		return NodeSnapshot{}, store.Invalidf("the report cannot be read: %w", err)
	}
	return DecodeNodeSnapshot(node, message, asked)
}

const descriptionsTag = 4<<3 | bytesField

func descriptionsIn(encoded []byte) (descriptions [][]byte) {
	isOdd := false
	for s := (scan{rest: encoded, isOdd: &isOdd}); s.next(); {
		if s.tag == descriptionsTag {
			descriptions = append(descriptions, bytes.Clone(s.bytes))
		}
	}
	return descriptions
}

// scan reads a report whose descriptions are those of the last one.
func (r *ReportReader) scan(encoded []byte, asked time.Time) (report *Report, isOdd bool) {
	report = &Report{encoded: encoded}
	descriptions := 0
	s := scan{rest: encoded, isOdd: &isOdd}
	for s.next() {
		switch s.tag {
		case 1<<3 | bytesField:
			report.Node = s.text(r.node, maxNameBytes)
		case 2<<3 | bytesField:
			report.Version = s.text(r.last.Version, maxNameBytes)
		case 3<<3 | bytesField:
			report.Signals = scanSignals(s.message(), &r.last.Signals, asked)
		case descriptionsTag:
			s.need(descriptions < len(r.descriptions) && bytes.Equal(s.bytes, r.descriptions[descriptions]))
			descriptions++
		case 5<<3 | bytesField:
			last := at(r.last.Instances, len(report.Instances))
			report.Instances = add(report.Instances, r.instance(s.element(), &last, asked), len(r.last.Instances))
		case 6<<3 | bytesField:
			clients := r.clients(s.element(), at(r.last.Clients, len(report.Clients)), asked)
			report.Clients = add(report.Clients, clients, len(r.last.Clients))
		}
	}
	s.need(report.Node == r.node && s.has(3))
	s.need(descriptions == len(r.descriptions) && len(report.Instances) <= maxInstances)
	s.need(len(report.Clients) <= maxClientStores)
	report.Descriptions = r.last.Descriptions
	return report, isOdd
}

func (r *ReportReader) instance(s scan, last *InstanceSnapshot, asked time.Time) InstanceSnapshot {
	read := InstanceSnapshot{Ref: last.Ref}
	before, now := &last.Snapshot, &read.Snapshot
	for s.next() {
		switch s.tag {
		case 1<<3 | bytesField:
			scanRef(s.message(), &read.Ref)
		case 2<<3 | bytesField:
			now.TakenAt = asked.Add(-s.duration())
		case 3<<3 | bytesField:
			task := scanTask(s.element(), at(before.Tasks, len(now.Tasks)))
			now.Tasks = add(now.Tasks, task, len(before.Tasks))
		case 4<<3 | bytesField:
			debt := scanDebt(s.element(), at(before.Debts, len(now.Debts)))
			now.Debts = add(now.Debts, debt, len(before.Debts))
		case 5<<3 | bytesField:
			lease := scanLease(s.element(), at(before.Leases, len(now.Leases)))
			now.Leases = add(now.Leases, lease, len(before.Leases))
		case 6<<3 | bytesField:
			latency := scanLatency(s.element(), at(before.Latencies, len(now.Latencies)))
			now.Latencies = add(now.Latencies, latency, len(before.Latencies))
		case 7<<3 | bytesField:
			if now.Figures == nil {
				now.Figures = make(map[string]float64, len(before.Figures))
			}
			r.figure(s.element(), now.Figures)
		case 8<<3 | bytesField:
			read.Problem = s.text(last.Problem, maxTextBytes)
		case 9<<3 | bytesField:
			latency := scanScopeLatency(s.element(), at(before.ScopeLatencies, len(now.ScopeLatencies)))
			now.ScopeLatencies = add(now.ScopeLatencies, latency, len(before.ScopeLatencies))
		}
	}
	read.Ref.Node = r.node
	s.need(s.has(1) && s.has(2))
	s.need(len(now.Tasks) <= maxTasks && len(now.Debts) <= maxDebts && len(now.Leases) <= maxLeases)
	s.need(len(now.Latencies) <= maxLatencies && len(now.ScopeLatencies) <= maxLatencies)
	s.need(len(now.Figures) <= maxFigures)
	return read
}

// figure reads an entry of a map of figures. Their names are the same each time.
func (r *ReportReader) figure(s scan, figures map[string]float64) {
	var name string
	var figure float64
	for s.next() {
		switch s.tag {
		case 1<<3 | bytesField:
			name = s.text(r.figureNames[string(s.bytes)], maxNameBytes)
		case 2<<3 | fixed64Field:
			figure = s.real()
		}
	}
	s.need(name != "")
	if *s.isOdd {
		return
	}
	if len(r.figureNames) > maxFigures {
		clear(r.figureNames)
	}
	r.figureNames[name] = name
	figures[name] = figure
}

// at is an element of a list, or an empty one where the list has ended.
func at[T any](list []T, place int) (element T) {
	if place < len(list) {
		return list[place]
	}
	return element
}

// add appends to a list that is likely to become so long.
func add[T any](list []T, element T, likely int) []T {
	if list == nil {
		list = make([]T, 0, max(1, likely))
	}
	return append(list, element)
}
