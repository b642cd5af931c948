// Package clients takes the response times that the clients of stores on a node have measured, and adds them up for
// each kind of store. The messages are described by the JSON Schemas of proto/local/clients, and by
// docs/client-latencies.md.
package clients

import (
	"encoding/json"
	"fmt"

	"sluice.dev/control/internal/store"
)

const (
	methodReport  = "report"
	maxScopeBytes = 1024
	pageOfAll     = "docs/client-latencies.md lists what a report has."
)

// Version is a version of the messages. An agent refuses another major version; a minor version only adds members.
type Version struct {
	Major uint32 `json:"major"`
	Minor uint32 `json:"minor"`
}

// CurrentVersion is what this package speaks.
func CurrentVersion() Version { return Version{Major: 1} }

// String is the form "1.0".
func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Report is what a client tells of an interval.
type Report struct {
	ProtocolVersion Version `json:"protocol_version"`
	// Store is the kind of store.
	Store           string     `json:"store"`
	IntervalSeconds float64    `json:"interval_seconds"`
	LostRequests    uint64     `json:"lost_requests,omitempty"`
	Requests        []Requests `json:"requests"`
}

// Requests are those of a class for a part of the store.
type Requests struct {
	// Class is "read" or "write".
	Class      string  `json:"class"`
	Scope      string  `json:"scope"`
	Errors     uint64  `json:"errors"`
	SumSeconds float64 `json:"sum_seconds"`
	MaxSeconds float64 `json:"max_seconds"`
	// Buckets are numbers of buckets, each with that of the requests in it.
	Buckets [][2]uint64 `json:"buckets"`
}

type reportResult struct {
	ProtocolVersion Version `json:"protocol_version"`
}

// ParseReport reads and checks the params of a report. Errors are of type *store.Error.
func ParseReport(params json.RawMessage) (Report, error) {
	if err := checkVersion(params); err != nil {
		return Report{}, err
	}
	report, err := readReport(params)
	if err != nil {
		return Report{}, store.Invalidf("report: %w", err).WithHint(pageOfAll)
	}
	return report, nil
}

// checkVersion comes before the schema, which may be another one in another version.
func checkVersion(params json.RawMessage) error {
	var read struct {
		ProtocolVersion *Version `json:"protocol_version"`
	}
	if json.Unmarshal(params, &read) != nil || read.ProtocolVersion == nil {
		return nil
	}
	if client, own := *read.ProtocolVersion, CurrentVersion(); client.Major != own.Major {
		return store.Errorf(store.CodeIncompatible, "the agent speaks version %v of the reports of clients, the client version %v",
			own, client).WithHint("Install versions whose protocols have the same major version.")
	}
	return nil
}
