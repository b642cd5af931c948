package repair

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/metadata/entry"
)

const pageBytes = 4096

func anyServers(t *rapid.T) Servers {
	servers := make(Servers)
	for i := range rapid.IntRange(0, 7).Draw(t, "servers") {
		servers[fmt.Sprintf("s%d", i)] = Server{
			Standing:  rapid.SampledFrom([]Standing{Answering, Answering, Answering, Silent, Gone}).Draw(t, "standing"),
			FreeBytes: rapid.Int64Range(0, 200*pageBytes).Draw(t, "free"), Refuses: rapid.IntRange(0, 9).Draw(t, "refuses") == 0,
		}
	}
	return servers
}

// anyFiles are on servers of which some are not known.
func anyFiles(t *rapid.T) []entry.File {
	var files []entry.File
	names := []string{"s0", "s1", "s2", "s3", "s4", "s5", "s6", "x"}
	for i := range rapid.IntRange(0, 12).Draw(t, "files") {
		id := entry.FileID{byte(i + 1)}
		of := rapid.Permutation(names).Draw(t, "names")[:rapid.IntRange(3, len(names)).Draw(t, "slots")]
		placed, err := layout.Place(id, of, rapid.IntRange(1, 3).Draw(t, "copies"))
		if err != nil {
			t.Fatal(err)
		}
		file := entry.File{
			ID: id, Layout: entry.Layout{BlockBytes: pageBytes, Servers: placed}, Sealed: rapid.IntRange(0, 3).Draw(t, "sealed") > 0,
			LengthBytes: rapid.Uint64Range(0, 60*pageBytes).Draw(t, "length"),
		}
		for _, place := range allPlaces(file.Layout) {
			if rapid.IntRange(0, 5).Draw(t, "missing") == 0 {
				file.Missing = append(file.Missing, place)
			}
		}
		files = append(files, file)
	}
	return files
}

// TestTarget is one that can take the segment, and there is none only if there is no such server.
func TestTarget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := anyServers(t)
		for _, file := range anyFiles(t) {
			slot := rapid.Uint32Range(0, uint32(file.Layout.Slots()-1)).Draw(t, "slot")
			bytes := bytesOf(file, slot)
			able := func(name string) bool {
				server, isKnown := servers[name]
				return isKnown && server.Standing == Answering && !server.Refuses && server.FreeBytes > bytes && !file.Layout.HasSlotOn(name, slot)
			}
			name, isThere := servers.target(file.Layout, slot, bytes)
			if isThere && !able(name) || !isThere && slices.ContainsFunc(slices.Collect(maps.Keys(servers)), able) {
				t.Fatalf("%q, %v for %d bytes of slot %d of %v", name, isThere, bytes, slot, file.Layout.Servers)
			}
			for other := range servers {
				if isThere && able(other) && servers[other].Fill() < servers[name].Fill() {
					t.Fatalf("%q is fuller than %q", name, other)
				}
			}
		}
	})
}

// TestBalanceComesToAnEnd moves segments until none is to be moved: copies of a slot stay apart, what is held is what
// was, the fullest server gets no fuller and the emptiest no emptier, and at the end nothing that could be moved is
// farther from the mean than it may be.
func TestBalanceComesToAnEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers, files := anyServers(t), anyFiles(t)
		survey := newSurvey(servers, nil)
		for _, file := range files {
			survey.add(file)
		}
		tolerance := rapid.Float64Range(0.01, 0.5).Draw(t, "tolerance")
		held, free := sums(servers)
		for moves := 0; ; moves++ {
			if moves > 10000 {
				t.Fatal("there is no end of moves")
			}
			least, most := extremes(servers)
			if !moveOne(survey, files, tolerance) {
				break
			}
			if nowLeast, nowMost := extremes(servers); nowLeast < least-1e-9 || nowMost > most+1e-9 {
				t.Fatalf("servers were filled from %f to %f, and now from %f to %f", least, most, nowLeast, nowMost)
			}
		}
		if nowHeld, nowFree := sums(servers); nowHeld != held || nowFree != free {
			t.Fatalf("%d bytes are held of %d, and %d free of %d", nowHeld, held, nowFree, free)
		}
		for _, file := range files {
			if err := file.Layout.Check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func sums(servers Servers) (held, free int64) {
	for _, server := range servers {
		held, free = held+server.HeldBytes, free+server.FreeBytes
	}
	return held, free
}

func extremes(servers Servers) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, server := range servers {
		if server.Standing == Answering {
			least, most = min(least, server.Fill()), max(most, server.Fill())
		}
	}
	return least, most
}

func moveOne(survey *Survey, files []entry.File, tolerance float64) bool {
	for _, file := range files {
		for _, place := range allPlaces(file.Layout) {
			to, moves := survey.servers.balanceTarget(file.Layout, place, bytesOf(file, place.Slot), tolerance)
			if !moves || !file.Sealed || survey.isToRemake(file, place) {
				continue
			}
			survey.servers.moved(serverOf(file, place), -bytesOf(file, place.Slot))
			survey.servers.moved(to, bytesOf(file, place.Slot))
			file.Layout.Servers[place.Copy][place.Slot] = to
			return true
		}
	}
	return false
}

// TestBalanceOfASmallServerThatJoins gives it its share, within the tolerance: segments are small, and can go anywhere.
func TestBalanceOfASmallServerThatJoins(t *testing.T) {
	const segments, tolerance = 300, 0.02
	servers := Servers{"old1": {FreeBytes: 500 * pageBytes}, "old2": {FreeBytes: 700 * pageBytes}, "new": {FreeBytes: 200 * pageBytes}}
	for name, server := range servers {
		server.Standing = Answering
		servers[name] = server
	}
	var files []entry.File
	survey := newSurvey(servers, nil)
	for i := range segments {
		file := entry.File{
			ID: entry.FileID{byte(i), byte(i >> 8)}, Sealed: true, LengthBytes: pageBytes,
			Layout: entry.Layout{BlockBytes: pageBytes, Servers: [][]string{{[]string{"old1", "old2"}[i%2]}}},
		}
		files = append(files, file)
		survey.add(file)
	}
	for moveOne(survey, files, tolerance) {
		continue
	}
	if !servers.isBalanced(tolerance) {
		t.Errorf("%+v", servers)
	}
}

// TestSurvey counts what a plain look at each segment does.
func TestSurvey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers, files := anyServers(t), anyFiles(t)
		survey := newSurvey(maps.Clone(servers), nil)
		var left, waiting, unreadable int
		held := make(map[string]int64)
		for _, file := range files {
			survey.add(file)
			readable := make(map[uint32]bool)
			for _, place := range allPlaces(file.Layout) {
				name := serverOf(file, place)
				isBad := slices.Contains(file.Missing, place) || servers[name].Standing == Gone
				switch {
				case isBad && file.Sealed:
					left++
				case isBad || servers[name].Standing == Silent:
					waiting++
				default:
					readable[place.Slot] = true
					held[name] += bytesOf(file, place.Slot)
				}
			}
			if file.Sealed {
				unreadable += file.Layout.Slots() - len(readable)
			}
		}
		if survey.Left != left || survey.Waiting != waiting || survey.Unreadable != unreadable || survey.Files != len(files) {
			t.Fatalf("%+v, and there are %d left, %d waiting, %d unreadable", survey, left, waiting, unreadable)
		}
		for name, server := range survey.servers {
			if server.HeldBytes != held[name] {
				t.Fatalf("%s holds %d, and not %d", name, server.HeldBytes, held[name])
			}
		}
	})
}

// A sealed file of one block has no segments in its other slots: nothing is lost there.
func TestSlotsWithoutBytesLoseNothing(t *testing.T) {
	file := entry.File{
		ID: entry.FileID{1}, Sealed: true, LengthBytes: pageBytes,
		Layout: entry.Layout{BlockBytes: pageBytes, Servers: [][]string{{"s1", "s2", "s1"}, {"s2", "s1", "s2"}}},
	}
	for server, want := range map[string][]entry.Place{"s1": {{Slot: 0, Copy: 0}}, "s2": {{Slot: 0, Copy: 1}}} {
		if got := lost(file, server, nil); !slices.Equal(got, want) {
			t.Errorf("%s has lost %v, not %v", server, got, want)
		}
	}
}
