package files

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/stripe"
)

// removals is the list of removed files, of the metadata.
type removals interface {
	Removals(ctx context.Context, page entry.Page[*entry.FileID]) (removals []entry.Removal, more bool, err error)
	ConfirmRemoval(ctx context.Context, id entry.FileID) error
}

// sweeper has servers remove the segments of removed files, of whoever has removed them.
type sweeper struct {
	removals removals
	services stripe.Services
	patience time.Duration
	logger   *slog.Logger
	// woken has something in it when a file was removed.
	woken chan struct{}
}

// sweep goes on until its context ends.
func (s *sweeper) sweep(ctx context.Context) {
	ticker := time.NewTicker(sweepPeriod)
	defer ticker.Stop()
	for {
		woken := s.woken
		err := s.sweepOnce(ctx)
		if err != nil && ctx.Err() == nil {
			s.logger.Warn("not all blocks of removed files are removed yet", "error", err)
			// With each further removal all that wait for a server would be tried again.
			woken = nil
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-woken:
		}
	}
}

// wake does not wait for it.
func (s *sweeper) wake(removal *entry.Removal) {
	if removal == nil {
		return
	}
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// sweepOnce goes through the list of removals. One whose server does not answer stays for later, without what the others
// have of it: they must not fill up meanwhile.
func (s *sweeper) sweepOnce(ctx context.Context) error {
	var page entry.Page[*entry.FileID]
	page.Limit = entry.MaxPageEntries
	var last error
	silent := make(map[string]error)
	for {
		removed, more, err := s.removals.Removals(ctx, page)
		if err != nil {
			return err
		}
		for _, removal := range removed {
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
func (s *sweeper) reclaim(ctx context.Context, removal entry.Removal, silent map[string]error) error {
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
	return s.removals.ConfirmRemoval(ctx, removal.ID)
}

func (s *sweeper) removeFrom(ctx context.Context, node string, file entry.FileID) error {
	service, err := s.services(node)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	_, err = service.RemoveFile(ctx, &sluicev1.RemoveFileRequest{FileId: file[:]})
	return err
}
