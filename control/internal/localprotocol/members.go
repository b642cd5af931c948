package localprotocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxSeconds bounds every duration, leastTimeToLiveSeconds one that an order may ask for.
	maxSeconds             = 1e9
	leastTimeToLiveSeconds = 0.001
	// maxTextCharacters bounds scopes, ids and other texts that a store makes up.
	maxTextCharacters  = 1024
	maxOwnerCharacters = 63
)

// members are those of a JSON object, in the form that encoding/json gives to any. They are read and
// checked one by one, by the rules of proto/local; the first that is wrong is kept as the error, so that
// an object is read in one expression and checked once. Those that nobody reads are ignored.
type members struct {
	values map[string]any
	err    error
}

// readObject reads an object with a function for its members.
func readObject[T any](document any, read func(*members) T) (T, error) {
	var nothing T
	values, isObject := document.(map[string]any)
	if !isObject {
		return nothing, fmt.Errorf("must be an object, not %s", shown(document))
	}
	m := &members{values: values}
	result := read(m)
	if m.err != nil {
		return nothing, m.err
	}
	return result, nil
}

// objectAt reads a member that is an object.
func objectAt[T any](m *members, name string, read func(*members) T) T {
	m.mustHave(name, true)
	object, err := readObject(m.values[name], read)
	if err != nil {
		m.fail(name, err)
	}
	return object
}

// objectsAt reads a member that is an array of objects.
func objectsAt[T any](m *members, name string, read func(*members) T) []T {
	list := m.list(name)
	objects := make([]T, len(list))
	for i, document := range list {
		object, err := readObject(document, read)
		if err != nil {
			m.fail(fmt.Sprintf("%s/%d", name, i), err)
			return nil
		}
		objects[i] = object
	}
	return objects
}

// namesAt reads a member that is an array of different names.
func namesAt[T ~string](m *members, name string, form nameForm) []T {
	list := m.list(name)
	names := make([]T, len(list))
	seen := make(map[string]bool, len(list))
	for i, value := range list {
		text, isText := value.(string)
		if !isText || !form.matches(text) || seen[text] {
			m.fail(fmt.Sprintf("%s/%d", name, i), fmt.Errorf("must be %v, and there once, not %s", form, shown(value)))
			return nil
		}
		names[i], seen[text] = T(text), true
	}
	return names
}

// fail keeps what is wrong with a member, which is named in full by those around it.
func (m *members) fail(name string, err error) {
	if m.err == nil {
		m.err = fmt.Errorf("%s: %w", name, err)
	}
}

// refuse says what a member must be.
func (m *members) refuse(name, format string, arguments ...any) {
	m.mustHave(name, true)
	m.fail(name, fmt.Errorf("must be %s, not %s", fmt.Sprintf(format, arguments...), shown(m.values[name])))
}

// mustHave says whether a member must be there, or must not.
func (m *members) mustHave(name string, wanted bool) {
	switch {
	case wanted && !m.has(name):
		m.fail(name, errors.New("is missing"))
	case !wanted && m.has(name):
		m.fail(name, errors.New("must be left out"))
	}
}

// shown is the beginning of a value as JSON.
func shown(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%.70s", text)
}

func (m *members) has(name string) bool {
	_, given := m.values[name]
	return given
}

func (m *members) list(name string) []any {
	list, isList := m.values[name].([]any)
	if !isList {
		m.refuse(name, "an array")
	}
	return list
}

func (m *members) boolean(name string) bool {
	value, isBoolean := m.values[name].(bool)
	if !isBoolean {
		m.refuse(name, "true or false")
	}
	return value
}

// number reads a number between two bounds, which are allowed themselves.
func (m *members) number(name string, least, most float64) float64 {
	number, isNumber := m.values[name].(float64)
	if !isNumber || number < least || number > most {
		m.refuse(name, "a number of %v to %v", least, most)
		return 0
	}
	return number
}

// quantity reads a number that cannot be negative.
func (m *members) quantity(name string) float64 {
	return m.number(name, 0, math.MaxFloat64)
}

// seconds reads a duration.
func (m *members) seconds(name string) float64 {
	return m.number(name, 0, maxSeconds)
}

// whole reads a whole number, however it is written.
func (m *members) whole(name string, least, most float64) float64 {
	number := m.number(name, least, most)
	if number != math.Trunc(number) {
		m.refuse(name, "a whole number")
	}
	return number
}

// count reads a whole number of at most maxCount.
func (m *members) count(name string) uint64 {
	return uint64(m.whole(name, 0, maxCount))
}

// text reads a text of a bounded number of characters.
func (m *members) text(name string, least, most int) string {
	text, isText := m.values[name].(string)
	if characters := utf8.RuneCountInString(text); !isText || characters < least || characters > most {
		m.refuse(name, "a text of %d to %d characters", least, most)
	}
	return text
}

// line reads a text without control characters.
func (m *members) line(name string, least, most int) string {
	text := m.text(name, least, most)
	if strings.ContainsFunc(text, unicode.IsControl) {
		m.refuse(name, "a text without control characters")
	}
	return text
}

// name reads a text of a form.
func (m *members) name(name string, form nameForm) string {
	text, isText := m.values[name].(string)
	if !isText || !form.matches(text) {
		m.refuse(name, "%v", form)
	}
	return text
}

const (
	lowerCase = "abcdefghijklmnopqrstuvwxyz"
	upperCase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits    = "0123456789"
)

// nameForm is a form of names: a first character, and others after it. All are ASCII.
type nameForm struct {
	first, others string
	most          int
}

var (
	storeForm    = nameForm{lowerCase + digits, lowerCase + digits + "._-", 63}
	instanceForm = nameForm{lowerCase + upperCase + digits, lowerCase + upperCase + digits + "._-", 63}
	// wordForm is that of kinds, states and classes of requests.
	wordForm    = nameForm{lowerCase, lowerCase + digits + "-", 63}
	settingForm = nameForm{lowerCase, lowerCase + digits + "_", 63}
	figureForm  = nameForm{lowerCase, lowerCase + digits + "_", 128}
)

func (f nameForm) matches(text string) bool {
	return text != "" && len(text) <= f.most &&
		strings.Contains(f.first, text[:1]) && strings.Trim(text[1:], f.others) == ""
}

// String says what a name must be.
func (f nameForm) String() string {
	return fmt.Sprintf("a name of at most %d of the characters %s, the first of %s", f.most, f.others, f.first)
}
