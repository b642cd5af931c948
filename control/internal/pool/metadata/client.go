package metadata

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/metadata/message"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/store"
)

const (
	// attemptTime is how long one voter may take, and the part of what is left that it may take at most: one that
	// hangs leaves time for the others, also of the little that a lease has left.
	attemptTime     = 5 * time.Second
	attemptsInTime  = 5
	shortestAttempt = 200 * time.Millisecond
	// longestCall ends calls whose context has no deadline.
	longestCall = 30 * time.Second
	// The pause after all voters were asked doubles, up to the longest; part of it is by chance.
	shortestPause = 20 * time.Millisecond
	longestPause  = time.Second
	clientIDBytes = 16
)

// Peer is the agent of a voter: its node, and the address of its network contract.
type Peer struct {
	Node, Address string
}

// Client asks for metadata, and changes it. It finds the leader by itself, and a voter that passes calls on to the leader
// where it does not reach that. It asks again until it has an answer or the context ends, without making a change twice. It
// is safe for concurrent use.
type Client struct {
	connections []*grpc.ClientConn
	stubs       []sluicev1.PoolMetadataServiceClient
	route       *route
	window      window
}

// NewClient makes a client of the voters. It connects when it is used.
func NewClient(peers []Peer, credentials *security.Credentials) (*Client, error) {
	if len(peers) == 0 {
		return nil, errors.New("the metadata has no voters: name the agents that hold it")
	}
	client := &Client{window: newWindow()}
	var names []string
	for _, peer := range peers {
		connection, err := grpc.NewClient(peer.Address, protocol.DialOptions(credentials, security.RoleAgent, peer.Node)...)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the address of the voter %s: %w", peer.Node, err), client.Close())
		}
		names = append(names, peer.Node)
		client.connections = append(client.connections, connection)
		client.stubs = append(client.stubs, sluicev1.NewPoolMetadataServiceClient(connection))
	}
	client.route = newRoute(names, client.connections)
	return client, nil
}

// Close ends the connections.
func (c *Client) Close() error {
	var problems []error
	for _, connection := range c.connections {
		problems = append(problems, connection.Close())
	}
	return errors.Join(problems...)
}

// change makes a change, once.
func (c *Client) change(ctx context.Context, request *sluicev1.ChangeMetadataRequest) (*sluicev1.ChangeMetadataResponse, error) {
	id, err := c.window.begin(ctx)
	if err != nil {
		return nil, unanswered(err, nil)
	}
	defer c.window.end(id.GetSerial())
	request.RequestId = id
	return call(ctx, c, request, sluicev1.PoolMetadataServiceClient.ChangeMetadata)
}

// call asks one voter after the other. It pauses when it has asked as many as there are: a pause before each would leave
// a new leader unasked for as long, of the little time that a lease may have left.
func call[Q, R any](
	ctx context.Context, c *Client, request *Q,
	ask func(stub sluicev1.PoolMetadataServiceClient, ctx context.Context, request *Q, options ...grpc.CallOption) (*R, error),
) (*R, error) {
	if _, has := ctx.Deadline(); !has {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, longestCall)
		defer cancel()
	}
	pause := shortestPause
	for attempts := 1; ; attempts++ {
		asked := c.route.next()
		attempt, cancel := context.WithTimeout(asked.header(ctx), attemptWithin(ctx))
		response, err := ask(c.stubs[asked.peer], attempt, request)
		cancel()
		if err == nil {
			return response, nil
		}
		refusal := message.RefusalIn(err)
		if !isRetried(refusal, err) {
			return nil, answerOf(refusal, err)
		}
		c.route.failed(asked, refusal, err)
		if attempts%len(c.stubs) == 0 {
			wait(ctx, pause/2+mathrand.N(pause/2))
			pause = min(2*pause, longestPause)
		}
		if ctx.Err() != nil {
			return nil, unanswered(ctx.Err(), err)
		}
	}
}

func wait(ctx context.Context, pause time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}

// attemptWithin is how long one voter may take of a context with a deadline.
func attemptWithin(ctx context.Context) time.Duration {
	deadline, _ := ctx.Deadline()
	return max(min(time.Until(deadline)/attemptsInTime, attemptTime), shortestAttempt)
}

// isRetried says whether another voter, or the same one later, may have an answer.
func isRetried(refusal *entry.Refusal, err error) bool {
	if refusal != nil {
		return refusal.Reason == entry.NotLeader || refusal.Reason == entry.Unavailable
	}
	code := status.Code(err)
	return code == codes.Unavailable || code == codes.DeadlineExceeded
}

func answerOf(refusal *entry.Refusal, err error) error {
	if refusal != nil {
		return refusal
	}
	return err
}

func unanswered(ended, last error) error {
	return store.Errorf(store.CodeUnavailable, "no leader of the pool's metadata has answered in time: %w", errors.Join(ended, last)).
		WithHint("A majority of the voters must be up. A change may have been made, or may still be: look before it is made anew.")
}

func newClientID() []byte {
	id := make([]byte, clientIDBytes)
	// It never fails: crypto/rand ends the program before.
	_, _ = rand.Read(id)
	return id
}
