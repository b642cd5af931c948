package controller

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/fsnotify/fsnotify"
)

// configSettleTime is waited after a change of the file for whoever writes it to be done.
const configSettleTime = 200 * time.Millisecond

// loaded is what reading the configuration again has given.
type loaded struct {
	config Config
	err    error
}

// configWatcher reads the configuration again when its file changes, and when it is asked to.
type configWatcher struct {
	path     string
	log      *slog.Logger
	lastText []byte
	results  chan loaded
}

// newConfigWatcher watches the file that a configuration was read from.
func newConfigWatcher(config Config, log *slog.Logger) *configWatcher {
	return &configWatcher{path: config.Path, lastText: config.text, log: log, results: make(chan loaded)}
}

// run watches until ctx ends. It watches the directory: a file that is replaced is another file.
func (w *configWatcher) run(ctx context.Context, hangups <-chan os.Signal) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch the configuration: %w", err)
	}
	defer watcher.Close()
	if err := watcher.Add(filepath.Dir(w.path)); err != nil {
		return fmt.Errorf("watch the configuration: %w", err)
	}
	// The file may have changed between its first reading and this watch.
	w.loadChanged(ctx)
	var settled <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-hangups:
			w.load(ctx)
		case <-watcher.Events:
			// Later changes do not put it off, or a busy directory would do so for ever.
			if settled == nil {
				settled = time.After(configSettleTime)
			}
		case err := <-watcher.Errors:
			w.log.Warn("watching the configuration failed; SIGHUP makes the controller read it", "error", err)
		case <-settled:
			settled = nil
			w.loadChanged(ctx)
		}
	}
}

// loadChanged reads the file unless it is as it was: other files of its directory change, too.
func (w *configWatcher) loadChanged(ctx context.Context) {
	text, err := readFile(w.path)
	if err == nil && bytes.Equal(text, w.lastText) {
		return
	}
	w.load(ctx)
}

func (w *configWatcher) load(ctx context.Context) {
	w.lastText, _ = readFile(w.path)
	config, err := Load(w.path)
	select {
	case w.results <- loaded{config, err}:
	case <-ctx.Done():
	}
}

// reload takes a configuration over, or says why not and goes on with the old one.
func (c *Controller) reload(next loaded) {
	err := next.err
	if err == nil {
		err = c.config.checkReload(next.config)
	}
	if err == nil {
		err = c.configure(next.config)
	}
	c.metrics.reloaded(err == nil)
	if err != nil {
		c.log.Error("the configuration cannot be used, the one before stays in use", "error", err)
		return
	}
	c.log.Info("configuration read again", "agents", len(c.nodes), "policies", len(c.policies))
}

// checkReload says what cannot change while a controller runs.
func (c Config) checkReload(next Config) error {
	fixed := []struct {
		key         string
		now, wanted any
	}{
		{"cluster", c.Cluster, next.Cluster},
		{"name", c.Name, next.Name},
		{"listen", c.Listen, next.Listen},
		{"page", c.Page, next.Page},
		{"tls", c.TLS, next.TLS},
		{"log_level", c.LogLevel, next.LogLevel},
		{"coordination", c.Coordination, next.Coordination},
		{"prometheus", c.Prometheus, next.Prometheus},
		{"service_levels", c.ServiceLevels, next.ServiceLevels},
	}
	var problems Problems
	for _, setting := range fixed {
		if !reflect.DeepEqual(setting.now, setting.wanted) {
			problems = append(problems, Problem{Key: setting.key, Message: "this cannot change while the controller runs",
				Hint: "Restart the controller, or set it back"})
		}
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

func samePolicy(a, b Policy) bool {
	return reflect.DeepEqual(a, b)
}
