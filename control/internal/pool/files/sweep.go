package files

import (
	"context"
	"errors"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
)

// sweep has servers remove the segments of removed files, of whoever has removed them, until the session ends.
func (s *Session) sweep() {
	ticker := time.NewTicker(sweepPeriod)
	defer ticker.Stop()
	for {
		removed := s.removed
		err := s.sweepOnce(s.ctx)
		if err != nil && s.ctx.Err() == nil {
			s.logger.Warn("not all blocks of removed files are removed yet", "error", err)
			// With each further removal all that wait for a server would be tried again.
			removed = nil
		}
		select {
		case <-s.ctx.Done():
			return
		case <-ticker.C:
		case <-removed:
		}
	}
}

// wakeSweeper does not wait for it.
func (s *Session) wakeSweeper(removal *entry.Removal) {
	if removal == nil {
		return
	}
	select {
	case s.removed <- struct{}{}:
	default:
	}
}

// sweepOnce goes through the list of removals. One whose server does not answer stays for later, without what the others
// have of it: they must not fill up meanwhile.
func (s *Session) sweepOnce(ctx context.Context) error {
	var page entry.Page[*entry.FileID]
	page.Limit = entry.MaxPageEntries
	var last error
	silent := make(map[string]error)
	for {
		removals, more, err := s.metadata.Removals(ctx, page)
		if err != nil {
			return err
		}
		for _, removal := range removals {
			if err := s.reclaim(ctx, removal, silent); err != nil {
				last = err
			}
			page.After = &removal.ID
		}
		if !more {
			return last
		}
	}
}

// reclaim removes the segments of a file from all of its servers, and then the file from the list. A server that was
// silent for all of the patience is asked for no other file of the list.
func (s *Session) reclaim(ctx context.Context, removal entry.Removal, silent map[string]error) error {
	told := make(map[string]bool)
	var problems []error
	for _, node := range slices.Concat(removal.Layout.Servers...) {
		if told[node] {
			continue
		}
		told[node] = true
		err := silent[node]
		if err == nil {
			err = s.removeFrom(ctx, node, removal.ID)
		}
		if status.Code(err) == codes.DeadlineExceeded {
			silent[node] = err
		}
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	return s.metadata.ConfirmRemoval(ctx, removal.ID)
}

func (s *Session) removeFrom(ctx context.Context, node string, file entry.FileID) error {
	service, err := s.services(node)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.Options.Patience)
	defer cancel()
	_, err = service.RemoveFile(ctx, &sluicev1.RemoveFileRequest{FileId: file[:]})
	return err
}
