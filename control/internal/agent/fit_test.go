package agent

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"sluice.dev/control/internal/agent/stores"
	"sluice.dev/control/internal/localprotocol/reference/referencetest"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

// busyDriver is a store with many tasks. It takes no orders.
type busyDriver struct {
	store.Driver
	ref   stores.Ref
	tasks []store.Task
}

func (d *busyDriver) Describe(context.Context) (store.Description, error) {
	return store.Description{Store: d.ref.Store, Instance: d.ref.Instance, MaxTimeToLive: time.Minute}, nil
}

func (d *busyDriver) Snapshot(context.Context) (store.Snapshot, error) {
	return store.Snapshot{TakenAt: time.Now(), Tasks: d.tasks}, nil
}

func (d *busyDriver) Close() error { return nil }

// serviceOf looks after stores with so many tasks each, until all have answered.
func serviceOf(t *testing.T, tasks map[string]int) *service {
	t.Helper()
	directory := referencetest.SocketDirectory(t)
	var sources []stores.Source
	for name, count := range tasks {
		driver := &busyDriver{ref: stores.Ref{Store: "s", Instance: name}, tasks: make([]store.Task, count)}
		for i := range driver.tasks {
			driver.tasks[i] = store.Task{ID: fmt.Sprintf("%0100d", i), Kind: store.Compaction, State: store.Queued}
		}
		socket := filepath.Join(directory, name)
		listener, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { listener.Close() })
		sources = append(sources, stores.Source{
			Ref: driver.ref, Socket: socket, Open: func() (store.Driver, error) { return driver, nil },
		})
	}
	// They are asked once: a busy machine has enough to do with that.
	registry := stores.NewRegistry(time.Minute, time.Now, slog.New(slog.DiscardHandler), func(error) {})
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(func() {
		stop()
		registry.Wait()
	})
	registry.Update(ctx, sources)
	waitForAll(t, registry)
	return &service{
		node: "n1", now: time.Now, registry: registry,
		signals: func() policy.NodeSignals { return policy.NodeSignals{SampledAt: time.Now()} },
		clients: func() []policy.ClientLatencies { return nil },
	}
}

func waitForAll(t *testing.T, registry *stores.Registry) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		up := 0
		for _, state := range registry.States() {
			if state.IsUp() {
				up++
			}
		}
		if up == len(registry.States()) {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("of %d stores %d have answered", len(registry.States()), up)
		}
	}
}

// The stores with the most tasks are left out, and none of the others.
func TestSnapshotOfManyTasksFitsIntoAMessage(t *testing.T) {
	tasks := map[string]int{"small": 10, "idle": 0}
	for i := range 8 {
		tasks[fmt.Sprint("large", i)] = 10_000
	}
	message := serviceOf(t, tasks).snapshot()
	if size := proto.Size(message); size > maxSnapshotBytes {
		t.Errorf("the snapshot has %d bytes, more than %d", size, maxSnapshotBytes)
	}
	read, err := wire.DecodeNodeSnapshot("n1", message, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	whole := 0
	for _, instance := range read.Instances {
		isDescribed := false
		for _, description := range read.Descriptions {
			isDescribed = isDescribed || description.Instance == instance.Ref.Instance
		}
		isWhole := instance.Problem == "" && len(instance.Snapshot.Tasks) == tasks[instance.Ref.Instance]
		isLeftOut := strings.Contains(instance.Problem, "is left out") && len(instance.Snapshot.Tasks) == 0
		if isWhole != isDescribed || isWhole == isLeftOut {
			t.Errorf("of %s there are %d tasks, a description: %v, the problem %q", instance.Ref,
				len(instance.Snapshot.Tasks), isDescribed, instance.Problem)
		}
		if isWhole {
			whole++
		}
		if isLeftOut && tasks[instance.Ref.Instance] < 10_000 {
			t.Errorf("%s is left out", instance.Ref)
		}
	}
	if len(read.Instances) != 10 || whole < 4 {
		t.Errorf("of 10 stores %d are there, %d of them whole", len(read.Instances), whole)
	}
}
