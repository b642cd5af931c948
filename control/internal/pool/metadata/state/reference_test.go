package state_test

import (
	"maps"
	"slices"
	"strings"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
)

// reference is what the state should be, in the plainest form: a map of paths. It says whether a change is done,
// refused by fencing, or refused for another reason.
type reference struct {
	volumes map[string]map[string]*referenceFile
	leases  map[key]uint64
	epochs  uint64
	// removed are files to be confirmed, and used are all ids of files that are there.
	removed map[string]bool
	// expired are epochs that must never count again.
	over map[uint64]bool
}

type key struct{ volume, path string }

// referenceFile is a file; nil stands for a directory.
type referenceFile struct {
	id      string
	length  uint64
	sealed  bool
	missing map[entry.Place]bool
	servers [][]string
}

type verdict string

const (
	isDone    verdict = "done"
	isFenced  verdict = "fenced"
	isRefused verdict = "refused"
)

func newReference() *reference {
	return &reference{
		volumes: map[string]map[string]*referenceFile{}, leases: map[key]uint64{}, removed: map[string]bool{}, over: map[uint64]bool{},
	}
}

// parents are the path and all above it, the longest first.
func parents(path string) []string {
	all := []string{path}
	for path != "/" {
		path = path[:max(strings.LastIndex(path, "/"), 1)]
		all = append(all, path)
	}
	return all
}

func (r *reference) owns(volume, path string, epoch uint64) bool {
	for _, above := range parents(path) {
		if live, isThere := r.leases[key{volume, above}]; isThere {
			return live == epoch
		}
	}
	return false
}

func (r *reference) isDirectory(volume, path string) bool {
	file, isThere := r.volumes[volume][path]
	return isThere && file == nil
}

func (r *reference) hasParent(volume, path string) bool {
	return path != "/" && r.isDirectory(volume, parents(path)[1])
}

// below are the paths below one, not itself.
func (r *reference) below(volume, path string) []string {
	var paths []string
	for candidate := range r.volumes[volume] {
		if candidate != path && entry.Covers(path, candidate) {
			paths = append(paths, candidate)
		}
	}
	slices.Sort(paths)
	return paths
}

func (r *reference) isLeased(volume, path string) bool {
	for held := range r.leases {
		if held.volume == volume && entry.Covers(path, held.path) {
			return true
		}
	}
	return false
}

func (r *reference) find(id []byte) (volume string, paths []string, file *referenceFile) {
	for name, tree := range r.volumes {
		for path, candidate := range tree {
			if candidate != nil && candidate.id == string(id) {
				volume, paths, file = name, append(paths, path), candidate
			}
		}
	}
	return volume, paths, file
}

// unlink takes a path away, and the file with the last one.
func (r *reference) unlink(volume, path string) {
	file := r.volumes[volume][path]
	delete(r.volumes[volume], path)
	if file == nil {
		return
	}
	if _, _, still := r.find([]byte(file.id)); still == nil {
		r.removed[file.id] = true
	}
}

func (r *reference) apply(request *sluicev1.ChangeMetadataRequest) verdict {
	switch change := request.GetChange().(type) {
	case *sluicev1.ChangeMetadataRequest_CreateVolume:
		name := change.CreateVolume.GetVolume()
		if _, isThere := r.volumes[name]; isThere {
			return isRefused
		}
		r.volumes[name] = map[string]*referenceFile{"/": nil}
	case *sluicev1.ChangeMetadataRequest_RemoveVolume:
		name := change.RemoveVolume.GetVolume()
		if len(r.volumes[name]) != 1 || r.isLeased(name, "/") {
			return isRefused
		}
		delete(r.volumes, name)
	case *sluicev1.ChangeMetadataRequest_ConfirmRemoval:
		if _, _, file := r.find(change.ConfirmRemoval.GetFileId()); file != nil {
			return isRefused
		}
		delete(r.removed, string(change.ConfirmRemoval.GetFileId()))
	case *sluicev1.ChangeMetadataRequest_AcquireLease:
		return r.acquire(change.AcquireLease)
	case *sluicev1.ChangeMetadataRequest_ReleaseLease:
		return r.release(change.ReleaseLease)
	default:
		return r.applyToTree(request)
	}
	return isDone
}

func (r *reference) acquire(change *sluicev1.AcquireLeaseChange) verdict {
	volume, path := change.GetVolume(), change.GetPath()
	if _, isThere := r.volumes[volume]; !isThere {
		return isRefused
	}
	if _, isHeld := r.leases[key{volume, path}]; isHeld {
		return isRefused
	}
	isUnder := slices.ContainsFunc(parents(path), func(above string) bool { return r.leases[key{volume, above}] != 0 })
	if isUnder != (change.GetOuterEpoch() != 0) || isUnder && !r.owns(volume, path, change.GetOuterEpoch()) {
		return isFenced
	}
	if !r.isDirectory(volume, path) {
		return isRefused
	}
	r.epochs++
	r.leases[key{volume, path}] = r.epochs
	return isDone
}

func (r *reference) release(change *sluicev1.ReleaseLeaseChange) verdict {
	at := key{change.GetVolume(), change.GetPath()}
	live, isThere := r.leases[at]
	if !isThere {
		return isRefused
	}
	isOuter := at.path != "/" && r.owns(at.volume, parents(at.path)[1], change.GetEpoch())
	if live != change.GetEpoch() && !isOuter {
		return isFenced
	}
	r.end(at)
	return isDone
}

func (r *reference) end(at key) {
	r.over[r.leases[at]] = true
	delete(r.leases, at)
}

func (r *reference) expire(epochs []uint64) {
	for at, epoch := range maps.Clone(r.leases) {
		if slices.Contains(epochs, epoch) {
			r.end(at)
		}
	}
}
