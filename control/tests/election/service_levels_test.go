package election

import (
	"fmt"
	"slices"
	"testing"

	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/servicelevel/objectstore"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/tests/etcdserver"
	"sluice.dev/control/tests/process"
)

func level(name string) servicelevel.Object {
	return servicelevel.Object{
		Name: name, Store: "hbase", Scope: name + "/cf", MostOperationsPerSecond: 100, Weight: 1, Version: "1",
		Profile: servicelevel.Profile{DataBytes: 1e9, RowBytes: 1000, Locality: servicelevel.Random, ReadShare: 1},
		Target:  servicelevel.Target{Statistic: servicelevel.Mean, Seconds: 0.03},
	}
}

func openLevels(t *testing.T, server *etcdserver.Server) objectstore.Store {
	t.Helper()
	kept, err := objectstore.NewEtcd([]string{server.Endpoint}, nil, "/sluice/test/service-levels")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kept.Close() })
	return kept
}

// Two controllers keep service levels in one etcd: each sees what the other has kept, and neither takes it away unseen.
func TestServiceLevelsOfTwoControllers(t *testing.T) {
	server := etcdserver.Start(t)
	one, other := openLevels(t, server), openLevels(t, server)
	var empty objectstore.Set
	process.Eventually(t, func() (err error) {
		empty, err = one.Load(t.Context())
		return err
	})
	first, err := one.Swap(t.Context(), empty, []servicelevel.Object{level("a")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Swap(t.Context(), empty, []servicelevel.Object{level("b")}); store.CodeOf(err) != store.CodeConflict {
		t.Errorf("what was not seen was replaced: %v", err)
	}
	seen, err := other.Load(t.Context())
	if err != nil || !slices.Equal(seen.Objects, first.Objects) || seen.Revision != 1 {
		t.Fatalf("the other sees %+v, %v", seen, err)
	}
	if _, err := other.Swap(t.Context(), seen, append(seen.Objects, level("b"))); err != nil {
		t.Error(err)
	}
	// The set that the first one has got by its own change is as good as one that was read.
	if _, err := one.Swap(t.Context(), first, nil); store.CodeOf(err) != store.CodeConflict {
		t.Errorf("what was not seen was replaced: %v", err)
	}
	seen, err = one.Load(t.Context())
	if err != nil || len(seen.Objects) != 2 {
		t.Fatalf("there is %+v, %v", seen, err)
	}
	next, err := one.Swap(t.Context(), seen, seen.Objects[:1])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.Swap(t.Context(), next, nil); err != nil {
		t.Error(err)
	}
}

// What was kept outlasts an etcd that is killed.
func TestServiceLevelsOutlastEtcd(t *testing.T) {
	server := etcdserver.Start(t)
	kept := openLevels(t, server)
	process.Eventually(t, func() error {
		set, err := kept.Load(t.Context())
		if err != nil {
			return err
		}
		_, err = kept.Swap(t.Context(), set, []servicelevel.Object{level("a")})
		return err
	})
	server.Kill()
	if _, err := kept.Load(t.Context()); store.CodeOf(err) != store.CodeUnavailable {
		t.Errorf("without etcd the error is %v", err)
	}
	server.Restart(t)
	process.Eventually(t, func() error {
		set, err := kept.Load(t.Context())
		if err != nil {
			return err
		}
		if len(set.Objects) != 1 || set.Objects[0] != level("a") {
			return fmt.Errorf("there is %+v", set)
		}
		return nil
	})
}
