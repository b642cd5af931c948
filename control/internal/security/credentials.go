package security

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// settleTime is waited after the first change of a file for the other files to follow.
	settleTime = 500 * time.Millisecond
	// maxCheckPeriod is how often the files are read without any sign of change: some file systems give
	// none, and a link may lead to another directory.
	maxCheckPeriod = time.Hour
	// A certificate's expiry is logged from the last fifth of its lifetime on, at least four times.
	warningShare = 5
	checkShare   = 20
)

// Credentials are the certificate and the authorities of a process, as its files have them at the time
// of each handshake. They are safe for concurrent use.
type Credentials struct {
	files   Files
	cluster string
	logger  *slog.Logger
	// refusals are those of all servers of the process.
	refusals *refusals
	current  atomic.Pointer[material]
	stop     context.CancelFunc
	stopped  chan struct{}
}

// Open loads the files, whose certificate must be one of the cluster and hold at present, and watches
// them until Close: what replaces them is used from the next handshake on. Files that cannot be used, or
// that name another holder, are logged and change nothing.
func Open(files Files, clusterName string, logger *slog.Logger) (*Credentials, error) {
	loaded, err := load(files, clusterName, time.Now())
	if err != nil {
		return nil, fmt.Errorf("security: %w", err)
	}
	watcher, err := watchDirectories(files)
	if err != nil {
		return nil, fmt.Errorf("security: watch the certificates' directories: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	opened := &Credentials{
		files: files, cluster: clusterName, logger: logger, refusals: &refusals{logger: logger, now: time.Now},
		stop: cancel, stopped: make(chan struct{}),
	}
	opened.current.Store(loaded)
	opened.warnOfExpiry(time.Now())
	go opened.watch(ctx, watcher)
	return opened, nil
}

// Close ends the watch over the files. Connections go on.
func (c *Credentials) Close() {
	c.stop()
	<-c.stopped
}

// Identity is that of this process.
func (c *Credentials) Identity() Identity {
	return c.current.Load().identity
}

// ExpiresAt is when the certificate in use, or its authority, expires: the metric to alert on.
func (c *Credentials) ExpiresAt() time.Time {
	return c.current.Load().expiresAt
}

// watchDirectories watches directories rather than files: a file that is replaced is another file.
func watchDirectories(files Files) (*fsnotify.Watcher, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	for _, file := range []string{files.CertificateFile, files.KeyFile, files.CAFile} {
		if err := watcher.Add(filepath.Dir(file)); err != nil {
			return nil, errors.Join(err, watcher.Close())
		}
	}
	return watcher, nil
}

func (c *Credentials) watch(ctx context.Context, watcher *fsnotify.Watcher) {
	defer close(c.stopped)
	defer func() {
		if err := watcher.Close(); err != nil {
			c.logger.Warn("closing the watch over the certificates failed", "error", err)
		}
	}()
	check := time.NewTimer(c.checkPeriod())
	defer check.Stop()
	var settled <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-watcher.Events:
			// Later changes do not put it off, or a busy directory would do so for ever.
			if settled == nil {
				settled = time.After(settleTime)
			}
		case err := <-watcher.Errors:
			c.logger.Warn("watching the certificates failed; they are read again from time to time", "error", err)
		case <-settled:
			settled = nil
			c.reload(time.Now())
		case <-check.C:
			c.reload(time.Now())
			c.warnOfExpiry(time.Now())
			check.Reset(c.checkPeriod())
		}
	}
}

func (c *Credentials) reload(now time.Time) {
	current := c.current.Load()
	loaded, err := load(c.files, c.cluster, now)
	if err == nil && loaded.identity != current.identity {
		err = fmt.Errorf("the new certificate is of %s, this process is %s: restart it to change that",
			loaded.identity, current.identity)
	}
	if err != nil {
		c.logger.Error("the certificates cannot be used, those loaded before stay in use",
			"error", err, "expires_at", current.expiresAt)
		return
	}
	if loaded.equal(current) {
		return
	}
	c.current.Store(loaded)
	c.logger.Info("certificates loaded", "identity", loaded.identity.String(), "expires_at", loaded.expiresAt)
	c.warnOfExpiry(now)
}

func (c *Credentials) warnOfExpiry(now time.Time) {
	current := c.current.Load()
	left := current.expiresAt.Sub(now)
	if left > current.lifetime()/warningShare {
		return
	}
	c.logger.Warn("the certificate is about to expire: replace the files, no restart is needed",
		"certificate_file", c.files.CertificateFile, "ca_file", c.files.CAFile,
		"expires_at", current.expiresAt, "seconds_left", left.Seconds())
}

func (c *Credentials) checkPeriod() time.Duration {
	return min(maxCheckPeriod, max(time.Second, c.current.Load().lifetime()/checkShare))
}
