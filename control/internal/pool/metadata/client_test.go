package metadata

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/metadata/message"
)

// electing are voters of which the first is gone, and the last leads from some time on. Until then nobody knows a leader.
type electing struct {
	// takes is when that begins.
	takes time.Time
	asked int
}

// electingVoter is one of them.
type electingVoter struct {
	sluicev1.PoolMetadataServiceClient
	of     *electing
	number int
}

func (v electingVoter) ListVolumes(
	context.Context, *sluicev1.ListVolumesRequest, ...grpc.CallOption,
) (*sluicev1.ListVolumesResponse, error) {
	v.of.asked++
	isOver := !time.Now().Before(v.of.takes)
	switch {
	case v.number == 0:
		return nil, status.Error(codes.Unavailable, "it is gone")
	case v.number == 2 && isOver:
		return &sluicev1.ListVolumesResponse{}, nil
	}
	refusal := entry.Refusef(entry.NotLeader, "it does not lead")
	if isOver {
		refusal.Leader = nameOf(2)
	}
	return nil, message.Status(refusal)
}

func nameOf(voter int) string { return fmt.Sprintf("n%d", voter+1) }

// electingClient is a client of three such voters.
func electingClient(t *testing.T, voters *electing) *Client {
	t.Helper()
	var stubs []sluicev1.PoolMetadataServiceClient
	for number := range 3 {
		stubs = append(stubs, electingVoter{of: voters, number: number})
	}
	return clientOf(t, stubs)
}

// clientOf is a client of voters, which has no network.
func clientOf(t *testing.T, stubs []sluicev1.PoolMetadataServiceClient) *Client {
	t.Helper()
	client := &Client{window: newWindow(), stubs: stubs}
	var names []string
	for number := range stubs {
		connection, err := grpc.NewClient("passthrough:///none", grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, nameOf(number))
		client.connections = append(client.connections, connection)
	}
	t.Cleanup(func() { _ = client.Close() })
	client.route = newRoute(names, client.connections)
	return client
}

// TestNewLeaderIsAskedSoon, whoever was asked last before there was one: within a pause, and without asking all the time.
func TestNewLeaderIsAskedSoon(t *testing.T) {
	const most, offsets, patience = 5 * time.Second, 40, time.Minute
	for i := range offsets {
		elected := most * time.Duration(i) / offsets
		voters := &electing{}
		client := electingClient(t, voters)
		synctest.Test(t, func(t *testing.T) {
			voters.takes = time.Now().Add(elected)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if _, err := call(ctx, client, &sluicev1.ListVolumesRequest{}, sluicev1.PoolMetadataServiceClient.ListVolumes); err != nil {
				t.Fatal(err)
			}
			if late := time.Since(voters.takes); late > longestPause {
				t.Errorf("the leader of %v is asked %v late", elected, late)
			}
			if most := 3 * (12 + int(2*elected/longestPause)); voters.asked > most {
				t.Errorf("within %v voters were asked %d times, and %d were enough", elected, voters.asked, most)
			}
		})
	}
}

// TestNobodyIsAskedInVain once the time of the caller is over.
func TestNobodyIsAskedInVain(t *testing.T) {
	voters := &electing{}
	client := electingClient(t, voters)
	synctest.Test(t, func(t *testing.T) {
		voters.takes = time.Now().Add(time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := call(ctx, client, &sluicev1.ListVolumesRequest{}, sluicev1.PoolMetadataServiceClient.ListVolumes)
		if err == nil || voters.asked > 1 {
			t.Errorf("voters were asked %d times: %v", voters.asked, err)
		}
	})
}

// lateVoter is one of some of which the first leads, and was late with one answer. The others do not reach it, or pass nothing on.
type lateVoter struct {
	sluicev1.PoolMetadataServiceClient
	number int
	isLate *bool
}

func (v lateVoter) ListVolumes(
	ctx context.Context, _ *sluicev1.ListVolumesRequest, _ ...grpc.CallOption,
) (*sluicev1.ListVolumesResponse, error) {
	if v.number > 0 {
		refusal := entry.Refusef(entry.NotLeader, "it does not lead")
		refusal.Leader = nameOf(0)
		return nil, message.Status(refusal)
	}
	if *v.isLate {
		*v.isLate = false
		<-ctx.Done()
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	return &sluicev1.ListVolumesResponse{}, nil
}

// TestLeaderThatWasLateIsAskedAgain once all others were, of whom none has passed the call on: a lease has not the time that
// one who is cut off is left alone for.
func TestLeaderThatWasLateIsAskedAgain(t *testing.T) {
	const voters, callTime = 5, 10 * time.Second
	isLate := true
	var stubs []sluicev1.PoolMetadataServiceClient
	for number := range voters {
		stubs = append(stubs, lateVoter{number: number, isLate: &isLate})
	}
	client := clientOf(t, stubs)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), callTime)
		defer cancel()
		if _, err := call(ctx, client, &sluicev1.ListVolumesRequest{}, sluicev1.PoolMetadataServiceClient.ListVolumes); err != nil {
			t.Error(err)
		}
	})
	if isLate {
		t.Error("the leader was never late")
	}
}
