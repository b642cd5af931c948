package pooltest

import (
	"context"
	"sync"

	"google.golang.org/grpc"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// Unanswered counts the files whose segments a server that is cut off has been asked to fence or to seal, and which are
// still waited for. The zero value is ready.
type Unanswered struct {
	mutex  sync.Mutex
	asked  map[string]int
	atOnce int
}

// Of gives a service whose requests are counted.
func (u *Unanswered) Of(service sluicev1.BlockServiceClient) sluicev1.BlockServiceClient {
	return countedService{service, u}
}

// MostFiles is how many files were waited for at the same time.
func (u *Unanswered) MostFiles() int {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	return u.atOnce
}

func (u *Unanswered) add(file string, change int) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.asked == nil {
		u.asked = make(map[string]int)
	}
	u.asked[file] += change
	if u.asked[file] == 0 {
		delete(u.asked, file)
	}
	u.atOnce = max(u.atOnce, len(u.asked))
}

type countedService struct {
	sluicev1.BlockServiceClient
	unanswered *Unanswered
}

func (c countedService) WriteSegments(
	ctx context.Context, options ...grpc.CallOption,
) (grpc.BidiStreamingClient[sluicev1.WriteSegmentsRequest, sluicev1.WriteSegmentsResponse], error) {
	stream, err := c.BlockServiceClient.WriteSegments(ctx, options...)
	if err != nil {
		return nil, err
	}
	return countedStream{stream, ctx, c.unanswered}, nil
}

type countedStream struct {
	grpc.BidiStreamingClient[sluicev1.WriteSegmentsRequest, sluicev1.WriteSegmentsResponse]
	ctx        context.Context
	unanswered *Unanswered
}

func (c countedStream) Send(request *sluicev1.WriteSegmentsRequest) error {
	if request.GetSeal() != nil || request.GetFence() != nil {
		file := string(request.GetSegment().GetFileId())
		c.unanswered.add(file, 1)
		context.AfterFunc(c.ctx, func() { c.unanswered.add(file, -1) })
	}
	return c.BidiStreamingClient.Send(request)
}
