package localprotocol

import (
	"encoding/json"
	"fmt"
	"math"

	"sluice.dev/control/internal/store"
)

// The methods of the protocol.
const (
	methodDescribe = "describe"
	methodSnapshot = "snapshot"
	methodSet      = "set"
	methodClear    = "clear"
	methodStart    = "start"
	methodAbort    = "abort"
)

// The messages below are what the schemas of the same names describe.

type describeParams struct {
	ProtocolVersion version `json:"protocol_version"`
}

type version struct {
	Major count `json:"major"`
	Minor count `json:"minor"`
}

type describeResult struct {
	ProtocolVersion      version      `json:"protocol_version"`
	Store                string       `json:"store"`
	Instance             string       `json:"instance"`
	StoreVersion         string       `json:"store_version"`
	PluginVersion        string       `json:"plugin_version"`
	Capabilities         []capability `json:"capabilities"`
	MaxTimeToLiveSeconds float64      `json:"max_time_to_live_seconds"`
}

type capability struct {
	Kind     store.Kind          `json:"kind"`
	Settings []store.SettingName `json:"settings"`
	CanStart bool                `json:"can_start"`
	Variants []store.Variant     `json:"variants,omitempty"`
	CanAbort bool                `json:"can_abort,omitempty"`
}

type snapshotParams struct{}

type snapshotResult struct {
	Tasks          []task             `json:"tasks"`
	Debts          []debt             `json:"debts"`
	Leases         []lease            `json:"leases"`
	Latencies      []latency          `json:"latencies"`
	ScopeLatencies []scopeLatency     `json:"scope_latencies,omitempty"`
	Figures        map[string]float64 `json:"figures"`
}

type task struct {
	ID                 string      `json:"id"`
	Kind               store.Kind  `json:"kind"`
	Scope              string      `json:"scope"`
	State              store.State `json:"state"`
	Phase              string      `json:"phase,omitempty"`
	BytesDone          count       `json:"bytes_done"`
	BytesTotal         count       `json:"bytes_total"`
	RateBytesPerSecond float64     `json:"rate_bytes_per_second"`
	ThrottledSeconds   float64     `json:"throttled_seconds"`
	AgeSeconds         float64     `json:"age_seconds"`
}

type debt struct {
	Kind                     store.Kind `json:"kind"`
	Scope                    string     `json:"scope"`
	Bytes                    count      `json:"bytes"`
	TriggerBytes             count      `json:"trigger_bytes"`
	LimitBytes               count      `json:"limit_bytes"`
	Files                    count      `json:"files"`
	EstimatedRecoverySeconds *float64   `json:"estimated_recovery_seconds,omitempty"`
}

type lease struct {
	Kind            store.Kind `json:"kind"`
	Scope           string     `json:"scope"`
	Setting         setting    `json:"setting"`
	Owner           string     `json:"owner"`
	TimeLeftSeconds float64    `json:"time_left_seconds"`
}

type setting struct {
	Name   store.SettingName `json:"name"`
	Number *float64          `json:"number,omitempty"`
	Text   *string           `json:"text,omitempty"`
}

type latency struct {
	Class           string  `json:"class"`
	AgeSeconds      float64 `json:"age_seconds"`
	IntervalSeconds float64 `json:"interval_seconds"`
	Count           count   `json:"count"`
	Errors          count   `json:"errors"`
	MeanSeconds     float64 `json:"mean_seconds"`
	P50Seconds      float64 `json:"p50_seconds"`
	P99Seconds      float64 `json:"p99_seconds"`
	P999Seconds     float64 `json:"p999_seconds"`
	MaxSeconds      float64 `json:"max_seconds"`
}

type scopeLatency struct {
	Scope string `json:"scope"`
	latency
}

// orderParams are the params of set and start; the schema of set has no variant.
type orderParams struct {
	Kind              store.Kind `json:"kind"`
	Scope             string     `json:"scope,omitempty"`
	Setting           *setting   `json:"setting,omitempty"`
	Owner             string     `json:"owner"`
	TimeToLiveSeconds float64    `json:"time_to_live_seconds"`
	Replace           bool       `json:"replace,omitempty"`

	Variant store.Variant `json:"variant,omitempty"`
}

type setResult struct {
	Lease lease `json:"lease"`
}

type clearParams struct {
	Owner string     `json:"owner"`
	Kind  store.Kind `json:"kind,omitempty"`
	Scope string     `json:"scope,omitempty"`
}

type clearResult struct {
	Cleared count `json:"cleared"`
}

type startResult struct{}

type abortParams struct {
	Kind  store.Kind `json:"kind"`
	Task  string     `json:"task"`
	Owner string     `json:"owner"`
}

type abortResult struct{}

// count is a whole number of at most 2^53-1. To JSON 1000, 1000.0 and 1e3 are the same one.
type count uint64

// maxCount is the largest number up to which a double holds every whole one.
const maxCount = 1<<53 - 1

// UnmarshalJSON takes any form of a whole number.
func (c *count) UnmarshalJSON(text []byte) error {
	var number float64
	if err := json.Unmarshal(text, &number); err != nil {
		return err
	}
	if number < 0 || number > maxCount || number != math.Trunc(number) {
		return fmt.Errorf("%v is not a whole number of at most %d", number, maxCount)
	}
	*c = count(number)
	return nil
}

// newCount bounds a number at what a count can hold.
func newCount(number uint64) count {
	return count(min(number, maxCount))
}
