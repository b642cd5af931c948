package files

import (
	"context"

	"sluice.dev/control/internal/pool/metadata/entry"
)

// Release ends the lease that somebody else has on a directory below the session's own: nothing is changed there under
// it from then on. That nobody has one is no error.
func (s *Session) Release(ctx context.Context, path string) error {
	if !s.isBelow(path) {
		return entry.Refusef(entry.Invalid, "%s is not below %s, which the session has the lease on", path, s.config.Path).
			WithHint("Name a directory below it.")
	}
	ctx, cancel := s.during(ctx)
	defer cancel()
	err := s.metadata.ReleaseLease(ctx, s.at(path))
	if entry.ReasonOf(err) == entry.NotFound {
		return nil
	}
	return s.explain(err)
}

func (s *Session) isBelow(path string) bool {
	return path != s.config.Path && entry.Covers(s.config.Path, path)
}

// endLeasesBelow ends those that an earlier holder has given away, and gives their number. In the order of their paths
// each is under the session's own lease when its turn comes.
func (s *Session) endLeasesBelow(ctx context.Context) (ended int, err error) {
	page := entry.Page[string]{After: s.config.Path, Limit: entry.MaxPageEntries}
	for {
		leases, more, err := s.metadata.Leases(ctx, s.config.Volume, page)
		if err != nil {
			return ended, err
		}
		for _, lease := range leases {
			page.After = lease.Path
			if !s.isBelow(lease.Path) {
				continue
			}
			if err := s.Release(ctx, lease.Path); err != nil {
				return ended, err
			}
			ended++
			s.logger.Info("a lease that was given away is ended", "volume", lease.Volume, "path", lease.Path, "holder", lease.Holder)
		}
		if !more || len(leases) == 0 {
			return ended, nil
		}
	}
}
