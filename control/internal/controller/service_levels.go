package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/servicelevel/objectstore"
	"sluice.dev/control/internal/store"
)

const (
	// levelsPeriod is how often the service levels that are kept are looked at: whichever controller was asked, the
	// active one follows a change after so long.
	levelsPeriod = time.Second
	// levelsStale is for how long what was read of them is acted on while they cannot be read.
	levelsStale = 30 * time.Second
)

// serviceLevels is what a controller knows of the service levels of its cluster. It is safe for concurrent use.
type serviceLevels struct {
	// kept is nil where they are kept nowhere.
	kept objectstore.Store
	log  *slog.Logger
	now  func() time.Time

	mutex   sync.Mutex
	set     objectstore.Set
	readAt  time.Time
	problem error
}

// errNowhere says that there is no place for service levels.
var errNowhere = store.Errorf(store.CodeUnsupported, "this controller has no place to keep service levels").
	WithHint("Set service_levels.state_file in its configuration, or coordination.")

// newServiceLevels keeps them in etcd where there is one, else in the file of the configuration, else nowhere.
func newServiceLevels(config Config, log *slog.Logger) (*serviceLevels, error) {
	made := &serviceLevels{log: log, now: time.Now}
	switch {
	case config.Coordination != nil:
		etcd := config.Coordination.Etcd
		tlsConfig, err := clientTLS(etcd.TLS)
		if err != nil {
			return nil, fmt.Errorf("coordination.etcd.tls: %w", err)
		}
		key := etcd.KeyPrefix + "/" + config.Cluster + "/service-levels"
		if made.kept, err = objectstore.NewEtcd(etcd.Endpoints, tlsConfig, key); err != nil {
			return nil, err
		}
	case config.ServiceLevels.StateFile != "":
		made.kept = objectstore.NewFile(config.ServiceLevels.StateFile)
	}
	return made, nil
}

func (l *serviceLevels) close() {
	if l.kept == nil {
		return
	}
	if err := l.kept.Close(); err != nil {
		l.log.Debug("what keeps the service levels did not close", "error", err)
	}
}

// follow looks at what is kept until ctx ends.
func (l *serviceLevels) follow(ctx context.Context) {
	if l.kept == nil {
		return
	}
	ticker := time.NewTicker(levelsPeriod)
	defer ticker.Stop()
	for {
		if _, err := l.read(ctx); err != nil && ctx.Err() == nil {
			l.log.Debug("the service levels cannot be read", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// read looks at what is kept now.
func (l *serviceLevels) read(ctx context.Context) (objectstore.Set, error) {
	if l.kept == nil {
		return objectstore.Set{}, errNowhere
	}
	askedAt := l.now()
	set, err := l.kept.Load(ctx)
	l.take(set, askedAt, err)
	return set, err
}

// take notes what was read or written.
func (l *serviceLevels) take(set objectstore.Set, at time.Time, err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if err != nil {
		if l.problem == nil {
			l.log.Warn("the service levels cannot be read", "error", err)
		}
		l.problem = err
		return
	}
	if set.Revision < l.set.Revision && at.Before(l.readAt) {
		return
	}
	l.set, l.readAt, l.problem = set, at, nil
}

// swap replaces what is kept.
func (l *serviceLevels) swap(ctx context.Context, from objectstore.Set, objects []servicelevel.Object) error {
	next, err := l.kept.Swap(ctx, from, objects)
	if err != nil {
		return err
	}
	l.take(next, l.now(), nil)
	return nil
}

// of gives the service levels of a store, as they were last read.
func (l *serviceLevels) of(storeKind string) []servicelevel.Object {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	var objects []servicelevel.Object
	for _, object := range l.set.Objects {
		if object.Store == storeKind {
			objects = append(objects, object)
		}
	}
	return objects
}

// all gives the service levels as they were last read.
func (l *serviceLevels) all() []servicelevel.Object {
	if l == nil {
		return nil
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.set.Objects
}

// whyNotKnown is why the service levels that were last read are not to be acted on; empty if they are.
func (l *serviceLevels) whyNotKnown(now time.Time) string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	problem := l.problem
	switch {
	case l.kept == nil:
		return errNowhere.Error()
	case now.Sub(l.readAt) <= levelsStale:
		return ""
	case problem == nil:
		problem = errors.New("they have not been read yet")
	}
	return fmt.Sprintf("the service levels are not known: %v", problem)
}
