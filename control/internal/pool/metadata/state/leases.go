package state

import (
	"slices"
	"strings"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/metadata/message"
)

func (s *State) acquireLease(change *sluicev1.AcquireLeaseChange) (*sluicev1.ChangeMetadataResponse, error) {
	lease := entry.Lease{Volume: change.GetVolume(), Path: change.GetPath(), Holder: change.GetHolder()}
	timeToLive, err := message.DecodeTimeToLive(change.GetTimeToLive())
	if err != nil {
		return nil, err
	}
	lease.TimeToLive = timeToLive
	if err := entry.CheckHolder(lease.Holder); err != nil {
		return nil, err
	}
	if err := s.mayAcquire(lease, change.GetOuterEpoch()); err != nil {
		return nil, err
	}
	s.lastEpoch++
	lease.Epoch = s.lastEpoch
	s.leases.Set(lease)
	return &sluicev1.ChangeMetadataResponse{Lease: message.EncodeLease(&lease)}, nil
}

func (s *State) mayAcquire(lease entry.Lease, outerEpoch uint64) error {
	if err := s.checkPath(lease.Volume, lease.Path); err != nil {
		return err
	}
	covering := s.covering(lease.Volume, lease.Path)
	switch {
	case covering != nil && covering.Path == lease.Path:
		return held(*covering)
	case covering != nil && covering.Epoch != outerEpoch, covering == nil && outerEpoch != 0:
		return fenced(lease.Path, outerEpoch, covering)
	case s.leases.Len() >= entry.MaxLeases:
		return limit("leases", entry.MaxLeases)
	}
	_, err := s.directoryAt(lease.Volume, lease.Path)
	return err
}

func (s *State) releaseLease(change *sluicev1.ReleaseLeaseChange) error {
	if err := s.checkPath(change.GetVolume(), change.GetPath()); err != nil {
		return err
	}
	lease, isThere := s.leases.Get(entry.Lease{Volume: change.GetVolume(), Path: change.GetPath()})
	if !isThere {
		return entry.Refusef(entry.NotFound, "nobody has a lease on %q", change.GetPath()).WithHint("It was released already, or has expired.")
	}
	if lease.Epoch != change.GetEpoch() && !s.isOuter(lease, change.GetEpoch()) {
		return fenced(lease.Path, change.GetEpoch(), &lease)
	}
	s.leases.Delete(lease)
	return nil
}

// isOuter says whether an epoch is that of the lease that another is under.
func (s *State) isOuter(lease entry.Lease, epoch uint64) bool {
	if lease.Path == entry.Root {
		return false
	}
	parent, _ := entry.SplitPath(lease.Path)
	outer := s.covering(lease.Volume, parent)
	return outer != nil && outer.Epoch == epoch
}

func (s *State) expire(epochs []uint64) {
	var over []entry.Lease
	s.leases.Scan(func(lease entry.Lease) bool {
		if slices.Contains(epochs, lease.Epoch) {
			over = append(over, lease)
		}
		return true
	})
	for _, lease := range over {
		s.leases.Delete(lease)
	}
}

// covering is the lease with the longest path that covers this one, nil if there is none.
func (s *State) covering(volume, path string) *entry.Lease {
	for {
		if lease, isThere := s.leases.Get(entry.Lease{Volume: volume, Path: path}); isThere {
			return &lease
		}
		if path == entry.Root {
			return nil
		}
		path, _ = entry.SplitPath(path)
	}
}

// checkEpoch refuses whoever does not have the lease that counts for the path.
func (s *State) checkEpoch(volume, path string, epoch uint64) error {
	if err := s.checkPath(volume, path); err != nil {
		return err
	}
	lease := s.covering(volume, path)
	if lease == nil || lease.Epoch != epoch {
		return fenced(path, epoch, lease)
	}
	return nil
}

// checkFileEpoch is checkEpoch for a file, of which any path will do.
func (s *State) checkFileEpoch(f *file, epoch uint64) error {
	var err error
	for _, name := range f.names {
		if err = s.checkEpoch(f.Volume, s.pathOf(name), epoch); err == nil {
			return nil
		}
	}
	return err
}

// checkNoLease refuses what would take away the directory that somebody has a lease on, or one below.
func (s *State) checkNoLease(volume, path string) error {
	if lease, isThere := s.leases.Get(entry.Lease{Volume: volume, Path: path}); isThere {
		return held(lease)
	}
	below := strings.TrimSuffix(path, "/") + "/"
	var err error
	s.leases.Ascend(entry.Lease{Volume: volume, Path: below}, func(lease entry.Lease) bool {
		if lease.Volume == volume && strings.HasPrefix(lease.Path, below) {
			err = held(lease)
		}
		return false
	})
	return err
}
