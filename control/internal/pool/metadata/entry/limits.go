package entry

import (
	"slices"
	"strings"
	"time"

	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/store"
)

// Bounds of what the metadata takes.
const (
	MaxVolumes  = 1024
	MaxEntries  = 1 << 20
	MaxLeases   = 16384
	MaxRemovals = 1 << 20
	// MaxLinks is how many paths a file may have.
	MaxLinks = 64

	MaxVolumeNameBytes = 63
	MaxNameBytes       = 255
	MaxPathBytes       = 1024
	MaxDepth           = 32
	MaxHolderBytes     = 255

	LeastTimeToLive   = time.Second
	LongestTimeToLive = time.Hour

	MaxCopies       = 3
	MaxSlots        = 256
	LeastBlockBytes = 4 << 10
	MaxBlockBytes   = 64 << 20
	// MaxLengthBytes is far above any file.
	MaxLengthBytes = 1 << 50

	// MaxPageEntries bounds the entries of a page; a page ends earlier when it has MaxPageBytes.
	MaxPageEntries = 1000
	MaxPageBytes   = 1 << 20
)

// Root is the path of a volume's own directory.
const Root = "/"

// CheckVolume takes 1 to 63 letters, digits, ".", "_" and "-", the first a letter or digit.
func CheckVolume(name string) error {
	isFirst := func(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' }
	isGood := name != "" && len(name) <= MaxVolumeNameBytes && isFirst(name[0])
	for i := range len(name) {
		isGood = isGood && (isFirst(name[i]) || strings.IndexByte("._-", name[i]) >= 0)
	}
	if isGood {
		return nil
	}
	return invalidf("the name of a volume must be 1 to %d letters, digits, \".\", \"_\" or \"-\", the first a letter or digit, not %q",
		MaxVolumeNameBytes, name)
}

// CheckPath takes "/" and paths of names after a "/" each, none of them "." or "..".
func CheckPath(path string) error {
	if path == Root {
		return nil
	}
	if len(path) > MaxPathBytes {
		return invalidf("the path is %d bytes long, at most %d are allowed", len(path), MaxPathBytes)
	}
	rest, isAbsolute := strings.CutPrefix(path, Root)
	if !isAbsolute {
		return invalidf("the path %q does not begin with /", path)
	}
	names := strings.Split(rest, "/")
	if len(names) > MaxDepth {
		return invalidf("the path has %d names, at most %d are allowed", len(names), MaxDepth)
	}
	for _, name := range names {
		if err := CheckName(name); err != nil {
			return err
		}
	}
	return nil
}

// CheckName takes a name in a directory.
func CheckName(name string) error {
	if name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
		return invalidf("a path has the name %q in it, which is none", name)
	}
	return asRefusal(store.ValidateText("name in a path", name, MaxNameBytes))
}

// CheckHolder takes 1 to 255 bytes of text.
func CheckHolder(holder string) error {
	if holder == "" {
		return invalidf("the holder of the lease is missing")
	}
	return asRefusal(store.ValidateText("holder", holder, MaxHolderBytes))
}

// CheckTimeToLive takes 1 s to 1 h.
func CheckTimeToLive(time time.Duration) error {
	if time >= LeastTimeToLive && time <= LongestTimeToLive {
		return nil
	}
	return invalidf("the time to live must be between %v and %v, not %v", LeastTimeToLive, LongestTimeToLive, time)
}

// CheckLength takes the length of a file.
func CheckLength(bytes uint64) error {
	if bytes <= MaxLengthBytes {
		return nil
	}
	return invalidf("a file may have %d bytes, not %d", uint64(MaxLengthBytes), bytes)
}

// CheckServer takes the name of a node.
func CheckServer(name string) error {
	if security.ValidName(name) {
		return nil
	}
	return invalidf("the server %q is no name of a node", name)
}

// Check says what is wrong with a layout.
func (l Layout) Check() error {
	switch {
	case l.BlockBytes < LeastBlockBytes || l.BlockBytes > MaxBlockBytes || l.BlockBytes&(l.BlockBytes-1) != 0:
		return invalidf("the block size must be a power of two between %d and %d, not %d", LeastBlockBytes, MaxBlockBytes, l.BlockBytes)
	case len(l.Servers) == 0 || len(l.Servers) > MaxCopies:
		return invalidf("a layout has 1 to %d copies, not %d", MaxCopies, len(l.Servers))
	case l.Slots() == 0 || l.Slots() > MaxSlots:
		return invalidf("a copy has 1 to %d slots, not %d", MaxSlots, l.Slots())
	}
	for i, servers := range l.Servers {
		if len(servers) != l.Slots() {
			return invalidf("copy %d has %d slots, copy 0 has %d", i, len(servers), l.Slots())
		}
		for slot, server := range servers {
			if err := CheckServer(server); err != nil {
				return err
			}
			if l.hasCopyOn(server, slot, i) {
				return invalidf("slot %d has two copies on the server %q", slot, server)
			}
		}
	}
	return nil
}

// hasCopyOn says whether one of the first copies has that slot on the server.
func (l Layout) hasCopyOn(server string, slot, copies int) bool {
	return slices.ContainsFunc(l.Servers[:copies], func(servers []string) bool { return servers[slot] == server })
}

// HasSlotOn says whether any copy has that slot on the server.
func (l Layout) HasSlotOn(server string, slot uint32) bool {
	return l.hasCopyOn(server, int(slot), len(l.Servers))
}

// SplitPath gives the directory and the name of a path that is not Root.
func SplitPath(path string) (directory, name string) {
	end := strings.LastIndexByte(path, '/')
	return path[:max(end, 1)], path[end+1:]
}

// JoinPath is the path of a name in a directory.
func JoinPath(directory, name string) string {
	return strings.TrimSuffix(directory, "/") + "/" + name
}

// Covers says whether a path is the directory or below it.
func Covers(directory, path string) bool {
	return directory == Root || path == directory || strings.HasPrefix(path, directory) && path[len(directory)] == '/'
}
