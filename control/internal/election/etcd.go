package election

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"sluice.dev/control/internal/etcdclient"
)

// EtcdConfig says how to take part in an election in etcd.
type EtcdConfig struct {
	Endpoints []string
	// TLS is nil for connections that are not encrypted.
	TLS *tls.Config
	// KeyPrefix is where the cluster's election is held.
	KeyPrefix string
	// Name is that of this controller.
	Name string
	// SessionTimeToLive is after what time without a renewal another controller takes over. Whole seconds,
	// as etcd has it.
	SessionTimeToLive time.Duration
	// Now is a clock that never jumps: time.Now, except in tests.
	Now func() time.Time
	Log *slog.Logger
}

const (
	// renewalsPerSession is how often a session is renewed in its time to live; the share of it that is
	// the margin is as long as one of these steps.
	renewalsPerSession = 4
	// retryAfter is how long to wait after a failure before the next session is opened.
	retryAfter = 500 * time.Millisecond
	// farewellTimeout is for the message that a session is over.
	farewellTimeout = 500 * time.Millisecond
)

// errKeyGone says that an election that was won is lost, though the session goes on: whoever has deleted
// the key has let a standby win.
var errKeyGone = errors.New("the key of this controller was deleted in etcd")

type etcd struct {
	config EtcdConfig
	tenure *tenure
}

// session is a lease at etcd, and what was won with it.
type session struct {
	client *clientv3.Client
	lease  clientv3.LeaseID
	// won is the key that makes this controller the active one, nil until the election is won.
	won atomic.Pointer[leaderKey]
}

// leaderKey is a key as it was made: one that was deleted and made again has another revision.
type leaderKey struct {
	name     string
	revision int64
}

// NewEtcd is an election in etcd. The controller stops to act when the last renewal of its session that
// succeeded was sent more than three quarters of the session's time to live ago; the last quarter is the
// margin for orders in flight and for clocks that do not run at the same speed.
func NewEtcd(config EtcdConfig) Elector {
	margin := config.SessionTimeToLive / renewalsPerSession
	return &etcd{config: config, tenure: newTenure(config.Now, config.SessionTimeToLive, margin)}
}

func (e *etcd) State() State {
	return e.tenure.state()
}

func (e *etcd) Changed() <-chan struct{} {
	return e.tenure.changed
}

// Run opens one session after the other, each over a connection of its own, so that nothing of a broken
// one is left.
func (e *etcd) Run(ctx context.Context) {
	for ctx.Err() == nil {
		err := e.takePart(ctx)
		e.tenure.end(err)
		if ctx.Err() != nil {
			return
		}
		e.config.Log.Warn("no election at present", "error", err, "retry_after", retryAfter)
		wait(ctx, retryAfter)
	}
}

// takePart opens a session, runs for election in it, and holds what it wins until the session ends.
func (e *etcd) takePart(ctx context.Context) error {
	client, err := etcdclient.New(e.config.Endpoints, e.config.TLS)
	if err != nil {
		return fmt.Errorf("connect to etcd at %v: %w", e.config.Endpoints, err)
	}
	lease, err := e.openSession(ctx, client)
	if err != nil {
		return errors.Join(err, client.Close())
	}
	opened := &session{client: client, lease: lease}
	sessionCtx, cancel := context.WithCancelCause(ctx)
	finish := sync.OnceFunc(func() { e.closeSession(opened) })
	// A campaign that is broken off talks to etcd with the client's own context, which only closing ends.
	context.AfterFunc(sessionCtx, finish)
	defer finish()
	defer cancel(nil)
	return e.holdSession(sessionCtx, cancel, opened)
}

// holdSession returns when the session is over, and says why it is.
func (e *etcd) holdSession(ctx context.Context, cancel context.CancelCauseFunc, s *session) error {
	held, err := concurrency.NewSession(s.client, concurrency.WithLease(s.lease), concurrency.WithContext(ctx))
	if err != nil {
		return fmt.Errorf("open a session at etcd: %w", err)
	}
	go func() { cancel(e.renew(ctx, s)) }()
	go e.follow(ctx, concurrency.NewElection(held, e.config.KeyPrefix))

	if err := e.campaign(ctx, s, concurrency.NewElection(held, e.config.KeyPrefix)); err != nil {
		cancel(fmt.Errorf("run for election at etcd: %w", err))
		return context.Cause(ctx)
	}
	e.tenure.elect()
	e.config.Log.Info("this controller is now the active one")
	<-ctx.Done()
	return context.Cause(ctx)
}

// campaign returns when the election is won. A candidate whose key was deleted while it waited wins as
// soon as those before it are gone, and so looks for its key once more.
func (e *etcd) campaign(ctx context.Context, s *session, election *concurrency.Election) error {
	if err := election.Campaign(ctx, e.config.Name); err != nil {
		return err
	}
	s.won.Store(&leaderKey{name: election.Key(), revision: election.Rev()})
	return s.checkKey(ctx)
}

// openSession asks for the time to live as configured and takes no other: the time in which a standby
// takes over depends on it.
func (e *etcd) openSession(ctx context.Context, client *clientv3.Client) (clientv3.LeaseID, error) {
	ctx, cancel := context.WithTimeout(ctx, e.config.SessionTimeToLive)
	defer cancel()
	wanted := int64(e.config.SessionTimeToLive / time.Second)
	sentAt := e.config.Now()
	granted, err := client.Grant(ctx, wanted)
	if err != nil {
		return 0, fmt.Errorf("open a session at etcd %v: %w", e.config.Endpoints, err)
	}
	if granted.TTL != wanted {
		return 0, fmt.Errorf("etcd grants sessions of %d s at least, not %d s: "+
			"shorten its election timeout, or lengthen session_time_to_live_seconds", granted.TTL, wanted)
	}
	e.tenure.renewed(sentAt)
	return granted.ID, nil
}

// closeSession stops to act, and then lets a standby take over at once instead of after the time to live.
// If etcd does not hear of it, the session runs out.
func (e *etcd) closeSession(s *session) {
	e.tenure.end(nil)
	ctx, cancel := context.WithTimeout(context.Background(), farewellTimeout)
	defer cancel()
	if _, err := s.client.Revoke(ctx, s.lease); err != nil {
		e.config.Log.Debug("the session is left to run out", "error", err)
	}
	if err := s.client.Close(); err != nil {
		e.config.Log.Debug("the connection to etcd did not close", "error", err)
	}
}

// renew keeps the session until ctx ends or the session may have ended, and says why it stopped.
func (e *etcd) renew(ctx context.Context, s *session) error {
	step := e.config.SessionTimeToLive / renewalsPerSession
	for {
		wait(ctx, step)
		err := e.renewOnce(ctx, s, step)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if isOver(err, e.tenure.left()) {
			return fmt.Errorf("the session at etcd was not renewed: %w", err)
		}
	}
}

// isOver says whether a renewal's failure is the end of its session, which is sure to hold for a time
// otherwise.
func isOver(err error, left time.Duration) bool {
	isGone := errors.Is(err, errKeyGone) || errors.Is(err, rpctypes.ErrLeaseNotFound)
	return isGone || err != nil && left <= 0
}

// renewOnce counts from before the request was sent, and only if the key is still there after it.
func (e *etcd) renewOnce(ctx context.Context, s *session, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	sentAt := e.config.Now()
	if _, err := s.client.KeepAliveOnce(ctx, s.lease); err != nil {
		return err
	}
	if err := s.checkKey(ctx); err != nil {
		return err
	}
	e.tenure.renewed(sentAt)
	return nil
}

// checkKey says whether an election that was won is lost.
func (s *session) checkKey(ctx context.Context) error {
	won := s.won.Load()
	if won == nil {
		return nil
	}
	answer, err := s.client.Get(ctx, won.name)
	if err != nil {
		return err
	}
	if len(answer.Kvs) != 1 || answer.Kvs[0].CreateRevision != won.revision {
		return errKeyGone
	}
	return nil
}

// follow notes who the active controller is until ctx ends.
func (e *etcd) follow(ctx context.Context, election *concurrency.Election) {
	for ctx.Err() == nil {
		for answer := range election.Observe(ctx) {
			e.tenure.follow(string(answer.Kvs[0].Value))
		}
		wait(ctx, retryAfter)
	}
}

// wait returns after a time or when ctx ends.
func wait(ctx context.Context, duration time.Duration) {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
