// Package quantity reads and writes quantities as people do, with SI suffixes: "6MB", "500kB", "2s".
// What it writes it also reads.
package quantity

import (
	"math"
	"strconv"
	"strings"
	"time"

	"sluice.dev/control/internal/store"
)

// Unit is what a number counts.
type Unit int

// The units of the vocabulary's settings.
const (
	// Count has no unit.
	Count Unit = iota
	// Bytes are written as B, kB, MB, GB, TB, PB; each is 1000 times the one before.
	Bytes
	// BytesPerSecond are written as bytes, with or without "/s".
	BytesPerSecond
	// Seconds are written as ns, us, ms, s, m, h, also one after the other: "1m30s".
	Seconds
)

// UnitOf is the unit that the name of a setting ends in.
func UnitOf(name store.SettingName) Unit {
	text := string(name)
	switch {
	case strings.HasSuffix(text, "_bytes_per_second"):
		return BytesPerSecond
	case strings.HasSuffix(text, "_bytes"):
		return Bytes
	case strings.HasSuffix(text, "_seconds"):
		return Seconds
	default:
		return Count
	}
}

// Example is a quantity of the unit, as people write it.
func (u Unit) Example() string {
	return [...]string{Count: "2", Bytes: "200MB", BytesPerSecond: "6MB", Seconds: "1.5s"}[u]
}

// byteSuffixes lists the suffixes that bytes are written with, the largest first.
var byteSuffixes = []struct {
	suffix   string
	factor   float64
	exponent string
}{
	{"PB", 1e15, "e15"}, {"TB", 1e12, "e12"}, {"GB", 1e9, "e9"}, {"MB", 1e6, "e6"}, {"kB", 1e3, "e3"}, {"B", 1, "e0"},
}

// ParseSetting reads "name" or "name=value", the value with or without a suffix, and validates it.
// Errors are of type *store.Error.
func ParseSetting(text string) (store.Setting, error) {
	name, value, hasValue := strings.Cut(text, "=")
	setting := store.SettingName(name)
	if !hasValue || !setting.HasNumber() {
		return store.ParseSetting(text)
	}
	number, err := Parse(value, UnitOf(setting))
	if err != nil {
		return store.Setting{}, err
	}
	parsed := store.Setting{Name: setting, Number: number}
	if err := parsed.Validate(); err != nil {
		return store.Setting{}, err
	}
	return parsed, nil
}

// Parse reads a number in a unit, with or without a suffix. It is finite and not negative. Errors are
// of type *store.Error.
func Parse(text string, unit Unit) (float64, error) {
	number, err := parseSuffixed(text, unit)
	if err != nil {
		return 0, err
	}
	if math.IsNaN(number) || math.IsInf(number, 0) || number < 0 {
		return 0, invalid(text, unit)
	}
	return number, nil
}

func parseSuffixed(text string, unit Unit) (float64, error) {
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		return number, nil
	}
	switch unit {
	case Bytes:
		return parseBytes(text, text, unit)
	case BytesPerSecond:
		return parseBytes(text, strings.TrimSuffix(text, "/s"), unit)
	case Seconds:
		return parseSeconds(text)
	default:
		return 0, invalid(text, unit)
	}
}

func parseBytes(text, withoutRate string, unit Unit) (float64, error) {
	for _, known := range byteSuffixes {
		mantissa, found := strings.CutSuffix(withoutRate, known.suffix)
		if !found {
			continue
		}
		// Read as one number, it is rounded once: 1.000001TB are 1000001000000 bytes.
		number, err := strconv.ParseFloat(mantissa+known.exponent, 64)
		if err != nil {
			break
		}
		return number, nil
	}
	return 0, invalid(text, unit)
}

func parseSeconds(text string) (float64, error) {
	duration, err := time.ParseDuration(text)
	if err != nil {
		return 0, invalid(text, Seconds)
	}
	return duration.Seconds(), nil
}

func invalid(text string, unit Unit) error {
	switch unit {
	case Bytes, BytesPerSecond:
		return store.Invalidf("%q is not a number of bytes", text).
			WithHint("Write it as in %s, with B, kB, MB, GB, TB or PB, each 1000 times the one before, "+
				"or as a plain number.", unit.Example())
	case Seconds:
		return store.Invalidf("%q is not a time", text).
			WithHint("Write it as in %s, with ns, us, ms, s, m or h, or as a plain number of seconds.",
				unit.Example())
	default:
		return store.Invalidf("%q is not a number", text).
			WithHint("Write it as in %s, not negative and without a unit.", unit.Example())
	}
}
