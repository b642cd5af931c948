package segment

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// PageBytes is what has a checksum of its own: the least that a read has to check.
const PageBytes = 4096

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sums are the checksums (CRC-32C) of a segment's pages, the last of which may be short.
type sums struct {
	pages  []uint32
	length int64
}

// add takes the next bytes of the segment.
func (s *sums) add(data []byte) {
	for len(data) > 0 {
		within := int(s.length % PageBytes)
		if within == 0 {
			s.pages = append(s.pages, 0)
		}
		part := data[:min(len(data), PageBytes-within)]
		last := &s.pages[len(s.pages)-1]
		*last = crc32.Update(*last, castagnoli, part)
		s.length += int64(len(part))
		data = data[len(part):]
	}
}

// cut drops the pages that do not end at or before a length, and says where the last kept one ends: the bytes
// from there to the length are to be added again.
func (s *sums) cut(length int64) int64 {
	whole := length / PageBytes
	s.pages = s.pages[:whole]
	s.length = whole * PageBytes
	return s.length
}

// spoilLast has the last page fail every check: it was damaged before its sum was made anew.
func (s *sums) spoilLast() {
	s.pages[len(s.pages)-1] ^= 1
}

// check compares whole pages, and the segment's last one, that begin at an offset.
func (s *sums) check(offset int64, data []byte) error {
	for len(data) > 0 {
		page := offset / PageBytes
		part := data[:min(len(data), PageBytes)]
		if got := crc32.Checksum(part, castagnoli); got != s.pages[page] {
			return fmt.Errorf("the page at byte %d has checksum %08x and should have %08x", offset, got, s.pages[page])
		}
		offset, data = offset+int64(len(part)), data[len(part):]
	}
	return nil
}

// The file of the sums of a sealed segment: what it is, the segment's length, a sum for each page, and a sum
// of all that.
const (
	sumsMagic       = "SLUICESUMS01"
	sumsHeaderBytes = len(sumsMagic) + 8
	sumBytes        = 4
)

func (s *sums) encode() []byte {
	text := make([]byte, 0, sumsHeaderBytes+sumBytes*(len(s.pages)+1))
	text = append(text, sumsMagic...)
	text = binary.LittleEndian.AppendUint64(text, uint64(s.length))
	for _, page := range s.pages {
		text = binary.LittleEndian.AppendUint32(text, page)
	}
	return binary.LittleEndian.AppendUint32(text, crc32.Checksum(text, castagnoli))
}

func decodeSums(text []byte) (*sums, error) {
	if len(text) < sumsHeaderBytes+sumBytes || string(text[:len(sumsMagic)]) != sumsMagic {
		return nil, fmt.Errorf("these %d bytes are no checksums of a segment", len(text))
	}
	body, own := text[:len(text)-sumBytes], binary.LittleEndian.Uint32(text[len(text)-sumBytes:])
	if got := crc32.Checksum(body, castagnoli); got != own {
		return nil, fmt.Errorf("the checksums have themselves checksum %08x and should have %08x", got, own)
	}
	length := binary.LittleEndian.Uint64(body[len(sumsMagic):])
	rest := body[sumsHeaderBytes:]
	if pages := pagesOf(length); pages*sumBytes != uint64(len(rest)) {
		return nil, fmt.Errorf("%d bytes of checksums do not go with a segment of %d bytes", len(rest), length)
	}
	decoded := &sums{length: int64(length), pages: make([]uint32, len(rest)/sumBytes)}
	for i := range decoded.pages {
		decoded.pages[i] = binary.LittleEndian.Uint32(rest[i*sumBytes:])
	}
	return decoded, nil
}

func pagesOf(length uint64) uint64 {
	pages := length / PageBytes
	if length%PageBytes > 0 {
		pages++
	}
	return pages
}
