// Package entry has what the metadata of a pool consists of, as plain values: files and where their blocks are,
// leases, and why something is refused. Values are checked before they reach the metadata.
package entry

import (
	"slices"
	"time"

	"sluice.dev/control/internal/pool/layout"
)

// FileID names a file for as long as it has blocks, whatever its paths: random bytes that its creator chooses.
type FileID = layout.FileID

// FileIDBytes is the size of a file's id.
const FileIDBytes = layout.FileIDBytes

// Layout says where the blocks of a file are: block b is in slot b modulo the number of slots.
type Layout struct {
	// BlockBytes is the size of each block but the last.
	BlockBytes uint32
	// Servers has a list for each copy, each with the node name of every slot's server.
	Servers [][]string
}

// Clone gives one that shares nothing that can be changed.
func (l Layout) Clone() Layout {
	copied := Layout{BlockBytes: l.BlockBytes, Servers: make([][]string, len(l.Servers))}
	for i, servers := range l.Servers {
		copied.Servers[i] = slices.Clone(servers)
	}
	return copied
}

// Slots is how many parts each copy has.
func (l Layout) Slots() int {
	if len(l.Servers) == 0 {
		return 0
	}
	return len(l.Servers[0])
}

// Has says whether there is such a part.
func (l Layout) Has(place Place) bool {
	return uint64(place.Copy) < uint64(len(l.Servers)) && uint64(place.Slot) < uint64(l.Slots())
}

// IsOn says whether some part is on the server.
func (l Layout) IsOn(server string) bool {
	return slices.ContainsFunc(l.Servers, func(servers []string) bool { return slices.Contains(servers, server) })
}

// Place is the part of a file that is in one slot of one copy, both from 0.
type Place struct {
	Slot, Copy uint32
}

// Compare orders places by slot, then copy.
func (p Place) Compare(other Place) int {
	if p.Slot != other.Slot {
		return int(int64(p.Slot) - int64(other.Slot))
	}
	return int(int64(p.Copy) - int64(other.Copy))
}

// File is what the metadata has of a file.
type File struct {
	Volume string
	ID     FileID
	Layout Layout
	// LengthBytes is how much of it is known to be on the disks; all of it if it is sealed.
	LengthBytes uint64
	// Sealed says that it is not written any more.
	Sealed bool
	// Epoch is that of the lease that it was made under.
	Epoch uint64
	// Missing are the parts that are not where the layout says, in their order.
	Missing []Place
	// Links is how many paths it has.
	Links uint32
}

// OpenFile is a file that is not sealed, and so has one path.
type OpenFile struct {
	Path string
	File File
}

// Name is an entry of a directory.
type Name struct {
	// Name is without the path of the directory.
	Name string
	// File is nil of a directory.
	File *File
}

// Removal is a file without a path, whose blocks may still be there.
type Removal struct {
	Volume      string
	ID          FileID
	Layout      Layout
	LengthBytes uint64
}

// Lease is a lease on a directory and what is below it.
type Lease struct {
	Volume, Path string
	Holder       string
	// Epoch is greater than that of every lease that was given before.
	Epoch uint64
	// TimeToLive is how long it lasts after it was renewed.
	TimeToLive time.Duration
}

// Status is how an agent that holds metadata stands.
type Status struct {
	// Leader is a node name; empty if none is known.
	Leader       string
	Term         uint64
	AppliedIndex uint64
	Voters       []string
}

// Page bounds a list: what comes after a key, and at most so many entries; 0 stands for as many as a page may have.
type Page[K any] struct {
	After K
	Limit int
}
