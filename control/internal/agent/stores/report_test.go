package stores

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/localprotocol/reference/referencetest"
	"sluice.dev/control/internal/store"
)

// reportingDriver is a store that says what the test wants. It takes no orders.
type reportingDriver struct {
	store.Driver
	description store.Description
	snapshot    store.Snapshot
}

func (d *reportingDriver) Describe(context.Context) (store.Description, error) {
	return d.description, nil
}
func (d *reportingDriver) Snapshot(context.Context) (store.Snapshot, error) { return d.snapshot, nil }
func (d *reportingDriver) Close() error                                     { return nil }

func newReportingInstance(t *testing.T, driver *reportingDriver) *Instance {
	t.Helper()
	socket := filepath.Join(referencetest.SocketDirectory(t), "s", "a.sock")
	hang(t, socket)
	source := Source{Ref: Ref{"s", "a"}, Socket: socket, Open: func() (store.Driver, error) { return driver, nil }}
	return newInstance(source, time.Now)
}

func goodReports() *reportingDriver {
	return &reportingDriver{
		description: store.Description{
			Store: "s", Instance: "a", MaxTimeToLive: time.Minute,
			Capabilities: []store.Capability{{Kind: store.Compaction, Settings: []store.SettingName{store.Hold}}},
		},
		snapshot: store.Snapshot{
			TakenAt: time.Now(), Figures: map[string]float64{"written_bytes_total": 1},
			Tasks: []store.Task{{ID: strings.Repeat("é", 1024), Kind: store.Compaction, State: store.Running,
				Phase: strings.Repeat("é", 1024)}},
		},
	}
}

func TestStoreWhoseReportsCannotBePassedOn(t *testing.T) {
	tests := map[string]struct {
		damage func(*reportingDriver)
		says   string // empty for none
	}{
		"good": {damage: func(*reportingDriver) {}},
		"kind twice": {
			damage: func(d *reportingDriver) {
				d.description.Capabilities = append(d.description.Capabilities, d.description.Capabilities[0])
			}, says: "the kind compaction twice",
		},
		"version of two lines": {
			damage: func(d *reportingDriver) { d.description.StoreVersion = "1\n2" },
			says:   "its description cannot be passed on: the store_version",
		},
		"phase that orders a terminal about": {
			damage: func(d *reportingDriver) { d.snapshot.Tasks[0].Phase = "\x1b[2J" },
		},
		"too many figures": {
			damage: func(d *reportingDriver) {
				for i := range 2000 {
					d.snapshot.Figures["figure_"+strings.Repeat("x", i)] = 1
				}
			}, says: "its snapshot cannot be passed on: figures has 2001 entries",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			driver := goodReports()
			test.damage(driver)
			instance := newReportingInstance(t, driver)
			defer instance.disconnect()
			instance.step(context.Background())
			state := instance.State()
			if state.IsUp() != (test.says == "") || !strings.Contains(state.Problem, test.says) {
				t.Errorf("up is %v, the problem %q, want %q", state.IsUp(), state.Problem, test.says)
			}
		})
	}
}
