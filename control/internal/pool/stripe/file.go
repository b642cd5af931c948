// Package stripe reads and writes files of a pool: it spreads their bytes over the servers' segments, keeps
// the copies alike, and goes on with the others when a server fails.
package stripe

import (
	"fmt"
	"maps"
	"slices"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/segment"
)

// File is where a file of a pool is.
type File struct {
	ID      layout.FileID
	Stripes layout.Stripes
	// Servers holds the node of each segment: Servers[copy][slot].
	Servers [][]string
	// Missing are segments that are not to be used, since their server has not all that was written.
	Missing map[Place]bool
}

// Place is one segment of a file.
type Place struct {
	Slot int
	Copy int
}

func (f File) segment(place Place) segment.ID {
	return segment.ID{File: f.ID, Slot: place.Slot, Copy: place.Copy}
}

func (f File) server(place Place) string {
	return f.Servers[place.Copy][place.Slot]
}

// places are the segments of the file that are not missing.
func (f File) places() []Place {
	var places []Place
	for c, slots := range f.Servers {
		for slot := range slots {
			if place := (Place{Slot: slot, Copy: c}); !f.Missing[place] {
				places = append(places, place)
			}
		}
	}
	return places
}

// isWhere says whether a file is on the same servers as another, with the same segments missing.
func (f File) isWhere(other File) bool {
	return slices.EqualFunc(f.Servers, other.Servers, slices.Equal) && maps.Equal(f.Missing, other.Missing)
}

func (f File) check() error {
	if f.Stripes.BlockBytes < segment.PageBytes || f.Stripes.BlockBytes%segment.PageBytes != 0 {
		return fmt.Errorf("blocks of %d bytes: they have a whole number of pages of %d", f.Stripes.BlockBytes, segment.PageBytes)
	}
	if f.Stripes.Slots < 1 || f.Stripes.Slots > segment.MaxSlots || len(f.Servers) < 1 || len(f.Servers) > layout.MaxCopies {
		return fmt.Errorf("%d slots of %d copies: a file has 1 to %d of 1 to %d",
			f.Stripes.Slots, len(f.Servers), segment.MaxSlots, layout.MaxCopies)
	}
	for c, slots := range f.Servers {
		if len(slots) != f.Stripes.Slots {
			return fmt.Errorf("copy %d has servers for %d slots of %d", c, len(slots), f.Stripes.Slots)
		}
	}
	return nil
}

// Services gives the client of a node's segments.
type Services func(node string) (sluicev1.BlockServiceClient, error)

// Options say how much is under way at a time, and how long a server may take.
type Options struct {
	// WriteRequests and WriteBytes are the most that a writer has sent to a server without an answer.
	WriteRequests int
	WriteBytes    int
	// ReadRequests is the most that a reader asks for ahead.
	ReadRequests int
	// RequestBytes is the most that is sent or asked for in one request.
	RequestBytes int
	// Patience is how long a server may make no progress before it is taken for lost.
	Patience time.Duration
}

// DefaultOptions are those of Hailstorm's client (ASPLOS 2020, section 4): 100 writes and 10 reads under way;
// bounded in bytes as well, for requests here are of any size.
func DefaultOptions() Options {
	const megabyte = 1 << 20
	return Options{
		WriteRequests: 100, WriteBytes: 8 * megabyte, ReadRequests: 10, RequestBytes: megabyte / 4, Patience: 10 * time.Second,
	}
}
