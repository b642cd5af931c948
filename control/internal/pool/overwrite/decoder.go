package overwrite

import "encoding/binary"

// decoder reads numbers and texts, until one is wrong: then all that follow are empty.
type decoder struct {
	rest    []byte
	isWrong bool
}

func (d *decoder) number(most uint64) uint64 {
	value, n := binary.Uvarint(d.rest)
	if n <= 0 || value > most {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return value
}

func (d *decoder) signed() int64 {
	value, n := binary.Varint(d.rest)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return value
}

func (d *decoder) text(most int) string {
	length := d.number(uint64(most))
	if length > uint64(len(d.rest)) {
		d.fail()
		return ""
	}
	text := string(d.rest[:length])
	d.rest = d.rest[length:]
	return text
}

func (d *decoder) fail() {
	d.isWrong, d.rest = true, nil
}

// isDone says whether everything was right, and nothing is left.
func (d *decoder) isDone() bool {
	return !d.isWrong && len(d.rest) == 0
}
