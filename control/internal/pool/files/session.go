// Package files is the files of a pool, as the one sees them that holds the lease on a directory of a volume:
// it makes, reads, renames and removes them, and ends those that the holder before has left open.
package files

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/pool/stripe"
	"sluice.dev/control/internal/store"
)

// Config says what a session is on, and how it makes files.
type Config struct {
	Volume, Path string
	// Holder is who is told to others that want the lease.
	Holder string
	// TimeToLive of the lease: so long after this process is gone another one can take the directory over.
	TimeToLive time.Duration
	// Servers are the nodes that new files are spread over.
	Servers    []string
	Copies     int
	BlockBytes int64
	Options    stripe.Options
	// Suspects may be shared with other sessions: new files are not put on such nodes while there are enough others.
	Suspects *stripe.Suspects
	// Continues is, of one that goes on after it was gone for a while, a file that it has left open: if that is not
	// open any more, somebody else has had the lease since.
	Continues *entry.FileID
	// OuterEpoch is that of the lease that the path is under, whose holder has given it away; 0 if there is none.
	OuterEpoch uint64
}

// sweepPeriod is how often servers are told again to remove what they could not be told before.
const sweepPeriod = time.Minute

// mostRecovered is how many files are ended at once that were left open.
const mostRecovered = 32

// Session holds a lease. All that it does ends with an error once the lease is lost.
type Session struct {
	config   Config
	metadata *metadata.Client
	services stripe.Services
	logger   *slog.Logger
	view     View
	lease    entry.Lease

	ctx        context.Context
	end        context.CancelCauseFunc
	background sync.WaitGroup
	sweeper    sweeper
}

var errDetached = store.Errorf(store.CodeRefused, "the session is over").WithHint("Begin another one.")

// Attach takes the lease, and ends the leases below it and the files that were left open. Detach gives the lease back. The context is
// for taking it alone.
func Attach(
	ctx context.Context, config Config, client *metadata.Client, services stripe.Services, logger *slog.Logger,
) (*Session, error) {
	begin := time.Now()
	lease, left, err := client.AcquireLease(ctx, metadata.NewLease{
		Volume: config.Volume, Path: config.Path, Holder: config.Holder, TimeToLive: config.TimeToLive,
		OuterEpoch: config.OuterEpoch,
	})
	if err != nil {
		return nil, errors.Join(err, giveBack(ctx, client, lease))
	}
	if err := config.goesOn(left); err != nil {
		return nil, errors.Join(err, giveBack(ctx, client, lease))
	}
	s := &Session{
		config: config, metadata: client, services: services, logger: logger, lease: lease,
		sweeper: sweeper{
			removals: client, services: services, patience: config.Options.Patience, logger: logger, woken: make(chan struct{}, 1),
		},
		view: View{Volume: config.Volume, Metadata: client, Services: services, Options: config.Options, Suspects: config.Suspects, Logger: logger},
	}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	s.background.Go(func() { s.renew(begin) })
	if err := s.takeOver(ctx, left); err != nil {
		return nil, errors.Join(err, s.Detach(ctx))
	}
	s.background.Go(func() { s.sweeper.sweep(s.ctx) })
	return s, nil
}

// takeOver ends what the holder before has left: leases that it has given away, and files.
func (s *Session) takeOver(ctx context.Context, left []entry.OpenFile) error {
	ended, err := s.endLeasesBelow(ctx)
	if err == nil && ended > 0 {
		// Until then their holders could make and end files.
		left, err = s.metadata.AllOpenFiles(ctx, s.config.Volume, s.config.Path)
	}
	if err != nil {
		return fmt.Errorf("end the leases below %s: %w", s.config.Path, err)
	}
	return s.recoverAll(ctx, left)
}

// recoverAll ends files at once: one after the other, each would wait for a server that is silent.
func (s *Session) recoverAll(ctx context.Context, left []entry.OpenFile) error {
	recovering, ctx := errgroup.WithContext(ctx)
	recovering.SetLimit(mostRecovered)
	for _, file := range left {
		recovering.Go(func() error {
			if err := s.recover(ctx, file); err != nil {
				return fmt.Errorf("end the file %s that was left open: %w", file.Path, err)
			}
			return nil
		})
	}
	return recovering.Wait()
}

func (c Config) goesOn(left []entry.OpenFile) error {
	isIt := func(file entry.OpenFile) bool { return file.File.ID == *c.Continues }
	if c.Continues == nil || slices.ContainsFunc(left, isIt) {
		return nil
	}
	return entry.Refusef(entry.Fenced, "somebody else has had the lease on %s of the volume %s meanwhile", c.Path, c.Volume).
		WithHint("Open the store anew: its files may have changed.")
}

// giveBack returns a lease that nothing can be done with, if there is one.
func giveBack(ctx context.Context, client *metadata.Client, lease entry.Lease) error {
	if lease.Epoch == 0 {
		return nil
	}
	return client.ReleaseLease(ctx, metadata.At{Volume: lease.Volume, Path: lease.Path, Epoch: lease.Epoch})
}

// Detach gives the lease back. Files that are being written stay open, and are ended by the next holder.
func (s *Session) Detach(ctx context.Context) error {
	s.end(errDetached)
	s.background.Wait()
	return s.metadata.ReleaseLease(ctx, s.at(s.config.Path))
}

// Epoch is that of the lease.
func (s *Session) Epoch() uint64 {
	return s.lease.Epoch
}

// Lost is closed once the lease is, or the session is over.
func (s *Session) Lost() <-chan struct{} {
	return s.ctx.Done()
}

// renew has the lease last, and ends the session when it may have run out: others may have it then.
func (s *Session) renew(last time.Time) {
	const partsOfItsTime = 4
	ticker := time.NewTicker(s.lease.TimeToLive / partsOfItsTime)
	defer ticker.Stop()
	for {
		ends := last.Add(s.lease.TimeToLive)
		ctx, cancel := context.WithDeadline(s.ctx, ends)
		begin := time.Now()
		err := s.metadata.RenewLease(ctx, s.lease)
		cancel()
		switch {
		case err == nil:
			last = begin
		case s.ctx.Err() != nil:
			return
		case entry.ReasonOf(err) != entry.Unavailable || !time.Now().Before(ends):
			s.end(fmt.Errorf("the lease on %s of the volume %s is lost: %w", s.config.Path, s.config.Volume, err))
			return
		}
		select {
		case <-s.ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// during bounds a call by the session as well.
func (s *Session) during(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// explain gives why the session is over, of a call that has failed for that.
func (s *Session) explain(err error) error {
	if err != nil && s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	return err
}

func (s *Session) at(path string) metadata.At {
	return metadata.At{Volume: s.config.Volume, Path: path, Epoch: s.lease.Epoch}
}

// recover ends a file that the holder before has left open.
func (s *Session) recover(ctx context.Context, left entry.OpenFile) error {
	ctx, cancel := s.during(ctx)
	defer cancel()
	length, err := stripe.Recover(ctx, StripesOf(left.File), s.lease.Epoch, int64(left.File.LengthBytes), s.services, s.config.Options,
		s.lost(StripesOf(left.File)))
	if err != nil {
		return err
	}
	s.logger.Info("a file that was left open is ended", "volume", s.config.Volume, "path", left.Path, "bytes", length)
	return s.metadata.SealFile(ctx, left.File.ID, s.lease.Epoch, uint64(length))
}

// lost notes segments that are not to be read.
func (s *Session) lost(file stripe.File) stripe.Lost {
	return func(ctx context.Context, place stripe.Place, cause error) error {
		node := file.Servers[place.Copy][place.Slot]
		// A server that says that there is no segment has lost no more than this one.
		if segment.ReasonOf(cause) != segment.NotFound {
			s.config.Suspects.Add(node)
		}
		err := s.metadata.MarkMissing(ctx, metadata.Part{
			ID: file.ID, Epoch: s.lease.Epoch, Place: entry.Place{Slot: uint32(place.Slot), Copy: uint32(place.Copy)},
		})
		if reason := entry.ReasonOf(err); reason == entry.Fenced || reason == entry.NotFound {
			return err // The file is somebody else's by now, who may have removed it.
		}
		s.logger.Warn("a copy of a file is lost", "file", file.ID.String(), "slot", place.Slot, "copy", place.Copy, "node", node, "error", cause)
		return err
	}
}

// StripesOf is where a file is.
func StripesOf(file entry.File) stripe.File {
	missing := make(map[stripe.Place]bool)
	for _, place := range file.Missing {
		missing[stripe.Place{Slot: int(place.Slot), Copy: int(place.Copy)}] = true
	}
	return stripe.File{
		ID:      file.ID,
		Stripes: layout.Stripes{BlockBytes: int64(file.Layout.BlockBytes), Slots: file.Layout.Slots()},
		Servers: file.Layout.Servers, Missing: missing,
	}
}
