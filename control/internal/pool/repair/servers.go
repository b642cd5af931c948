package repair

import (
	"cmp"
	"slices"

	"sluice.dev/control/internal/pool/metadata/entry"
)

// Standing is how a server is.
type Standing int

const (
	// Gone is a server that is not known, or has not answered for so long that its copies are made anew elsewhere.
	Gone Standing = iota
	// Silent is one that does not answer, for a short while yet.
	Silent
	// Answering is one that can be read and written.
	Answering
)

// String is for who reads.
func (s Standing) String() string {
	return [...]string{"gone", "silent", "answering"}[s]
}

// Server is what is known of a server. The zero value is one that is gone.
type Server struct {
	Standing Standing
	// HeldBytes are those of the segments that the metadata has on it, FreeBytes what it may take beside them.
	HeldBytes int64
	FreeBytes int64
	// Refuses says that it could not take a segment a short while ago.
	Refuses bool
}

func (s Server) capacityBytes() int64 {
	return s.HeldBytes + s.FreeBytes
}

func (s Server) takes(bytes int64) bool {
	return s.Standing == Answering && !s.Refuses && s.FreeBytes > bytes
}

// Fill is the share that is held of what the server has for the pool.
func (s Server) Fill() float64 {
	if s.capacityBytes() == 0 {
		return 1
	}
	return float64(s.HeldBytes) / float64(s.capacityBytes())
}

// Servers are those that are known, by their names.
type Servers map[string]Server

// moved is after some bytes are held on a server in addition, or no more.
func (s Servers) moved(name string, bytes int64) {
	server, isKnown := s[name]
	if !isKnown {
		return
	}
	server.HeldBytes += bytes
	server.FreeBytes = max(server.FreeBytes-bytes, 0)
	s[name] = server
}

// target chooses the least filled of the servers that can take a segment and have no copy of its slot. There may be none.
func (s Servers) target(layout entry.Layout, slot uint32, bytes int64) (name string, isThere bool) {
	var able []string
	for candidate, server := range s {
		if server.takes(bytes) && !layout.HasSlotOn(candidate, slot) {
			able = append(able, candidate)
		}
	}
	if len(able) == 0 {
		return "", false
	}
	return slices.MinFunc(able, func(a, b string) int { return cmp.Or(cmp.Compare(s[a].Fill(), s[b].Fill()), cmp.Compare(a, b)) }), true
}

// meanFill is that of the servers that answer, all together.
func (s Servers) meanFill() float64 {
	var all Server
	for _, server := range s {
		if server.Standing == Answering {
			all.HeldBytes += server.HeldBytes
			all.FreeBytes += server.FreeBytes
		}
	}
	return all.Fill()
}

// balanceTarget chooses where a segment goes so that servers are more alike in how full they are; it may well stay. One
// moves from above the mean to below it, if one of the two servers is away from the mean by more than the tolerance, and
// if it does not turn the two around: so every move brings them nearer, and moves come to an end.
func (s Servers) balanceTarget(layout entry.Layout, place entry.Place, bytes int64, tolerance float64) (name string, moves bool) {
	from := s[layout.Servers[place.Copy][place.Slot]]
	mean := s.meanFill()
	if bytes == 0 || from.Standing != Answering || from.Fill() <= mean {
		return "", false
	}
	name, isThere := s.target(layout, place.Slot, bytes)
	if !isThere {
		return "", false
	}
	to := s[name]
	isUnlike := from.Fill() > mean+tolerance || to.Fill() < mean-tolerance
	after := func(server Server, bytes int64) float64 {
		return float64(server.HeldBytes+bytes) / float64(server.capacityBytes())
	}
	return name, isUnlike && to.Fill() < mean && after(from, -bytes) >= after(to, bytes)
}

// isBalanced says whether all servers that answer are as full as the others.
func (s Servers) isBalanced(tolerance float64) bool {
	mean := s.meanFill()
	for _, server := range s {
		if server.Standing == Answering && (server.Fill() > mean+tolerance || server.Fill() < mean-tolerance) {
			return false
		}
	}
	return true
}
