package state

import (
	"slices"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/metadata/message"
)

// partChange is a change of one part of a file.
type partChange interface {
	GetFileId() []byte
	GetEpoch() uint64
	GetPlace() *sluicev1.SegmentPlace
}

// partOf gives the file and the part. An open file is its writer's; a sealed one may be repaired by every agent, and by
// one that says so under its lease alone.
func (s *State) partOf(change partChange) (*file, entry.Place, error) {
	found, err := s.fileOf(change.GetFileId())
	if err != nil {
		return nil, entry.Place{}, err
	}
	if err := s.checkPartEpoch(found, change.GetEpoch()); err != nil {
		return nil, entry.Place{}, err
	}
	place := message.DecodePlace(change.GetPlace())
	if !found.Layout.Has(place) {
		return nil, entry.Place{}, invalidf("the file %s has no slot %d of copy %d", found.ID, place.Slot, place.Copy)
	}
	return found, place, nil
}

func (s *State) checkPartEpoch(f *file, epoch uint64) error {
	if !f.Sealed {
		return s.checkFileEpoch(f, epoch)
	}
	if epoch != 0 && !s.hasLease(epoch) {
		return entry.Refusef(entry.Fenced, "there is no lease with epoch %d any more", epoch).
			WithHint("Take the lease again, and look at the file before it is changed.")
	}
	return nil
}

// hasLease says whether an epoch is that of any lease.
func (s *State) hasLease(epoch uint64) bool {
	isThere := false
	s.leases.Scan(func(lease entry.Lease) bool {
		isThere = lease.Epoch == epoch
		return !isThere
	})
	return isThere
}

func (s *State) markMissing(change *sluicev1.MarkMissingChange) error {
	found, place, err := s.partOf(change)
	if err != nil {
		return err
	}
	at, isThere := slices.BinarySearchFunc(found.Missing, place, entry.Place.Compare)
	if isThere {
		return nil
	}
	changed := *found
	changed.Missing = slices.Insert(slices.Clone(found.Missing), at, place)
	s.setFile(&changed)
	return nil
}

func (s *State) clearMissing(change *sluicev1.ClearMissingChange) error {
	found, place, err := s.partOf(change)
	if err != nil {
		return err
	}
	changed := *found
	changed.Missing = without(found.Missing, place)
	s.setFile(&changed)
	return nil
}

func without(missing []entry.Place, place entry.Place) []entry.Place {
	return slices.DeleteFunc(slices.Clone(missing), func(each entry.Place) bool { return each == place })
}

func (s *State) replaceServer(change *sluicev1.ReplaceServerChange) error {
	found, place, err := s.partOf(change)
	if err != nil {
		return err
	}
	if err := entry.CheckServer(change.GetNewServer()); err != nil {
		return err
	}
	is := found.Layout.Servers[place.Copy][place.Slot]
	switch {
	case is != change.GetOldServer():
		return entry.Refusef(entry.OtherServer, "slot %d of copy %d of the file %s is on %q, not on %q",
			place.Slot, place.Copy, found.ID, is, change.GetOldServer()).WithHint("Read the file's layout again.")
	case found.Layout.HasSlotOn(change.GetNewServer(), place.Slot):
		return entry.Refusef(entry.Exists, "the server %q has a copy of slot %d already", change.GetNewServer(), place.Slot).
			WithHint("Choose another server.")
	}
	changed := *found
	changed.Layout = found.Layout.Clone()
	changed.Layout.Servers[place.Copy][place.Slot] = change.GetNewServer()
	changed.Layout = s.shared(changed.Layout)
	if change.GetClearMissing() {
		changed.Missing = without(found.Missing, place)
	}
	s.setFile(&changed)
	return nil
}
