// Package servicelevel holds what people ask for: response-time targets of parts of stores, the model of what they
// cost, and the admission that says no when a cluster cannot give it. It decides nothing while a store runs; that
// is for the policy service-level.
package servicelevel

import (
	"fmt"
	"math"
	"time"

	"sluice.dev/control/internal/store"
)

// Locality is how the reads of an application are spread over its rows.
type Locality string

// The localities that have a model.
const (
	// Random reads every row equally often.
	Random Locality = "random"
	// Zipfian reads the row of rank r with a probability in proportion to r to the power of -0.99, as YCSB does.
	Zipfian Locality = "zipfian"
)

// Statistic is which figure of the response time a target is about.
type Statistic string

// The statistics that stores tell.
const (
	Mean Statistic = "mean"
	P50  Statistic = "p50"
	P99  Statistic = "p99"
	P999 Statistic = "p999"
)

// quantiles has the share of requests that a percentile is about; the mean has none.
var quantiles = map[Statistic]float64{P50: 0.5, P99: 0.99, P999: 0.999}

// Quantile is the share of requests that are to be within the target, and whether it is about such a share.
func (s Statistic) Quantile() (float64, bool) {
	quantile, isQuantile := quantiles[s]
	return quantile, isQuantile
}

// Of is this statistic of one interval of a store.
func (s Statistic) Of(latency store.Latency) time.Duration {
	switch s {
	case P50:
		return latency.P50
	case P99:
		return latency.P99
	case P999:
		return latency.P999
	default:
		return latency.Mean
	}
}

// Profile is roughly how an application behaves.
type Profile struct {
	// DataBytes is how much data it has in all, on all nodes together.
	DataBytes float64  `yaml:"data_bytes" json:"data_bytes"`
	Locality  Locality `yaml:"locality" json:"locality"`
	RowBytes  float64  `yaml:"row_bytes" json:"row_bytes"`
	// ReadShare is the share of its operations that read, above 0 to 1.
	ReadShare float64 `yaml:"read_share" json:"read_share"`
}

// Place is where response times are measured.
type Place string

// The places. What is kept and sent has nothing for AtStore, as before there were places.
const (
	AtStore  Place = ""
	AtClient Place = "client"
)

// PlaceOf is the place that a word stands for: "store" may be written as well as left out.
func PlaceOf(word Place) Place {
	if word == "store" {
		return AtStore
	}
	return word
}

// Target is the response time that reads shall have.
type Target struct {
	Statistic  Statistic `yaml:"statistic" json:"statistic"`
	Seconds    float64   `yaml:"seconds" json:"seconds"`
	MeasuredAt Place     `yaml:"measured_at" json:"measured_at,omitempty"`
}

// Where says where a target is measured, in sentences: nothing at the store, which is the usual.
func (t Target) Where() string {
	if t.MeasuredAt == AtClient {
		return " as clients measure it"
	}
	return ""
}

// Object is a service level: what an application needs of a part of a store, and up to what load.
type Object struct {
	Name string `yaml:"name" json:"name"`
	// Store is the kind of store, Scope the part of it, such as a table or "TABLE/FAMILY".
	Store   string  `yaml:"store" json:"store"`
	Scope   string  `yaml:"scope" json:"scope"`
	Profile Profile `yaml:"profile" json:"profile"`
	Target  Target  `yaml:"target" json:"target"`
	// MostOperationsPerSecond is the load up to which the target is promised, on all nodes together.
	MostOperationsPerSecond float64 `yaml:"most_operations_per_second" json:"most_operations_per_second"`
	// Weight is its share where there is not enough for all, against that of others.
	Weight float64 `yaml:"weight" json:"weight"`
	// Version changes with each change of the object; empty for one that is not stored.
	Version string `yaml:"version" json:"version,omitempty"`
}

// ReadsPerSecond is the load of reads up to which the target is promised.
func (o Object) ReadsPerSecond() float64 {
	return o.MostOperationsPerSecond * o.Profile.ReadShare
}

// String names an object in sentences.
func (o Object) String() string {
	return fmt.Sprintf("%s (%s of %s)", o.Name, o.Scope, o.Store)
}

// SameDemand says whether two objects ask for the same, whatever their versions.
func (o Object) SameDemand(other Object) bool {
	o.Version, other.Version = "", ""
	return o == other
}

// check says what is wrong with an object that a schema cannot see.
func (o Object) check() error {
	for name, number := range map[string]float64{
		"profile.data_bytes": o.Profile.DataBytes, "profile.row_bytes": o.Profile.RowBytes,
		"target.seconds": o.Target.Seconds, "most_operations_per_second": o.MostOperationsPerSecond, "weight": o.Weight,
	} {
		if math.IsNaN(number) || math.IsInf(number, 0) || number <= 0 {
			return store.Invalidf("%s of %s is %v, which is no number above 0", name, o.Name, number)
		}
	}
	if o.Profile.RowBytes > o.Profile.DataBytes {
		return store.Invalidf("profile.row_bytes of %s is %v, more than profile.data_bytes, %v",
			o.Name, o.Profile.RowBytes, o.Profile.DataBytes).
			WithHint("data_bytes is the size of all of its data, row_bytes that of one row.")
	}
	return store.ValidateText("scope of "+o.Name, o.Scope, maxScopeBytes)
}

const maxScopeBytes = 1024
