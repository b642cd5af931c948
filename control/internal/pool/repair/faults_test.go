package repair_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/metadata"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/repair"
	"sluice.dev/control/internal/pool/stripe"
)

// watched has something done before each call of a server, and after a list.
type watched struct {
	sluicev1.BlockServiceClient
	node   string
	before func(node, call string)
}

func watch(services stripe.Services, before func(node, call string)) stripe.Services {
	return func(node string) (sluicev1.BlockServiceClient, error) {
		service, err := services(node)
		return watched{service, node, before}, err
	}
}

func (s watched) WriteSegments(ctx context.Context, options ...grpc.CallOption) (sluicev1.BlockService_WriteSegmentsClient, error) {
	s.before(s.node, "write")
	stream, err := s.BlockServiceClient.WriteSegments(ctx, options...)
	return watchedStream{stream, s}, err
}

func (s watched) ReadSegment(ctx context.Context, request *sluicev1.ReadSegmentRequest, options ...grpc.CallOption) (*sluicev1.ReadSegmentResponse, error) {
	s.before(s.node, "read")
	return s.BlockServiceClient.ReadSegment(ctx, request, options...)
}

func (s watched) ListSegments(ctx context.Context, request *sluicev1.ListSegmentsRequest, options ...grpc.CallOption) (*sluicev1.ListSegmentsResponse, error) {
	s.before(s.node, "list")
	defer s.before(s.node, "listed")
	return s.BlockServiceClient.ListSegments(ctx, request, options...)
}

func (s watched) RemoveSegment(ctx context.Context, request *sluicev1.RemoveSegmentRequest, options ...grpc.CallOption) (*sluicev1.RemoveSegmentResponse, error) {
	s.before(s.node, "remove")
	return s.BlockServiceClient.RemoveSegment(ctx, request, options...)
}

type watchedStream struct {
	sluicev1.BlockService_WriteSegmentsClient
	of watched
}

func (s watchedStream) Send(request *sluicev1.WriteSegmentsRequest) error {
	call := "append"
	if request.GetSeal() != nil {
		call = "seal"
	}
	s.of.before(s.of.node, call)
	return s.BlockService_WriteSegmentsClient.Send(request)
}

// TestKilledRepair ends passes at any call, of a process that knows nothing of those before: what is listed is there at
// any time, and in the end all is whole, and nothing else is left.
func TestKilledRepair(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5)
	all := []string{"pool1", "pool2", "pool3", "pool4", "pool5"}
	session := w.attach("pool1", "pool2", "pool3", "pool4")
	w.putSome(session, 10)
	w.pool.Servers["pool1"].Stop()
	chance := rand.New(rand.NewPCG(1, 2))
	kills := 0
	for isKilled := true; isKilled; {
		isKilled = w.passUntil(1+chance.Int64N(40), all)
		if isKilled {
			kills++
		}
		w.mustHaveWhatIsListed("pool2", "pool3", "pool4", "pool5")
		if t.Failed() {
			t.Fatalf("after it was killed %d times", kills)
		}
	}
	if kills < 5 {
		t.Errorf("it was killed only %d times", kills)
	}
	w.settle(w.repairer(w.pool.Service, all...))
	w.mustBeWhole("pool2", "pool3", "pool4", "pool5")
}

// passUntil makes a pass that ends with one of its calls.
func (w *world) passUntil(calls int64, servers []string) (isKilled bool) {
	w.t.Helper()
	ctx, kill := context.WithCancel(w.t.Context())
	defer kill()
	var left atomic.Int64
	left.Store(calls)
	repairer := w.repairer(watch(w.pool.Service, func(string, string) {
		if left.Add(-1) == 0 {
			kill()
		}
	}), servers...)
	_, err := repairer.Pass(ctx)
	isKilled = ctx.Err() != nil
	if err != nil && !isKilled {
		w.t.Errorf("a pass has failed: %v", err)
	}
	// Else the next one waits until the lease has run out.
	if err := repairer.Close(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return isKilled
}

// TestFileRemovedMeanwhile at each step of its repair leaves no segments behind.
func TestFileRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"remove", "write", "read", "append", "seal", "list", "listed"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 3)
			session := w.attach("pool1", "pool2")
			w.putSome(session, 3)
			var once sync.Once
			services := watch(w.pool.Service, func(node, call string) {
				if node != "pool3" && call != "read" || call != step {
					return
				}
				once.Do(func() {
					for i := range 3 {
						if err := session.Remove(context.Background(), fmt.Sprintf("/%06d.sst", i)); err != nil {
							t.Error(err)
						}
					}
				})
			})
			w.settle(w.repairer(services, "pool2", "pool3"))
			w.settle(w.repairer(w.pool.Service, "pool1", "pool2", "pool3"))
			if len(w.allFiles()) > 0 {
				t.Error("nothing was removed")
			}
			eventually(t, "the removed files are swept", func() bool { return !w.hasRemovals() })
			w.mustBeWhole("pool1", "pool2", "pool3")
		})
	}
}

// TestServerThatTakesNothing has segments made on another.
func TestServerThatTakesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	session := w.attach("pool1", "pool2")
	w.putSome(session, 4)
	w.patience = lossPatience
	services := func(node string) (sluicev1.BlockServiceClient, error) {
		service, err := w.pool.Service(node)
		if node == "pool3" {
			service = refusing{service}
		}
		return service, err
	}
	w.settle(w.repairer(services, "pool2", "pool3", "pool4"))
	w.patience = time.Minute
	w.settle(w.repairer(w.pool.Service, "pool1", "pool2", "pool3", "pool4"))
	w.mustBeWhole("pool1", "pool2", "pool3", "pool4")
	if len(w.held("pool3")) > 0 || len(w.held("pool4")) == 0 {
		t.Errorf("pool3 has %d segments, and pool4 %d", len(w.held("pool3")), len(w.held("pool4")))
	}
}

type refusing struct{ sluicev1.BlockServiceClient }

func (refusing) WriteSegments(context.Context, ...grpc.CallOption) (sluicev1.BlockService_WriteSegmentsClient, error) {
	return nil, errors.New("it takes nothing")
}

// TestDamagedSegments that scrubbing has found are made anew: on another server, or in place where there is none.
func TestDamagedSegments(t *testing.T) {
	t.Parallel()
	for _, servers := range [][]string{{"pool1", "pool2"}, {"pool1", "pool2", "pool3"}} {
		t.Run(fmt.Sprintf("%d servers", len(servers)), func(t *testing.T) {
			w := newWorld(t, len(servers))
			session := w.attach(servers...)
			w.putSome(session, 4)
			w.damage("pool2")
			ctx, end := context.WithCancel(t.Context())
			var scrubbing sync.WaitGroup
			scrubbing.Go(func() { w.pool.Servers["pool2"].Scrub(ctx) })
			eventually(t, "scrubbing finds it", func() bool { return w.damaged("pool2") == 1 })
			end()
			scrubbing.Wait()
			w.settle(w.repairer(w.pool.Service, servers...))
			w.mustBeWhole(servers...)
		})
	}
}

// damage changes a byte of one segment of a server that is not empty.
func (w *world) damage(server string) {
	w.t.Helper()
	paths, err := filepath.Glob(filepath.Join(w.pool.Servers[server].Directory, "*", "*", "*.sealed"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(content) == 0 {
			continue
		}
		content[0] ^= 1
		if err := os.WriteFile(path, content, 0o600); err != nil {
			w.t.Fatal(err)
		}
		return
	}
	w.t.Fatal("the server has no bytes")
}

func (w *world) damaged(server string) int {
	w.t.Helper()
	count := 0
	for _, state := range w.held(server) {
		if state.Damaged {
			count++
		}
	}
	return count
}

// TestLostDisk: a server that answers, and has nothing of what it had, gets it again.
func TestLostDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	session := w.attach("pool1", "pool2")
	w.putSome(session, 5)
	lost := w.pool.Servers["pool2"]
	lost.Stop()
	directories, err := filepath.Glob(filepath.Join(lost.Directory, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, directory := range directories {
		if err := os.RemoveAll(directory); err != nil {
			t.Fatal(err)
		}
	}
	lost.Start()
	if held := w.held("pool2"); len(held) > 0 {
		t.Fatalf("it has %v", held)
	}
	w.settle(w.repairer(w.pool.Service, "pool1", "pool2"))
	w.mustBeWhole("pool1", "pool2")
	w.mustRead(session)
}

// TestBothCopiesDamaged in different places: neither is given up where there is no third server.
func TestBothCopiesDamaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	session := w.attach("pool1", "pool2")
	if err := w.put(session, "/one", some(3, 8*blockBytes)); err != nil {
		t.Fatal(err)
	}
	w.damagePage("pool1", 0)
	w.damagePage("pool2", 1)
	ctx, end := context.WithCancel(t.Context())
	var scrubbing sync.WaitGroup
	for _, server := range w.pool.Servers {
		scrubbing.Go(func() { server.Scrub(ctx) })
	}
	eventually(t, "scrubbing finds both", func() bool { return w.damaged("pool1") == 2 && w.damaged("pool2") == 2 })
	end()
	scrubbing.Wait()
	repairer := w.repairer(w.pool.Service, "pool1", "pool2")
	if isDone, err := repairer.Pass(t.Context()); isDone || err != nil {
		t.Errorf("nothing damaged was found: %v", err)
	}
	if _, err := repairer.Pass(t.Context()); err == nil {
		t.Error("what cannot be made anew is told by nobody")
	}
	if err := repairer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if files := w.allFiles(); len(files) != 1 || len(files[0].Missing) > 0 {
		t.Errorf("a copy was given up: %+v", files)
	}
	w.mustRead(session)
}

// damagePage changes a byte of a page of all segments of a server.
func (w *world) damagePage(server string, page int) {
	w.t.Helper()
	paths, err := filepath.Glob(filepath.Join(w.pool.Servers[server].Directory, "*", "*", "*.sealed"))
	if err != nil || len(paths) == 0 {
		w.t.Fatal(paths, err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			w.t.Fatal(err)
		}
		content[page*blockBytes] ^= 1
		if err := os.WriteFile(path, content, 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
}

// TestLatePass goes on where its lease was given to another one, which has looked at all segments meanwhile: it is
// refused, and what is listed is there.
func TestLatePass(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	session := w.attach("pool1", "pool2")
	w.putSome(session, 4)
	var once sync.Once
	late := w.repairer(watch(w.pool.Service, func(node, call string) {
		if node == "pool3" && call == "listed" {
			once.Do(w.takeOver)
		}
	}), "pool2", "pool3")
	if _, err := late.Pass(t.Context()); err == nil {
		t.Error("a pass without a lease has changed the metadata")
	}
	w.mustHaveWhatIsListed("pool1", "pool2", "pool3")
	_ = late.Close(t.Context())
	w.settle(w.repairer(w.pool.Service, "pool1", "pool2", "pool3"))
	w.mustBeWhole("pool1", "pool2", "pool3")
}

// takeOver ends the lease of who repairs, as if its time was over, and makes passes with another one.
func (w *world) takeOver() {
	leases, _, err := w.metadata.Leases(context.Background(), repair.Volume, entry.Page[string]{})
	if err != nil || len(leases) != 1 {
		w.t.Errorf("%v: %v", leases, err)
		return
	}
	if err := w.metadata.ReleaseLease(context.Background(), metadata.At{Volume: repair.Volume, Path: "/", Epoch: leases[0].Epoch}); err != nil {
		w.t.Error(err)
	}
	w.settle(w.repairer(w.pool.Service, "pool1", "pool2", "pool3"))
}

// TestSegmentsOfAnotherPool are not removed, nor anything else of their server.
func TestSegmentsOfAnotherPool(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	service, err := w.pool.Service("pool1")
	if err != nil {
		t.Fatal(err)
	}
	for number, epoch := range []uint64{1, 1000} {
		file := stripe.File{
			ID: entry.FileID{byte(number + 1)}, Stripes: layout.Stripes{BlockBytes: blockBytes, Slots: 1}, Servers: [][]string{{"pool1"}},
		}
		services := func(string) (sluicev1.BlockServiceClient, error) { return service, nil }
		writer, err := stripe.NewWriter(t.Context(), file, epoch, services, w.options(), nil)
		if err != nil {
			t.Fatal(err)
		}
		appendErr := writer.Append([]byte("of another pool"))
		_, sealErr := writer.Seal()
		writer.Close()
		if err := errors.Join(appendErr, sealErr); err != nil {
			t.Fatal(err)
		}
	}
	repairer := w.repairer(w.pool.Service, "pool1", "pool2")
	for range 3 {
		if _, err := repairer.Pass(t.Context()); err == nil || !strings.Contains(err.Error(), "of another pool") {
			t.Errorf("it was told %v", err)
		}
	}
	if held := w.held("pool1"); len(held) != 2 {
		t.Errorf("left: %v", held)
	}
	if err := repairer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
