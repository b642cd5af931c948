package wire

import (
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
)

// What follows reads the form that protobuf gives a message without making the message: of ten thousand
// reports a second, that was what most of the work went to. It reads what agents send in fact. Whatever is
// odd, be it wrong, of a newer version, or only written in another way, is left to the package proto and the
// Decode functions of this one, which also have the errors: so nothing is accepted here that is not there.

// Types of fields, in the last three bits of their tags.
const (
	varintField  = uint64(protowire.VarintType)
	fixed64Field = uint64(protowire.Fixed64Type)
	bytesField   = uint64(protowire.BytesType)
)

// scan goes through the fields of an encoded message.
type scan struct {
	rest []byte
	// tag is that of the field: its number, shifted by three bits, and its type.
	tag uint64
	// number and bytes are its value, whichever its type has.
	number uint64
	bytes  []byte
	// seen has a bit for each field that may be there once, by its number.
	seen uint32
	// isOdd is set where the message is to be left to others.
	isOdd *bool
}

// next goes on to the next field, if there is one.
func (s *scan) next() bool {
	if len(s.rest) == 0 || *s.isOdd {
		return false
	}
	number, kind, length := protowire.ConsumeTag(s.rest)
	if length < 0 || number > protowire.MaxValidNumber {
		s.odd()
		return false
	}
	s.rest = s.rest[length:]
	s.tag = protowire.EncodeTag(number, kind)
	switch kind {
	case protowire.VarintType:
		s.number, length = protowire.ConsumeVarint(s.rest)
	case protowire.Fixed64Type:
		s.number, length = protowire.ConsumeFixed64(s.rest)
	case protowire.BytesType:
		s.bytes, length = protowire.ConsumeBytes(s.rest)
	default:
		length = protowire.ConsumeFieldValue(number, kind, s.rest)
	}
	if length < 0 {
		s.odd()
		return false
	}
	s.rest = s.rest[length:]
	return true
}

func (s *scan) odd() {
	*s.isOdd = true
}

// need is for what a message must have.
func (s *scan) need(isThere bool) {
	if !isThere {
		s.odd()
	}
}

// has says whether a field that may be there once was there.
func (s *scan) has(number int) bool {
	return s.seen&(1<<number) != 0
}

// message is the message in a field. One that is there twice would have to be merged.
func (s *scan) message() scan {
	field := uint32(1) << (s.tag >> 3)
	s.need(s.seen&field == 0)
	s.seen |= field
	return s.element()
}

// element is the message in a field that may be there many times.
func (s *scan) element() scan {
	return scan{rest: s.bytes, isOdd: s.isOdd}
}

// text takes the last text of this field where it is the same: it was looked at, and has its memory.
func (s *scan) text(last string, mostBytes int) string {
	if string(s.bytes) == last {
		return last
	}
	text := string(s.bytes)
	s.need(store.ValidateText("", text, mostBytes) == nil)
	return text
}

func (s *scan) duration() time.Duration {
	var seconds, nanos uint64
	inner := s.message()
	for inner.next() {
		switch inner.tag {
		case 1<<3 | varintField:
			seconds = inner.number
		case 2<<3 | varintField:
			nanos = inner.number
		}
	}
	if seconds >= uint64(maxDuration/time.Second) || nanos >= uint64(time.Second) {
		s.odd()
		return 0
	}
	return time.Duration(seconds)*time.Second + time.Duration(nanos)
}

// real reads any number but those that are none.
func (s *scan) real() float64 {
	number := math.Float64frombits(s.number)
	s.need(isFinite(number))
	return number
}

func (s *scan) quantity() float64 {
	number := s.real()
	s.need(number >= 0)
	return number
}

func (s *scan) share() float64 {
	number := s.quantity()
	s.need(number <= 1)
	return number
}

func (s *scan) kind() store.Kind {
	// A kind without a name is found missing at the end of the message.
	return kinds[sluicev1.Kind(int32(s.number))]
}
