// Package fixed gives settings by the time of day.
package fixed

import (
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // Time zones must be known on nodes that have no database of them.

	"sluice.dev/control/internal/policies/parameters"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
)

// Policy is the policy with its parameters.
type Policy struct {
	zone    *time.Location
	windows []window
	// otherwise is the setting outside of all windows, nil for none.
	otherwise *store.Setting
}

// window is a span of local time on some days. One that ends before it begins ends on the next day.
type window struct {
	days     []time.Weekday
	from, to time.Duration
	setting  store.Setting
	text     string
}

const clockFormat = "15:04"

// dayNames are the names of days in files, in the order of time.Weekday.
func dayNames() []string {
	return []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
}

// Parameters declares the parameters, and those of a window as "windows[].NAME".
func Parameters() []parameters.Parameter {
	declared := topParameters()
	for _, parameter := range windowParameters() {
		parameter.Name = "windows[]." + parameter.Name
		declared = append(declared, parameter)
	}
	return declared
}

func topParameters() []parameters.Parameter {
	return []parameters.Parameter{
		{
			Name: "time_zone", Type: parameters.Text, Required: true,
			Meaning: "Time zone of the windows, by its IANA name, such as Europe/Berlin or UTC.",
		},
		{
			Name: "windows", Type: parameters.Objects, Required: true,
			Meaning: "The windows; of several that hold, the first counts.",
		},
		{
			Name: "default_setting", Type: parameters.Text, Default: "",
			Meaning: "Setting outside of all windows; none lets the lease run out.",
		},
	}
}

func windowParameters() []parameters.Parameter {
	return []parameters.Parameter{
		{
			Name: "days", Type: parameters.TextList, Default: dayNames(), Choices: dayNames(),
			Meaning: "Days on which the window begins.",
		},
		{
			Name: "from", Type: parameters.Text, Required: true,
			Meaning: "Local time at which it begins, as HH:MM.",
		},
		{
			Name: "to", Type: parameters.Text, Required: true,
			Meaning: "Local time at which it ends, as HH:MM; on the next day if it is not after the begin.",
		},
		{
			Name: "setting", Type: parameters.Text, Required: true,
			Meaning: "What the store shall do, such as hold or rate_bytes_per_second=5e6.",
		},
	}
}

// New makes the policy from the parameters of a configuration file.
func New(given map[string]any) (policy.Policy, error) {
	values, err := parameters.Decode(topParameters(), given)
	if err != nil {
		return nil, err
	}
	built := &Policy{}
	name := values.Text("time_zone")
	if built.zone, err = time.LoadLocation(name); err != nil || name == "" || name == "Local" {
		return nil, store.Invalidf("time_zone %q is not known", name).
			WithHint("Give an IANA name, such as Europe/Berlin or UTC.")
	}
	if text := values.Text("default_setting"); text != "" {
		setting, err := paceSetting("default_setting", text)
		if err != nil {
			return nil, err
		}
		built.otherwise = &setting
	}
	for i, object := range values.Objects("windows") {
		parsed, err := newWindow(object)
		if err != nil {
			return nil, fmt.Errorf("windows[%d]: %w", i, err)
		}
		built.windows = append(built.windows, parsed)
	}
	return built, nil
}

func newWindow(given map[string]any) (window, error) {
	values, err := parameters.Decode(windowParameters(), given)
	if err != nil {
		return window{}, err
	}
	parsed := window{}
	for _, name := range values.TextList("days") {
		parsed.days = append(parsed.days, time.Weekday(slices.Index(dayNames(), name)))
	}
	if len(parsed.days) == 0 {
		return window{}, store.Invalidf("days is empty").WithHint("Name a day, or leave days out for every day.")
	}
	if parsed.from, err = clockTime("from", values.Text("from")); err != nil {
		return window{}, err
	}
	if parsed.to, err = clockTime("to", values.Text("to")); err != nil {
		return window{}, err
	}
	parsed.text = values.Text("from") + " to " + values.Text("to")
	parsed.setting, err = paceSetting("setting", values.Text("setting"))
	return parsed, err
}

// clockTime is a time of day as the time since midnight.
func clockTime(name, text string) (time.Duration, error) {
	parsed, err := time.Parse(clockFormat, text)
	if err != nil || len(text) != len(clockFormat) {
		return 0, store.Invalidf("%s is no time of day: %q", name, text).
			WithHint("Write HH:MM in quotes, from \"00:00\" to \"23:59\".")
	}
	return sinceMidnight(parsed), nil
}

// paceSetting reads a setting of the only aspect that policies set.
func paceSetting(name, text string) (store.Setting, error) {
	setting, err := store.ParseSetting(text)
	if err != nil {
		return store.Setting{}, fmt.Errorf("%s: %w", name, err)
	}
	if setting.Aspect() != store.AspectPace {
		return store.Setting{}, store.Invalidf("%s is %s, which is no pace", name, setting.Name).
			WithHint("Give rate_bytes_per_second=N, duration_seconds=N, hold, full or stock.")
	}
	return setting, nil
}

func sinceMidnight(at time.Time) time.Duration {
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute +
		time.Duration(at.Second())*time.Second
}

// Decide implements policy.Policy. It needs no memory.
func (p *Policy) Decide(view policy.View, target policy.Target, memory policy.Memory) (policy.Decision, policy.Memory) {
	if !target.Fresh {
		return policy.StopFor(target, target.Missing), memory
	}
	local := view.WallClock.In(p.zone)
	setting, reason := p.settingAt(local)
	if setting != nil && !supports(target, setting.Name) {
		return policy.StopFor(target, fmt.Sprintf("the store cannot set %s of %s: choose another setting",
			setting.Name, target.Kind)), memory
	}
	inputs := map[string]float64{"local_time_of_day_seconds": sinceMidnight(local).Seconds()}
	if setting != nil {
		return policy.SettingFor(target, *setting, reason, inputs), memory
	}
	decision := policy.StopFor(target, reason)
	decision.Inputs = inputs
	if target.Lease == nil {
		decision.Verdict = policy.Keep
	}
	return decision, memory
}

func (p *Policy) settingAt(local time.Time) (*store.Setting, string) {
	now := fmt.Sprintf("%s %s %s", strings.ToLower(local.Weekday().String()[:3]), local.Format(clockFormat), p.zone)
	for _, candidate := range p.windows {
		if candidate.holdsAt(local) {
			return &candidate.setting, fmt.Sprintf("%s is in the window from %s", now, candidate.text)
		}
	}
	return p.otherwise, now + " is outside of all windows"
}

// holdsAt goes by what a clock on the wall shows: an hour that is skipped in spring has no window, one
// that comes twice in autumn has its window twice.
func (w window) holdsAt(local time.Time) bool {
	at := sinceMidnight(local)
	today := slices.Contains(w.days, local.Weekday())
	if w.from < w.to {
		return today && at >= w.from && at < w.to
	}
	yesterday := slices.Contains(w.days, (local.Weekday()+6)%7)
	return today && at >= w.from || yesterday && at < w.to
}

func supports(target policy.Target, name store.SettingName) bool {
	for _, offered := range target.Description.Capabilities {
		if offered.Kind == target.Kind && slices.Contains(offered.Settings, name) {
			return true
		}
	}
	return false
}
