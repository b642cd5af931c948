package stores

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/store"
)

func leaseOf(owner string, setting store.Setting, left time.Duration) store.Lease {
	return store.Lease{Kind: store.Checkpoint, Scope: "s", Setting: setting, Owner: owner, TimeLeft: left}
}

func TestEndedLeasesAreLogged(t *testing.T) {
	hold, full := store.Setting{Name: store.Hold}, store.Setting{Name: store.Full}
	gap := store.Setting{Name: store.SyncGapSeconds, Number: 1}
	taken := time.Now()
	tests := map[string]struct {
		before, after []store.Lease
		// want is what the line ends in; empty for no line.
		want string
	}{
		"goes on":           {[]store.Lease{leaseOf("a", hold, 5*time.Second)}, []store.Lease{leaseOf("a", hold, 4*time.Second)}, ""},
		"is replaced":       {[]store.Lease{leaseOf("a", hold, 5*time.Second)}, []store.Lease{leaseOf("b", full, 5*time.Second)}, ""},
		"has run out":       {[]store.Lease{leaseOf("a", hold, time.Second)}, nil, "setting=hold owner=a seconds_before_its_time=0"},
		"ended early":       {[]store.Lease{leaseOf("a", hold, 5*time.Second)}, nil, "setting=hold owner=a seconds_before_its_time=3"},
		"another aspect is": {[]store.Lease{leaseOf("a", gap, 5*time.Second)}, []store.Lease{leaseOf("a", hold, 5*time.Second)}, "owner=a seconds_before_its_time=3"},
		"begins":            {nil, []store.Lease{leaseOf("a", hold, 5*time.Second)}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			instance := &Instance{logger: slog.New(slog.NewTextHandler(&log, nil))}
			before := &store.Snapshot{TakenAt: taken, Leases: test.before}
			instance.logEnded(before, store.Snapshot{TakenAt: taken.Add(2 * time.Second), Leases: test.after})
			got := log.String()
			if test.want == "" && got != "" || !strings.HasSuffix(strings.TrimSpace(got), test.want) {
				t.Errorf("the log has %q, want %q", got, test.want)
			}
		})
	}
}

func TestFirstSnapshotEndsNothing(t *testing.T) {
	(&Instance{logger: slog.New(slog.DiscardHandler)}).logEnded(nil, store.Snapshot{})
}
