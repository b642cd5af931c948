// Package reference is a store that lives in memory, with simulated compactions that obey orders as
// those of a real store do. It shows the authors of plug-ins what the local protocol asks for, and
// gives agents and policies something to work on. It stores nothing.
//
// Time passes in ticks of a clock that the caller gives, so that a test can run hours in no time.
package reference

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"time"

	"sluice.dev/control/internal/store"
)

// StoreName is what the store calls itself; its socket is in the folder of this name.
const StoreName = "reference"

// instancePattern keeps an instance a name of a file, and what a description may carry.
var instancePattern = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$`)

// Config says how large and how fast the simulated store is.
type Config struct {
	Instance string
	// Version is what it gives as its own and as the plug-in's.
	Version string
	// Seed decides when bursts begin and end.
	Seed uint64
	// Scopes are the names of its tables. The first takes the most writes: each one its place's
	// reciprocal as its share.
	Scopes []string
	// WriteBytesPerSecond is written by clients between bursts, BurstBytesPerSecond during them.
	WriteBytesPerSecond float64
	BurstBytesPerSecond float64
	// DeviceBytesPerSecond is what clients and compactions share; clients go first.
	DeviceBytesPerSecond float64
	// FullBytesPerSecond is the most that one compaction can do, StockBytesPerSecond its pace without
	// any order.
	FullBytesPerSecond  float64
	StockBytesPerSecond float64
	// TriggerBytes is the debt at which the compaction of a table is queued.
	TriggerBytes uint64
	// LimitBytes is the debt of all tables at which writes stall and every lease ends.
	LimitBytes uint64
	// Concurrency is how many compactions run at once without any order.
	Concurrency   int
	MaxTimeToLive time.Duration
}

// DefaultConfig is a store of three tables, whose bursts compactions at their stock pace disturb.
func DefaultConfig() Config {
	return Config{
		Instance:             "main",
		Version:              "devel",
		Seed:                 1,
		Scopes:               []string{"orders", "events", "users"},
		WriteBytesPerSecond:  10e6,
		BurstBytesPerSecond:  40e6,
		DeviceBytesPerSecond: 100e6,
		FullBytesPerSecond:   80e6,
		StockBytesPerSecond:  25e6,
		TriggerBytes:         64e6,
		LimitBytes:           1e9,
		Concurrency:          2,
		MaxTimeToLive:        10 * time.Minute,
	}
}

// Validate says what is wrong with a configuration.
func (c Config) Validate() error {
	return errors.Join(
		validateInstance(c.Instance),
		positive("WriteBytesPerSecond", c.WriteBytesPerSecond),
		positive("BurstBytesPerSecond", c.BurstBytesPerSecond),
		positive("DeviceBytesPerSecond", c.DeviceBytesPerSecond),
		positive("FullBytesPerSecond", c.FullBytesPerSecond),
		positive("StockBytesPerSecond", c.StockBytesPerSecond),
		positive("TriggerBytes", float64(c.TriggerBytes)),
		positive("LimitBytes", float64(c.LimitBytes)),
		positive("Concurrency", float64(c.Concurrency)),
		positive("MaxTimeToLive", c.MaxTimeToLive.Seconds()),
		validateScopes(c.Scopes),
	)
}

func validateInstance(instance string) error {
	if instancePattern.MatchString(instance) {
		return nil
	}
	return fmt.Errorf("instance must match %v, unlike %q", instancePattern, instance)
}

func positive(name string, value float64) error {
	if value > 0 && !math.IsInf(value, 0) {
		return nil
	}
	return fmt.Errorf("%s must be a positive number, not %v", name, value)
}

func validateScopes(scopes []string) error {
	if len(scopes) == 0 {
		return errors.New("scopes must have at least one name")
	}
	for i, scope := range scopes {
		if scope == "" || slices.Contains(scopes[:i], scope) {
			return fmt.Errorf("scopes must be different names, none of them empty: %q", scopes)
		}
	}
	return nil
}

// variants are what a start may ask for.
func variants() []store.Variant {
	return []store.Variant{store.Minor, store.Major}
}

// settings are what can be ordered of compactions here.
func settings() []store.SettingName {
	return []store.SettingName{
		store.RateBytesPerSecond, store.Hold, store.DurationSeconds, store.Full, store.Stock,
		store.DeferUntilDebtBytes, store.Concurrency,
	}
}
