package store

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Setting is the value that an order gives to the tasks of a kind.
type Setting struct {
	Name SettingName
	// Number is the value of settings that have one, in the unit that the name ends in.
	Number float64
	// Text is the value of settings that are a name, such as Tier.
	Text string
}

// Aspect is what this setting competes for with others; empty for a name that is not known.
func (s Setting) Aspect() Aspect {
	return settingForms[s.Name].aspect
}

// HasNumber says whether settings of this name have a number as their value.
func (n SettingName) HasNumber() bool {
	return settingForms[n].value == numberValue
}

// HasText says whether settings of this name have a text as their value.
func (n SettingName) HasText() bool {
	return settingForms[n].value == textValue
}

// SettingNames lists every name, sorted.
func SettingNames() []SettingName {
	names := make([]SettingName, 0, len(settingForms))
	for name := range settingForms {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Validate says what is wrong with a setting: an unknown name, a value that is missing, out of range
// or not for this name, a text that is too long or not printable.
func (s Setting) Validate() error {
	if err := s.ValidateValue(); err != nil {
		return err
	}
	return ValidateText("value of "+string(s.Name), s.Text, maxTextBytes)
}

// ValidateValue does the same without a look at the text.
func (s Setting) ValidateValue() error {
	form, known := settingForms[s.Name]
	switch {
	case !known:
		return Invalidf("the setting %q is not known", s.Name).
			WithHint("Known settings: %s.", joinNames(SettingNames()))
	case form.value != textValue && s.Text != "":
		return Invalidf("%s takes no text, but has %q", s.Name, s.Text)
	case form.value == textValue && s.Text == "":
		return Invalidf("%s needs a name as its value", s.Name)
	case form.value != numberValue && s.Number != 0:
		return Invalidf("%s takes no number, but has %v", s.Name, s.Number)
	case math.IsNaN(s.Number) || math.IsInf(s.Number, 0) || s.Number < form.least:
		return Invalidf("%s must be a number of at least %v, not %v", s.Name, form.least, s.Number)
	}
	return nil
}

// String is the form that ParseSetting reads: "hold", "rate_bytes_per_second=6e+06", "tier=ssd".
func (s Setting) String() string {
	switch settingForms[s.Name].value {
	case numberValue:
		return fmt.Sprintf("%s=%s", s.Name, strconv.FormatFloat(s.Number, 'g', -1, 64))
	case textValue:
		return fmt.Sprintf("%s=%s", s.Name, s.Text)
	default:
		return string(s.Name)
	}
}

// maxExact is the number from which on a float64 has no fractions.
const maxExact = 1 << 53

// rounded is a setting as precise as every store keeps it: whole bytes, and microseconds. A policy compares what it
// wants with what a store has, and would else change it for ever.
func (s Setting) rounded() Setting {
	parts := s.Name.partsOfUnit()
	if parts > 0 && s.Number*parts < maxExact {
		s.Number = math.Round(s.Number*parts) / parts
	}
	return s
}

// partsOfUnit is into how many parts the unit of a name is divided; 0 for one that is not rounded.
func (n SettingName) partsOfUnit() float64 {
	switch name := string(n); {
	case strings.HasSuffix(name, "_bytes"), strings.HasSuffix(name, "_bytes_per_second"):
		return 1
	case strings.HasSuffix(name, "_seconds"):
		return 1e6
	default:
		return 0
	}
}

// ParseSetting reads "name" or "name=value", validates it, and rounds it to whole bytes or microseconds.
func ParseSetting(text string) (Setting, error) {
	name, value, hasValue := strings.Cut(text, "=")
	setting := Setting{Name: SettingName(name)}
	switch {
	case setting.Name.HasText():
		setting.Text = value
	case setting.Name.HasNumber():
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return Setting{}, Invalidf("%s needs a number, as in %s=1000000, not %q", name, name, value)
		}
		setting.Number = number
	case hasValue:
		return Setting{}, Invalidf("%s takes no value, but has %q", name, value)
	}
	if err := setting.Validate(); err != nil {
		return Setting{}, err
	}
	return setting.rounded(), nil
}

func joinNames(names []SettingName) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return strings.Join(texts, ", ")
}
