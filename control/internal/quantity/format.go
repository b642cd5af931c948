package quantity

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"sluice.dev/control/internal/store"
)

// shownDigits is how much of a number people are shown.
const shownDigits = 3

// FormatBytes writes bytes with three digits and the suffix that fits: "1.5MB".
func FormatBytes(bytes float64) string {
	if math.IsNaN(bytes) || math.IsInf(bytes, 0) || bytes < 0 {
		return "?"
	}
	rounded := round(bytes)
	for _, known := range byteSuffixes {
		if rounded >= known.factor {
			return plain(round(rounded/known.factor)) + known.suffix
		}
	}
	return plain(math.Round(bytes)) + "B"
}

// FormatRate writes bytes per second as FormatBytes does bytes: "1.5MB/s".
func FormatRate(bytesPerSecond float64) string {
	return FormatBytes(bytesPerSecond) + "/s"
}

// FormatShare writes a share, 0 to 1, in per cent: "42%".
func FormatShare(share float64) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return "?"
	}
	return strconv.FormatFloat(math.Round(share*100), 'f', 0, 64) + "%"
}

// FormatDuration writes a duration so that it can be taken in at a glance: "350us", "12.5ms", "4.2s",
// "2m5s", "3h20m", "2d4h".
func FormatDuration(duration time.Duration) string {
	if duration < 0 {
		return "-" + FormatDuration(-max(duration, -math.MaxInt64))
	}
	seconds := round(duration.Seconds())
	switch {
	case seconds == 0:
		return "0s"
	case seconds < 1e-6:
		return plain(round(seconds*1e9)) + "ns"
	case seconds < 1e-3:
		return plain(round(seconds*1e6)) + "us"
	case seconds < 1:
		return plain(round(seconds*1e3)) + "ms"
	case seconds < 60:
		return plain(math.Round(duration.Seconds()*10)/10) + "s"
	}
	return longDuration(duration.Round(time.Second))
}

// longDuration writes a duration of a minute or more with the two units that matter most.
func longDuration(duration time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case duration < time.Hour:
		return fmt.Sprintf("%dm%ds", duration/time.Minute, duration%time.Minute/time.Second)
	case duration < day:
		return fmt.Sprintf("%dh%dm", duration/time.Hour, duration%time.Hour/time.Minute)
	default:
		return fmt.Sprintf("%dd%dh", duration/day, duration%day/time.Hour)
	}
}

// FormatSetting writes a setting with the suffix of its unit, in a form that ParseSetting reads.
func FormatSetting(setting store.Setting) string {
	if !setting.Name.HasNumber() {
		return setting.String()
	}
	return string(setting.Name) + "=" + formatNumber(setting.Number, UnitOf(setting.Name))
}

func formatNumber(number float64, unit Unit) string {
	switch unit {
	case Bytes:
		return FormatBytes(number)
	case BytesPerSecond:
		return FormatRate(number)
	case Seconds:
		return plain(round(number)) + "s"
	default:
		return plain(number)
	}
}

// round keeps the digits that are shown.
func round(number float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(number, 'g', shownDigits, 64), 64)
	if err != nil {
		return number
	}
	return rounded
}

func plain(number float64) string {
	return strconv.FormatFloat(number, 'f', -1, 64)
}
