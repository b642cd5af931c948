package blocks_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sluice.dev/control/internal/pool/blocks"
	"sluice.dev/control/internal/pool/layout"
	"sluice.dev/control/internal/pool/segment"
)

// lines has a line of the log as soon as it is written.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// TestScrubbingFindsWhatIsDamaged, each once in a pass, whatever place it begins at.
func TestScrubbingFindsWhatIsDamaged(t *testing.T) {
	directory := t.TempDir()
	segments, err := segment.OpenStore(directory, segment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer segments.Close()
	content := bytes.Repeat([]byte("x"), 3*segment.PageBytes)
	// More than a page of the list has.
	const files, bad = 40, 7
	for i := range files {
		id := segment.ID{File: layout.FileID{byte(6 * i)}}
		_, err := segments.Append(id, 1, 0, content)
		if err == nil {
			_, err = segments.Seal(id, 1, int64(len(content)))
		}
		if err == nil && i%6 == 3 {
			damage(t, directory, id.File)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	open := segment.ID{File: layout.FileID{1}}
	if _, err := segments.Append(open, 1, 0, content); err != nil {
		t.Fatal(err)
	}

	registry := prometheus.NewRegistry()
	server := blocks.NewServer(segments, blocks.NewMetrics(registry, segments.Space))
	ctx, end := context.WithCancel(t.Context())
	log := make(lines)
	var scrubbing sync.WaitGroup
	scrubbing.Go(func() {
		server.Scrub(ctx, blocks.Scrubbing{Period: time.Millisecond, BytesPerSecond: 1 << 40}, slog.New(slog.NewTextHandler(log, nil)))
	})
	found := make(map[string]int)
	for range 2 * bad {
		line := <-log
		if !strings.Contains(line, "is damaged") {
			t.Errorf("the log says %s", line)
		}
		found[line[strings.Index(line, "segment="):]]++
	}
	end()
	go func() {
		for range log {
			continue
		}
	}()
	scrubbing.Wait()
	if len(found) != bad {
		t.Errorf("found %d damaged segments of %d: %v", len(found), bad, found)
	}
	const want = "# HELP sluice_pool_damaged_segments Segments of this node that the last whole pass of scrubbing has found damaged.\n" +
		"# TYPE sluice_pool_damaged_segments gauge\nsluice_pool_damaged_segments 7\n"
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "sluice_pool_damaged_segments"); err != nil {
		t.Error(err)
	}
}

func damage(t *testing.T, directory string, file layout.FileID) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(directory, "*", file.String(), "*.sealed"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	content, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	content[segment.PageBytes+1] ^= 1
	if err := os.WriteFile(paths[0], content, 0o600); err != nil {
		t.Fatal(err)
	}
}
