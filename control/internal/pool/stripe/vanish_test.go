package stripe_test

import (
	"context"
	"sync"
	"testing"

	"google.golang.org/grpc"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/pooltest"
	"sluice.dev/control/internal/pool/segment"
	"sluice.dev/control/internal/pool/stripe"
)

// beforeSeal is a server that something happens to before it is asked to seal anything.
type beforeSeal struct {
	sluicev1.BlockServiceClient
	happen func()
}

func (b beforeSeal) WriteSegments(
	ctx context.Context, options ...grpc.CallOption,
) (grpc.BidiStreamingClient[sluicev1.WriteSegmentsRequest, sluicev1.WriteSegmentsResponse], error) {
	stream, err := b.BlockServiceClient.WriteSegments(ctx, options...)
	return beforeSealStream{stream, b.happen}, err
}

type beforeSealStream struct {
	grpc.BidiStreamingClient[sluicev1.WriteSegmentsRequest, sluicev1.WriteSegmentsResponse]
	happen func()
}

func (b beforeSealStream) Send(request *sluicev1.WriteSegmentsRequest) error {
	if request.GetSeal() != nil {
		b.happen()
	}
	return b.BidiStreamingClient.Send(request)
}

// TestSegmentThatVanishesAfterItWasFenced is lost, as of a disk that was replaced: nobody may take it for sealed.
func TestSegmentThatVanishesAfterItWasFenced(t *testing.T) {
	pool := pooltest.New(t, 2)
	tr := newTrial(t, pool, pool.Names(), 2)
	content := some(4 * blockBytes)
	tr.leave(content)
	gone := tr.file.Servers[1][0]
	service, err := pool.Service(gone)
	if err != nil {
		t.Fatal(err)
	}
	vanish := sync.OnceFunc(func() { removeFile(t, service, tr.file.ID) })
	services := func(node string) (sluicev1.BlockServiceClient, error) {
		if node == gone {
			return beforeSeal{service, vanish}, nil
		}
		return pool.Service(node)
	}
	length, err := stripe.Recover(t.Context(), tr.file, 2, int64(len(content)), services, options(), tr.lose)
	if err != nil || length != int64(len(content)) {
		t.Fatalf("ended with %d bytes of %d: %v", length, len(content), err)
	}
	if len(tr.lost) != 2 {
		t.Errorf("lost %v, where one of two servers has nothing any more", tr.lost)
	}
	for place, cause := range tr.lost {
		if tr.file.Servers[place.Copy][place.Slot] != gone || segment.ReasonOf(cause) != segment.NotFound {
			t.Errorf("%v is lost for %v", place, cause)
		}
	}
	tr.mustHave(content)
}

// absurdLength answers to all requests to write with a length that no segment has.
type absurdLength struct{ sluicev1.BlockServiceClient }

func (a absurdLength) WriteSegments(
	ctx context.Context, options ...grpc.CallOption,
) (grpc.BidiStreamingClient[sluicev1.WriteSegmentsRequest, sluicev1.WriteSegmentsResponse], error) {
	stream, err := a.BlockServiceClient.WriteSegments(ctx, options...)
	return absurdLengthStream{stream}, err
}

type absurdLengthStream struct {
	grpc.BidiStreamingClient[sluicev1.WriteSegmentsRequest, sluicev1.WriteSegmentsResponse]
}

func (a absurdLengthStream) Recv() (*sluicev1.WriteSegmentsResponse, error) {
	answer, err := a.BidiStreamingClient.Recv()
	if err == nil {
		answer.LengthBytes = 1 << 62
	}
	return answer, err
}

// TestAbsurdLengthsCutNothingOff of what was synced: they are more than can be counted with.
func TestAbsurdLengthsCutNothingOff(t *testing.T) {
	pool := pooltest.New(t, 2)
	tr := newTrial(t, pool, pool.Names(), 1)
	content := some(4 * blockBytes)
	tr.leave(content)
	services := func(node string) (sluicev1.BlockServiceClient, error) {
		service, err := pool.Service(node)
		if node == tr.file.Servers[0][1] {
			return absurdLength{service}, err
		}
		return service, err
	}
	if length, err := stripe.Recover(t.Context(), tr.file, 2, int64(len(content)), services, options(), tr.lose); err == nil {
		t.Errorf("ended with %d bytes of %d", length, len(content))
	}
	if length, err := tr.recover(3, len(content), options()); err != nil || length != int64(len(content)) {
		t.Errorf("ended with %d bytes of %d: %v", length, len(content), err)
	}
	tr.mustHave(content)
}
