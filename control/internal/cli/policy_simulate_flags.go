package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"sluice.dev/control/internal/cli/simulation"
	"sluice.dev/control/internal/quantity"
	"sluice.dev/control/internal/simulator"
)

// loadFlag is a choice that ends up in the settings.
type loadFlag struct {
	*choice
	settings *simulation.Settings
}

func (l loadFlag) Set(value string) error {
	if err := l.choice.Set(value); err != nil {
		return err
	}
	l.settings.Load = value
	return nil
}

// amount is the value of a flag that is a number of bytes, of bytes per second, or of things.
type amount struct {
	number *float64
	unit   quantity.Unit
}

// String is empty for 0, so that help shows no default.
func (a amount) String() string {
	switch {
	case a.number == nil || *a.number == 0:
		return ""
	case a.unit == quantity.Count:
		return formatNumber(*a.number)
	case a.unit == quantity.BytesPerSecond:
		return quantity.FormatRate(*a.number)
	default:
		return quantity.FormatBytes(*a.number)
	}
}

// Type is what help calls the value.
func (a amount) Type() string { return "bytes" }

func (a amount) Set(text string) error {
	number, err := quantity.Parse(text, a.unit)
	if err != nil {
		return err
	}
	*a.number = number
	return nil
}

// share is the value of a flag that is a share of 1.
type share float64

// String is empty for 0, so that help shows no default.
func (s *share) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*s), 'g', -1, 64)
}

// Type is what help calls the value.
func (s *share) Type() string { return "share" }

func (s *share) Set(text string) error {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(number) || number < 0 || number > 1 {
		return errors.New("it is a share from 0 to 1, as in 0.2")
	}
	*s = share(number)
	return nil
}

// duration is the value of a flag that is a time, or none.
type duration time.Duration

// String is empty for no time, so that help shows no default.
func (d *duration) String() string { return (*positiveDuration)(d).String() }

// Type is what help calls the value.
func (d *duration) Type() string { return "time" }

func (d *duration) Set(text string) error {
	parsed, err := time.ParseDuration(text)
	if err != nil || parsed < 0 {
		return errors.New("it is a time, as in 0s, 500ms or 1m30s")
	}
	*d = duration(parsed)
	return nil
}

// instant is the value of a flag that is a date with its time of day.
type instant time.Time

func (i *instant) String() string { return time.Time(*i).Format(time.RFC3339) }

// Type is what help calls the value.
func (i *instant) Type() string { return "date" }

func (i *instant) Set(text string) error {
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return errors.New("it is a date with a time of day and a zone, as in 2026-01-31T22:30:00Z")
	}
	*i = instant(parsed)
	return nil
}

// spans is the value of a flag that adds a span of time each time that it is given.
type spans []simulator.Span

func (s *spans) String() string {
	var texts []string
	for _, span := range *s {
		texts = append(texts, fmt.Sprintf("%v-%v", span.From, span.To))
	}
	return strings.Join(texts, ",")
}

// Type is what help calls the value.
func (s *spans) Type() string { return "from-to" }

func (s *spans) Set(text string) error {
	first, last, _ := strings.Cut(text, "-")
	from, fromErr := time.ParseDuration(first)
	to, toErr := time.ParseDuration(last)
	if fromErr != nil || toErr != nil || from < 0 || to <= from {
		return errors.New("it is a begin and an end after it, since the start, as in 100s-2m")
	}
	*s = append(*s, simulator.Span{From: from, To: to})
	return nil
}

// signals is the value of a flag that adds a signal each time that it is given.
type signals map[string]float64

func (s *signals) String() string { return "" }

// Type is what help calls the value.
func (s *signals) Type() string { return "name=number" }

func (s *signals) Set(text string) error {
	name, value, _ := strings.Cut(text, "=")
	number, err := strconv.ParseFloat(value, 64)
	if err != nil || name == "" {
		return errors.New("it is the name of a signal and a number, as in p99=0.02")
	}
	if *s == nil {
		*s = make(signals)
	}
	(*s)[name] = number
	return nil
}
