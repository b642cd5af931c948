package files

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
)

// swept is a list of removed files and servers that are told of them.
type swept struct {
	mutex   sync.Mutex
	waiting []entry.Removal
	// silent is a server that does not answer.
	silent string
	told   int
}

func (s *swept) Removals(_ context.Context, page entry.Page[*entry.FileID]) ([]entry.Removal, bool, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for i, removal := range s.waiting {
		if page.After == nil || string(removal.ID[:]) > string(page.After[:]) {
			return []entry.Removal{removal}, i+1 < len(s.waiting), nil
		}
	}
	return nil, false, nil
}

func (s *swept) ConfirmRemoval(_ context.Context, id entry.FileID) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var left []entry.Removal
	for _, removal := range s.waiting {
		if removal.ID != id {
			left = append(left, removal)
		}
	}
	s.waiting = left
	return nil
}

// remove gives the file that was removed, which is in the list from then on.
func (s *swept) remove(number int, servers ...string) *entry.Removal {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	removal := entry.Removal{ID: entry.FileID{byte(number)}, Layout: entry.Layout{Servers: [][]string{servers}}}
	s.waiting = append(s.waiting, removal)
	return &removal
}

func (s *swept) setSilent(node string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.silent = node
}

func (s *swept) counts() (told, waiting int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.told, len(s.waiting)
}

// sweptServer is one of the servers.
type sweptServer struct {
	sluicev1.BlockServiceClient
	of   *swept
	node string
}

func (s sweptServer) RemoveFile(
	context.Context, *sluicev1.RemoveFileRequest, ...grpc.CallOption,
) (*sluicev1.RemoveFileResponse, error) {
	s.of.mutex.Lock()
	defer s.of.mutex.Unlock()
	s.of.told++
	if s.node == s.of.silent {
		return nil, status.Error(codes.Unavailable, "it is down")
	}
	return &sluicev1.RemoveFileResponse{}, nil
}

// start has a sweeper run until the test ends.
func (s *swept) start(t *testing.T) *sweeper {
	sweeper := &sweeper{
		removals: s, patience: time.Second, logger: slog.New(slog.DiscardHandler), woken: make(chan struct{}, 1),
		services: func(node string) (sluicev1.BlockServiceClient, error) { return sweptServer{of: s, node: node}, nil },
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { sweeper.sweep(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	synctest.Wait()
	return sweeper
}

// TestRemovalsThatWaitForAServer are not all tried again with each further one, of which a store makes many.
func TestRemovalsThatWaitForAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const removed = 30
		s := &swept{silent: "pool2"}
		sweeper, servers := s.start(t), []string{"pool1", "pool2", "pool3"}
		for i := range removed {
			sweeper.wake(s.remove(i, servers...))
			// All that the sweeper does about it is done.
			synctest.Wait()
		}
		if told, waiting := s.counts(); told > removed*len(servers) || waiting != removed {
			t.Errorf("servers are told %d times to remove %d files, of which %d wait", told, removed, waiting)
		}
		s.setSilent("")
		time.Sleep(sweepPeriod)
		synctest.Wait()
		if told, waiting := s.counts(); waiting > 0 {
			t.Errorf("%d files wait still, after servers were told %d times", waiting, told)
		}
	})
}

// TestARemovalWakesTheSweeper where all servers answer.
func TestARemovalWakesTheSweeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &swept{}
		sweeper := s.start(t)
		for i := range 3 {
			sweeper.wake(s.remove(i, "pool1"))
			synctest.Wait()
			if told, waiting := s.counts(); told != i+1 || waiting > 0 {
				t.Errorf("after %d removals servers were told %d times, and %d wait", i+1, told, waiting)
			}
		}
		sweeper.wake(nil)
	})
}
