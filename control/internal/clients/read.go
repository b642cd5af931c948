package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"sluice.dev/control/internal/agent/discovery"
	"sluice.dev/control/internal/store"
)

// What follows takes what the schema report-params takes. Each client sends a report once a second, for which a
// validator of schemas is too slow; tests compare the two.

const (
	maxRequests        = 64
	maxVersionNumber   = 1e6
	maxWhole           = 1<<53 - 1
	maxCount           = 1e9
	maxSeconds         = 1e9
	maxSumSeconds      = 1e12
	leastInterval      = 0.001
	longestInterval    = 600
	membersOfABucket   = 2
	decimal, wholeBits = 10, 64
)

// whole is a whole number, however it is written, of at most 2^53-1.
type whole uint64

// UnmarshalJSON is called for null as well, which is no number.
func (w *whole) UnmarshalJSON(text []byte) error {
	if number, err := strconv.ParseUint(string(text), decimal, wholeBits); err == nil && number <= maxWhole {
		*w = whole(number)
		return nil
	}
	number, err := strconv.ParseFloat(string(text), wholeBits)
	if err != nil || number != math.Trunc(number) || number < 0 || number > maxWhole {
		return fmt.Errorf("%.40s is no whole number from 0 to 2^53-1", text)
	}
	*w = whole(number)
	return nil
}

// What is a pointer here must be there.
type writtenReport struct {
	ProtocolVersion *writtenVersion    `json:"protocol_version"`
	Store           *string            `json:"store"`
	IntervalSeconds *float64           `json:"interval_seconds"`
	LostRequests    whole              `json:"lost_requests"`
	Requests        *[]writtenRequests `json:"requests"`
}

type writtenVersion struct {
	Major *whole `json:"major"`
	Minor *whole `json:"minor"`
}

type writtenRequests struct {
	Class      *string    `json:"class"`
	Scope      *string    `json:"scope"`
	Errors     *whole     `json:"errors"`
	SumSeconds *float64   `json:"sum_seconds"`
	MaxSeconds *float64   `json:"max_seconds"`
	Buckets    *[][]whole `json:"buckets"`
}

func readReport(params json.RawMessage) (Report, error) {
	var written writtenReport
	decoder := json.NewDecoder(bytes.NewReader(params))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&written); err != nil {
		return Report{}, err
	}
	if err := written.check(); err != nil {
		return Report{}, err
	}
	report := Report{
		ProtocolVersion: Version{Major: uint32(*written.ProtocolVersion.Major), Minor: uint32(*written.ProtocolVersion.Minor)},
		Store:           *written.Store, IntervalSeconds: *written.IntervalSeconds, LostRequests: uint64(written.LostRequests),
		Requests: make([]Requests, len(*written.Requests)),
	}
	for i, each := range *written.Requests {
		requests, err := each.read()
		if err != nil {
			return Report{}, fmt.Errorf("requests %d: %w", i, err)
		}
		report.Requests[i] = requests
	}
	return report, nil
}

func (w writtenReport) check() error {
	version := w.ProtocolVersion
	switch {
	case version == nil || version.Major == nil || version.Minor == nil:
		return errors.New("protocol_version is missing, or its major or minor")
	case *version.Major > maxVersionNumber || *version.Minor > maxVersionNumber:
		return errors.New("protocol_version has a number above 1000000")
	case w.Store == nil || !discovery.ValidName(*w.Store):
		return errors.New("store is missing, or no kind of store, such as hbase")
	case w.Requests == nil:
		return errors.New("requests is missing")
	case len(*w.Requests) > maxRequests:
		return fmt.Errorf("requests has %d entries, at most %d are allowed", len(*w.Requests), maxRequests)
	}
	return within("interval_seconds", w.IntervalSeconds, leastInterval, longestInterval)
}

func (w writtenRequests) read() (Requests, error) {
	switch {
	case w.Class == nil || *w.Class != "read" && *w.Class != "write":
		return Requests{}, errors.New("class is missing, or neither read nor write")
	case w.Scope == nil:
		return Requests{}, errors.New("scope is missing")
	case w.Errors == nil || *w.Errors > maxCount:
		return Requests{}, errors.New("errors is missing, or above 1e9")
	case w.Buckets == nil || len(*w.Buckets) > bucketCount:
		return Requests{}, fmt.Errorf("buckets is missing, or has more than %d entries", bucketCount)
	}
	err := errors.Join(store.ValidateText("scope", *w.Scope, maxScopeBytes),
		within("sum_seconds", w.SumSeconds, 0, maxSumSeconds), within("max_seconds", w.MaxSeconds, 0, maxSeconds))
	if err != nil {
		return Requests{}, err
	}
	requests := Requests{
		Class: *w.Class, Scope: *w.Scope, Errors: uint64(*w.Errors), SumSeconds: *w.SumSeconds, MaxSeconds: *w.MaxSeconds,
		Buckets: make([][2]uint64, len(*w.Buckets)),
	}
	for i, bucket := range *w.Buckets {
		if len(bucket) != membersOfABucket || bucket[0] >= bucketCount || bucket[1] < 1 || bucket[1] > maxCount {
			return Requests{}, fmt.Errorf("buckets has %v, which is not the number of a bucket below %d and 1 to 1e9 requests",
				bucket, bucketCount)
		}
		requests.Buckets[i] = [2]uint64{uint64(bucket[0]), uint64(bucket[1])}
	}
	return requests, nil
}

func within(name string, number *float64, least, most float64) error {
	if number == nil || *number < least || *number > most {
		return fmt.Errorf("%s is missing, or not from %v to %v", name, least, most)
	}
	return nil
}
