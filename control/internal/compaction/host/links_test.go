package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"sluice.dev/control/internal/compaction"
	"sluice.dev/control/internal/compaction/workertest"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/wire"
)

// linked makes a database that is reached by a symbolic link, and gives the paths of both.
func (n *node) linked() (link, real string) {
	n.t.Helper()
	link, real = filepath.Join(n.database, "link"), filepath.Join(n.database, "real")
	if err := os.Mkdir(real, 0o770); err != nil {
		n.t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		n.t.Fatal(err)
	}
	return link, real
}

// What a worker opens is what was checked, whatever has been put in its place since.
func TestWorkerIsToldWhatWasChecked(t *testing.T) {
	n := newNode(t, nil)
	link, real := n.linked()
	s := n.open()
	job := workertest.Job(t, link, "a", "checked")
	n.begin(s, job)
	n.expectAccepted(s)
	result, err := wire.DecodeCompactionResult(n.next(s).GetResult())
	if want := real + "\n" + filepath.Join(real, filepath.Base(job.OutputPath)); err != nil || string(result.Blob) != want {
		t.Errorf("%q, %v, want %q", result.Blob, err, want)
	}
}

// A link that is exchanged while a job runs has nothing removed behind it.
func TestLinkThatIsExchangedDuringAJob(t *testing.T) {
	n := newNode(t, nil)
	link, real := n.linked()
	s := n.open()
	job := workertest.Job(t, link, "a", "wait")
	n.begin(s, job)
	n.expectAccepted(s)
	victim := workertest.Job(t, filepath.Join(n.database, "victim"), "a", "wait")
	if err := errors.Join(os.Remove(link), os.Symlink(victim.DatabasePath, link)); err != nil {
		t.Fatal(err)
	}
	n.send(s, &sluicev1.RunCompactionRequest{Take: true})
	n.expectFailure(s, compaction.Cancelled)
	job.OutputPath = filepath.Join(real, filepath.Base(job.OutputPath))
	n.expectNothingLeft(job)
	if _, err := os.Stat(victim.OutputPath); err != nil {
		t.Errorf("what is behind the new link: %v", err)
	}
}
