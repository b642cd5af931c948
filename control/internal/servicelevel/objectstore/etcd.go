package objectstore

import (
	"context"
	"crypto/tls"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"sluice.dev/control/internal/etcdclient"
	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/store"
)

// callTimeout bounds a call to etcd.
const callTimeout = 2 * time.Second

// etcd keeps the document under one key, which etcd replicates and syncs before it answers.
type etcd struct {
	client *clientv3.Client
	key    string
}

// NewEtcd keeps service levels in etcd, under a key. It connects by itself, and again whenever that is needed; tls is
// nil for connections that are not encrypted.
func NewEtcd(endpoints []string, tls *tls.Config, key string) (Store, error) {
	client, err := etcdclient.New(endpoints, tls)
	if err != nil {
		return nil, unreachable(err, hintOfReads)
	}
	return &etcd{client: client, key: key}, nil
}

func (e *etcd) Load(ctx context.Context) (Set, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	answer, err := e.client.Get(ctx, e.key)
	switch {
	case err != nil:
		return Set{}, unreachable(err, hintOfReads)
	case len(answer.Kvs) == 0:
		return Set{}, nil
	default:
		return decode(answer.Kvs[0].Value, answer.Kvs[0].ModRevision)
	}
}

// Swap looks at the revision and writes in one transaction of etcd. A key that is not there has revision 0.
func (e *etcd) Swap(ctx context.Context, from Set, objects []servicelevel.Object) (Set, error) {
	next, text, err := encode(from, objects)
	if err != nil {
		return Set{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	answer, err := e.client.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(e.key), "=", from.place)).
		Then(clientv3.OpPut(e.key, string(text))).
		Commit()
	if err != nil {
		return Set{}, unreachable(err, hintOfWrites)
	}
	if !answer.Succeeded {
		return Set{}, changedMeanwhile()
	}
	next.place = answer.Header.Revision
	return next, nil
}

func (e *etcd) Close() error { return e.client.Close() }

const (
	hintOfReads  = "Nothing has changed. Look at etcd and at coordination.etcd of the controller's configuration; then try again."
	hintOfWrites = "It may have been done all the same: look with sluice slo get before trying again."
)

func unreachable(err error, hint string) error {
	return store.Errorf(store.CodeUnavailable, "etcd, which keeps the service levels, does not answer: %w", err).WithHint("%s", hint)
}
