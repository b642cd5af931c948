package state

import (
	"fmt"

	"sluice.dev/control/internal/pool/metadata/entry"
)

// unknown is what a newer version may have put into the log.
func unknown(what string) error {
	return fmt.Errorf("the log has a %s that this version does not know: upgrade this node", what)
}

func noVolume(name string) *entry.Refusal {
	return entry.Refusef(entry.NotFound, "there is no volume %q", name).WithHint("Create it first.")
}

func noPath(path string) *entry.Refusal {
	return entry.Refusef(entry.NotFound, "there is nothing at %q", path).WithHint("Look at the directory that it should be in.")
}

func noFile(id entry.FileID) *entry.Refusal {
	return entry.Refusef(entry.NotFound, "there is no file with the id %s", id).WithHint("It was removed, or replaced by another.")
}

func exists(path string) *entry.Refusal {
	return entry.Refusef(entry.Exists, "there is something at %q", path).WithHint("Remove it first, or choose another name.")
}

func isDirectory(path string) *entry.Refusal {
	return entry.Refusef(entry.IsDirectory, "%q is a directory", path).WithHint("Name a file.")
}

func notDirectory(path string) *entry.Refusal {
	return entry.Refusef(entry.NotDirectory, "%q is a file", path).WithHint("Name a directory.")
}

func notEmpty(path string) *entry.Refusal {
	return entry.Refusef(entry.NotEmpty, "%q is not empty", path).WithHint("Remove what is in it first.")
}

func sealed(id entry.FileID) *entry.Refusal {
	return entry.Refusef(entry.Sealed, "the file %s is sealed", id).WithHint("Write to another file.")
}

func held(lease entry.Lease) *entry.Refusal {
	return entry.Refusef(entry.LeaseHeld, "%q has the lease on %q, with epoch %d", lease.Holder, lease.Path, lease.Epoch).
		WithHint("Wait until it is released or has expired.").WithLease(&lease)
}

// fenced is for an epoch that does not count, since that of the lease does, if there is one.
func fenced(path string, epoch uint64, lease *entry.Lease) *entry.Refusal {
	const hint = "Stop what was begun under the epoch, and acquire the lease again before anything else."
	if lease == nil {
		return entry.Refusef(entry.Fenced, "nobody has a lease on %q, and so not with epoch %d", path, epoch).WithHint(hint)
	}
	return entry.Refusef(entry.Fenced, "%q is under the lease of %q on %q with epoch %d, not under epoch %d",
		path, lease.Holder, lease.Path, lease.Epoch, epoch).WithHint(hint).WithLease(lease)
}

func limit(what string, most int) *entry.Refusal {
	return entry.Refusef(entry.Limit, "there are %d %s, which is the most that there may be", most, what).WithHint("Remove some.")
}

func invalidf(format string, arguments ...any) *entry.Refusal {
	return entry.Refusef(entry.Invalid, format, arguments...).WithHint("Correct the request.")
}
