package layout_test

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/pool/layout"
)

func anyStripes(t *rapid.T) layout.Stripes {
	return layout.Stripes{
		BlockBytes: rapid.Int64Range(1, 64).Draw(t, "block_bytes"),
		Slots:      rapid.IntRange(1, 9).Draw(t, "slots"),
	}
}

// TestPiecesAreTheFile writes a file piece by piece to segments as a writer does, and reads it as readers do.
func TestPiecesAreTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stripes := anyStripes(t)
		content := rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "content")
		segments := make([][]byte, stripes.Slots)
		for offset := 0; offset < len(content); {
			length := rapid.IntRange(1, len(content)-offset).Draw(t, "append")
			for _, piece := range stripes.Pieces(int64(offset), int64(length)) {
				if piece.SegmentOffset != int64(len(segments[piece.Slot])) {
					t.Fatalf("segment %d has %d bytes where %d are appended at", piece.Slot, len(segments[piece.Slot]), piece.SegmentOffset)
				}
				if got := stripes.FileOffset(piece.Slot, piece.SegmentOffset); got != piece.FileOffset {
					t.Fatalf("byte %d of segment %d is %d of the file, and not %d", piece.SegmentOffset, piece.Slot, piece.FileOffset, got)
				}
				segments[piece.Slot] = append(segments[piece.Slot], content[piece.FileOffset:piece.FileOffset+piece.Bytes]...)
			}
			offset += length
		}
		var lengths []int64
		for slot, segment := range segments {
			if want := stripes.SegmentBytes(int64(len(content)), slot); int64(len(segment)) != want {
				t.Fatalf("slot %d has %d bytes, and SegmentBytes says %d", slot, len(segment), want)
			}
			lengths = append(lengths, int64(len(segment)))
		}
		if got := stripes.FileBytes(lengths); got != int64(len(content)) {
			t.Fatalf("FileBytes is %d of a file of %d", got, len(content))
		}
		begin := rapid.IntRange(0, len(content)).Draw(t, "begin")
		end := rapid.IntRange(begin, len(content)).Draw(t, "end")
		var read []byte
		for _, piece := range stripes.Pieces(int64(begin), int64(end-begin)) {
			read = append(read, segments[piece.Slot][piece.SegmentOffset:piece.SegmentOffset+piece.Bytes]...)
		}
		if !bytes.Equal(read, content[begin:end]) {
			t.Fatalf("bytes %d to %d are not what was written", begin, end)
		}
	})
}

// TestFileEndsWhereBytesAreMissing: after a crash, segments have lengths of their own.
func TestFileEndsWhereBytesAreMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stripes := anyStripes(t)
		lengths := rapid.SliceOfN(rapid.Int64Range(0, 300), stripes.Slots, stripes.Slots).Draw(t, "lengths")
		end := stripes.FileBytes(lengths)
		for slot, length := range lengths {
			if stripes.SegmentBytes(end, slot) > length {
				t.Fatalf("a file of %d bytes needs more than the %d of slot %d", end, length, slot)
			}
		}
		isLongest := slices.ContainsFunc(indices(lengths), func(slot int) bool {
			return stripes.SegmentBytes(end+1, slot) > lengths[slot]
		})
		if !isLongest {
			t.Fatalf("%d is not the end: one byte more is there in %v", end, lengths)
		}
	})
}

func indices(lengths []int64) []int {
	all := make([]int, len(lengths))
	for i := range all {
		all[i] = i
	}
	return all
}

func TestPlaceUsesEachServerOnceInEachCopy(t *testing.T) {
	names := []string{"pool1", "pool2", "pool3", "pool4", "pool5", "pool6", "pool7"}
	rapid.Check(t, func(t *rapid.T) {
		servers := names[:rapid.IntRange(1, len(names)).Draw(t, "servers")]
		copies := rapid.IntRange(1, min(len(servers), layout.MaxCopies)).Draw(t, "copies")
		var id layout.FileID
		copy(id[:], rapid.SliceOfN(rapid.Byte(), layout.FileIDBytes, layout.FileIDBytes).Draw(t, "id"))
		placed, err := layout.Place(id, servers, copies)
		if err != nil {
			t.Fatal(err)
		}
		for _, order := range placed {
			if !slices.Equal(slices.Sorted(slices.Values(order)), servers) {
				t.Fatalf("%v is not an order of %v", order, servers)
			}
		}
		for slot := range servers {
			holders := make(map[string]bool)
			for c := range placed {
				holders[placed[c][slot]] = true
			}
			if len(holders) != copies {
				t.Fatalf("slot %d has %d copies on %v", slot, copies, holders)
			}
		}
		reversed := slices.Clone(servers)
		slices.Reverse(reversed)
		again, _ := layout.Place(id, reversed, copies)
		if !slices.EqualFunc(placed, again, slices.Equal) {
			t.Fatalf("the order of the servers' names has changed %v to %v", placed, again)
		}
	})
}

// TestPlaceSpreadsFiles: of many files, every server begins about as many.
func TestPlaceSpreadsFiles(t *testing.T) {
	servers := []string{"pool1", "pool2", "pool3", "pool4"}
	const files = 4000
	firsts := make(map[string]int)
	for i := range files {
		id := layout.FileID{byte(i), byte(i >> 8)}
		placed, err := layout.Place(id, servers, 2)
		if err != nil {
			t.Fatal(err)
		}
		firsts[placed[0][0]]++
	}
	for _, server := range servers {
		const expected, tolerance = files / 4, files / 20
		if firsts[server] < expected-tolerance || firsts[server] > expected+tolerance {
			t.Errorf("%s begins %d of %d files", server, firsts[server], files)
		}
	}
}

func TestPlaceRefuses(t *testing.T) {
	for name, try := range map[string]struct {
		servers []string
		copies  int
	}{
		"no copies":          {[]string{"a", "b"}, 0},
		"many copies":        {[]string{"a", "b", "c", "d"}, 4},
		"too few servers":    {[]string{"a"}, 2},
		"the same one again": {[]string{"a", "b", "a"}, 2},
	} {
		if _, err := layout.Place(layout.FileID{}, try.servers, try.copies); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}

func FuzzFileID(f *testing.F) {
	f.Add("00112233445566778899aabbccddeeff")
	f.Add("00112233445566778899AABBCCDDEEFF")
	f.Add("../..")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := layout.ParseFileID(text)
		if err == nil && id.String() != text {
			t.Errorf("%q is read as %s", text, id)
		}
	})
}
