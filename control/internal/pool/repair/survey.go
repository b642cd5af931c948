package repair

import (
	"cmp"
	"context"
	"slices"

	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/metadata/entry"
)

// segmentAt is a segment on a server.
type segmentAt struct {
	server string
	file   entry.FileID
	place  entry.Place
}

// Survey is what is to be repaired, of files that were looked at.
type Survey struct {
	Files     int
	OpenFiles int
	// Left are segments of sealed files that are to be made anew: Missing, Damaged, or on servers that are gone.
	Left int
	// Waiting are those of open files, which are made anew once they are sealed, and those on servers that are silent.
	Waiting int
	// Unreadable are slots of sealed files of which no server that answers has a copy.
	Unreadable int

	servers Servers
	damaged map[segmentAt]bool
	broken  []brokenFile
}

// brokenFile is a sealed file with segments to be made anew; of the slot that has the fewest, so many copies are left.
type brokenFile struct {
	id     entry.FileID
	copies int
}

func newSurvey(servers Servers, damaged map[segmentAt]bool) *Survey {
	return &Survey{servers: servers, damaged: damaged}
}

// Pages gives files in the order of their ids, after one, and whether there are more.
type Pages func(ctx context.Context, page entry.Page[*entry.FileID]) (files []entry.File, more bool, err error)

// Look surveys all files, and notes in the servers what they hold.
func Look(ctx context.Context, pages Pages, servers Servers) (*Survey, error) {
	return look(ctx, pages, newSurvey(servers, nil))
}

func look(ctx context.Context, pages Pages, survey *Survey) (*Survey, error) {
	err := each(ctx, pages, func(file entry.File) error {
		survey.add(file)
		return nil
	})
	slices.SortStableFunc(survey.broken, func(a, b brokenFile) int { return cmp.Compare(a.copies, b.copies) })
	return survey, err
}

func each(ctx context.Context, pages Pages, do func(entry.File) error) error {
	var page entry.Page[*entry.FileID]
	for {
		files, more, err := pages(ctx, page)
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := do(file); err != nil {
				return err
			}
		}
		if !more || len(files) == 0 {
			return nil
		}
		page.After = &files[len(files)-1].ID
	}
}

func (s *Survey) add(file entry.File) {
	s.Files++
	if !file.Sealed {
		s.OpenFiles++
	}
	fewest, left := len(file.Layout.Servers), 0
	for slot := range uint32(file.Layout.Slots()) {
		copies := 0
		for _, place := range placesOf(file.Layout, slot) {
			copies += s.count(file, place, &left)
		}
		if copies == 0 && file.Sealed {
			s.Unreadable++
		}
		fewest = min(fewest, copies)
	}
	if left > 0 {
		s.Left += left
		s.broken = append(s.broken, brokenFile{file.ID, fewest})
	}
}

// count gives 1 for a segment that can be read.
func (s *Survey) count(file entry.File, place entry.Place, left *int) int {
	isToRemake := s.isToRemake(file, place)
	switch {
	case isToRemake && file.Sealed:
		*left++
	case isToRemake, s.servers[serverOf(file, place)].Standing == Silent:
		s.Waiting++
	default:
		s.servers.held(serverOf(file, place), bytesOf(file, place.Slot))
		return 1
	}
	return 0
}

func (s Servers) held(name string, bytes int64) {
	if server, isKnown := s[name]; isKnown {
		server.HeldBytes += bytes
		s[name] = server
	}
}

// isToRemake says whether a segment cannot be counted on.
func (s *Survey) isToRemake(file entry.File, place entry.Place) bool {
	server := serverOf(file, place)
	return slices.Contains(file.Missing, place) || s.servers[server].Standing == Gone ||
		s.damaged[segmentAt{server, file.ID, place}]
}

// isReadable says whether a segment can be read, or parts of it at least.
func (s *Survey) isReadable(file entry.File, place entry.Place) bool {
	return !slices.Contains(file.Missing, place) && s.servers[serverOf(file, place)].Standing == Answering
}

// hasSource says whether a copy of a slot can be read, beside one.
func (s *Survey) hasSource(file entry.File, place entry.Place) bool {
	return slices.ContainsFunc(placesOf(file.Layout, place.Slot), func(other entry.Place) bool {
		return other != place && s.isReadable(file, other)
	})
}

func placesOf(layout entry.Layout, slot uint32) []entry.Place {
	places := make([]entry.Place, len(layout.Servers))
	for number := range places {
		places[number] = entry.Place{Slot: slot, Copy: uint32(number)}
	}
	return places
}

func allPlaces(layout entry.Layout) []entry.Place {
	var places []entry.Place
	for slot := range uint32(layout.Slots()) {
		places = append(places, placesOf(layout, slot)...)
	}
	return places
}

func serverOf(file entry.File, place entry.Place) string {
	return file.Layout.Servers[place.Copy][place.Slot]
}

func bytesOf(file entry.File, slot uint32) int64 {
	stripes := layout.Stripes{BlockBytes: int64(file.Layout.BlockBytes), Slots: file.Layout.Slots()}
	return stripes.SegmentBytes(int64(file.LengthBytes), int(slot))
}
