package controller

import (
	"context"
	"log/slog"
	"os"
	"syscall"
	"testing"
	"time"
)

// watching is a watch over a configuration that the test changes.
type watching struct {
	*configWatcher
	t       *testing.T
	hangups chan os.Signal
}

// watch begins to watch what a configuration was loaded from, and ends with the test.
func watch(t *testing.T, config Config) *watching {
	t.Helper()
	w := &watching{
		configWatcher: newConfigWatcher(config, slog.New(slog.DiscardHandler)), t: t, hangups: make(chan os.Signal, 1),
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.run(ctx, w.hangups) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *watching) next() loaded {
	w.t.Helper()
	select {
	case result := <-w.results:
		return result
	case <-time.After(testDeadline):
		w.t.Fatal("the configuration was not read again")
		return loaded{}
	}
}

func loadLeast(t *testing.T) Config {
	t.Helper()
	config, err := Load(writeConfig(t, least))
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func replaceFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func TestConfigWatcher(t *testing.T) {
	config := loadLeast(t)
	w := watch(t, config)
	w.hangups <- syscall.SIGHUP
	if got := w.next(); got.err != nil || got.config.StaleSeconds != 3 {
		t.Errorf("after SIGHUP: %+v", got)
	}
	replaceFile(t, config.Path, least+"stale_seconds: 9\n")
	if got := w.next(); got.err != nil || got.config.StaleSeconds != 9 {
		t.Errorf("after a change: %+v", got)
	}
	replaceFile(t, config.Path, "nonsense: [")
	if got := w.next(); got.err == nil {
		t.Errorf("after a bad change: %+v", got)
	}
}

// Between the reading of a configuration and the watch over it lies the whole start of a controller.
func TestConfigWatcherSeesWhatChangedBeforeItsBegin(t *testing.T) {
	config := loadLeast(t)
	replaceFile(t, config.Path, least+"stale_seconds: 9\n")
	w := watch(t, config)
	if got := w.next(); got.err != nil || got.config.StaleSeconds != 9 {
		t.Errorf("after a change: %+v", got)
	}
}

// Other files of the directory may change more often than anything settles.
func TestConfigWatcherInABusyDirectory(t *testing.T) {
	config := loadLeast(t)
	w := watch(t, config)
	w.hangups <- syscall.SIGHUP
	w.next() // it watches now
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			// Whether it is written does not matter, as long as others are.
			_ = os.WriteFile(config.Path+".other", nil, 0o600)
			time.Sleep(configSettleTime / 20)
		}
	}()
	replaceFile(t, config.Path, least+"stale_seconds: 9\n")
	if got := w.next(); got.err != nil || got.config.StaleSeconds != 9 {
		t.Errorf("after a change: %+v", got)
	}
	cancel()
	<-ended
}
