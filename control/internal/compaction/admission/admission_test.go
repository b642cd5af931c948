package admission_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/admission"
)

const mib = 1 << 20

var limits = admission.Limits{
	Slots: 3, MemoryBytes: 1000 * mib, JobMemoryBytes: 400 * mib, TemporaryBytes: 1000 * mib, FreeBytes: 100 * mib,
}

// admit has a job admitted whose file system has some bytes left.
func admit(ledger *admission.Ledger, inputBytes, freeBytes uint64) (admission.Grant, *compaction.Failure) {
	grant, failure := ledger.Admit(admission.Request{InputBytes: inputBytes})
	if failure != nil {
		return grant, failure
	}
	if failure := grant.CheckFree(func() (uint64, error) { return freeBytes, nil }); failure != nil {
		grant.Release()
		return grant, failure
	}
	return grant, nil
}

func TestEachLimitAlone(t *testing.T) {
	tests := map[string]struct {
		change func(*admission.Limits)
		input  uint64
		free   uint64
		want   string
	}{
		"slots":     {func(l *admission.Limits) { l.Slots = 1 }, 0, 1 << 40, "all 1 slots"},
		"memory":    {func(l *admission.Limits) { l.MemoryBytes = 500 * mib }, 0, 1 << 40, "bytes of memory"},
		"temporary": {func(l *admission.Limits) { l.TemporaryBytes = 200 * mib }, 100 * mib, 1 << 40, "bytes of temporary space"},
		"free":      {func(*admission.Limits) {}, 0, 200 * mib, "are free on the file system"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			limits := limits
			test.change(&limits)
			ledger := admission.NewLedger(limits)
			first, failure := admit(ledger, test.input, test.free)
			if failure != nil {
				t.Fatalf("the first job: %v", failure)
			}
			if _, failure := admit(ledger, test.input, test.free); failure == nil || failure.Reason != compaction.Busy ||
				!strings.Contains(failure.Detail, test.want) {
				t.Errorf("the second job: %v does not say %q", failure, test.want)
			}
			first.Release()
			first.Release()
			if _, failure := admit(ledger, test.input, test.free); failure != nil {
				t.Errorf("after the first: %v", failure)
			}
		})
	}
}

// A job that ends between the look at the file system and the decision leaves its output there.
func TestOutputOfAJobThatEndsMeanwhile(t *testing.T) {
	ledger := admission.NewLedger(limits)
	first, failure := ledger.Admit(admission.Request{InputBytes: 200 * mib})
	if failure != nil {
		t.Fatal(failure)
	}
	second, failure := ledger.Admit(admission.Request{})
	if failure != nil {
		t.Fatal(failure)
	}
	failure = second.CheckFree(func() (uint64, error) {
		first.Release()
		return 200 * mib, nil
	})
	if failure == nil || failure.Reason != compaction.Busy {
		t.Errorf("the output of the first job is not counted: %v", failure)
	}
}

func TestFileSystemThatDoesNotSay(t *testing.T) {
	grant, failure := admission.NewLedger(limits).Admit(admission.Request{})
	if failure != nil {
		t.Fatal(failure)
	}
	failure = grant.CheckFree(func() (uint64, error) { return 0, errors.New("stale handle") })
	if failure == nil || failure.Reason != compaction.Path || failure.Detail != "stale handle" {
		t.Error(failure)
	}
}

func TestFreeSlots(t *testing.T) {
	ledger := admission.NewLedger(limits)
	for _, want := range []uint32{2, 1, 0} {
		if free := ledger.FreeSlots(); free != want {
			t.Errorf("%d free slots, want %d", free, want)
		}
		_, failure := admit(ledger, 0, 1<<40)
		if (failure == nil) != (want > 0) {
			t.Errorf("with %d free slots: %v", want, failure)
		}
	}
}

// Whatever comes and goes, what is given stays within the limits, and all comes back.
func TestLedgerKeepsItsLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ledger := admission.NewLedger(limits)
		var grants []admission.Grant
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			if len(grants) > 0 && rapid.Bool().Draw(t, "release") {
				grants[0].Release()
				grants = grants[1:]
				continue
			}
			free := rapid.Uint64Range(0, 2000*mib).Draw(t, "free")
			grant, failure := admit(ledger, rapid.Uint64Range(0, 500*mib).Draw(t, "input"), free)
			if failure == nil {
				grants = append(grants, grant)
			}
			used := ledger.Usage()
			if used.Jobs > limits.Slots || used.MemoryBytes > limits.MemoryBytes || used.TemporaryBytes > limits.TemporaryBytes ||
				failure == nil && used.TemporaryBytes+limits.FreeBytes > free {
				t.Fatalf("%+v is given, %d bytes are free", used, free)
			}
		}
		for _, grant := range grants {
			grant.Release()
		}
		if used := ledger.Usage(); used != (admission.Usage{}) {
			t.Fatalf("%+v is missing", used)
		}
	})
}

func TestOneSlotForManyAtOnce(t *testing.T) {
	limits := limits
	limits.Slots = 1
	ledger := admission.NewLedger(limits)
	var callers sync.WaitGroup
	admitted := make(chan admission.Grant, 100)
	for range cap(admitted) {
		callers.Go(func() {
			if grant, failure := admit(ledger, 0, 1<<40); failure == nil {
				admitted <- grant
			}
		})
	}
	callers.Wait()
	if len(admitted) != 1 {
		t.Errorf("%d jobs in one slot", len(admitted))
	}
}

// Sizes near the greatest that a job may name must not wrap around.
func TestGreatestJob(t *testing.T) {
	ledger := admission.NewLedger(limits)
	if _, failure := admit(ledger, compaction.MaxCount, compaction.MaxCount); failure == nil {
		t.Error("a job of 2^53-1 bytes is admitted")
	}
}

func TestChangesAreTold(t *testing.T) {
	ledger := admission.NewLedger(limits)
	changed := ledger.Changed()
	grant, failure := admit(ledger, 0, 1<<40)
	if failure != nil {
		t.Fatal(failure)
	}
	<-changed
	changed = ledger.Changed()
	select {
	case <-changed:
		t.Error("a change is told before there is one")
	default:
	}
	grant.Release()
	<-changed
}
