package discovery

import (
	"context"
	"log/slog"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is how long a change of a directory may go on before it is looked at: a plug-in makes its
// folder, its socket and sets their modes, one after the other.
const settle = 50 * time.Millisecond

// Watch calls found with the sockets of a directory, at once and each time that they may have changed,
// until its context ends. It is told of changes by the kernel, and looks by itself once each rescan
// period, because notifications can be lost, and the directory itself can come and go. A directory that
// cannot be listed has no sockets; the log says why, once.
func Watch(ctx context.Context, directory string, rescan time.Duration, logger *slog.Logger, found func([]Socket)) {
	watch := &watch{directory: directory, logger: logger}
	notifier, err := fsnotify.NewWatcher()
	if err != nil {
		logger.Warn("the kernel cannot notify of sockets, they are looked for periodically",
			"period_seconds", rescan.Seconds(), "error", err)
	} else {
		defer notifier.Close()
		watch.notifier, watch.events, watch.errors = notifier, notifier.Events, notifier.Errors
	}
	ticker := time.NewTicker(rescan)
	defer ticker.Stop()
	for {
		found(watch.scan())
		if !watch.wait(ctx, ticker.C) {
			return
		}
	}
}

type watch struct {
	directory string
	logger    *slog.Logger
	// notifier and its channels are nil where the kernel has none left.
	notifier *fsnotify.Watcher
	events   <-chan fsnotify.Event
	errors   <-chan error
	problem  string
}

// scan asks for notifications before it lists, so that no socket can come between the two.
func (w *watch) scan() []Socket {
	if w.notifier != nil {
		w.subscribe()
	}
	sockets, err := Scan(w.directory)
	w.report(err)
	return sockets
}

// subscribe adds the directory and its folders to the notifications. Adding one again does nothing, and
// one that cannot be added is looked at periodically.
func (w *watch) subscribe() {
	paths := []string{w.directory}
	if folders, err := storeFolders(w.directory); err == nil {
		paths = append(paths, folders...)
	}
	for _, path := range paths {
		if err := w.notifier.Add(path); err != nil {
			w.logger.Debug("no notifications of a directory", "directory", path, "error", err)
		}
	}
}

// report logs a problem when it comes and when it goes, not each time.
func (w *watch) report(err error) {
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	if problem == w.problem {
		return
	}
	w.problem = problem
	if err != nil {
		w.logger.Warn("not all sockets can be found", "error", err)
		return
	}
	w.logger.Info("all sockets can be found again", "directory", w.directory)
}

// wait returns when it is time to look again, and false when the context has ended.
func (w *watch) wait(ctx context.Context, rescan <-chan time.Time) bool {
	select {
	case <-ctx.Done():
		return false
	case <-rescan:
		return true
	case err := <-w.errors:
		w.logger.Warn("notifications of sockets were lost", "error", err)
		return true
	case <-w.events:
		return w.settled(ctx)
	}
}

// settled reads away the notifications that belong to the first.
func (w *watch) settled(ctx context.Context) bool {
	timer := time.NewTimer(settle)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return true
		case <-w.events:
		}
	}
}
