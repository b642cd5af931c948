package state_test

import (
	"maps"
	"slices"
	"strings"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
)

func (r *reference) applyToTree(request *sluicev1.ChangeMetadataRequest) verdict {
	switch change := request.GetChange().(type) {
	case *sluicev1.ChangeMetadataRequest_CreateDirectory:
		at := change.CreateDirectory
		return r.at(at, func() bool {
			_, isThere := r.volumes[at.GetVolume()][at.GetPath()]
			if isThere || !r.hasParent(at.GetVolume(), at.GetPath()) {
				return false
			}
			r.volumes[at.GetVolume()][at.GetPath()] = nil
			return true
		})
	case *sluicev1.ChangeMetadataRequest_RemoveDirectory:
		at := change.RemoveDirectory
		return r.at(at, func() bool {
			isGood := at.GetPath() != "/" && r.isDirectory(at.GetVolume(), at.GetPath()) &&
				len(r.below(at.GetVolume(), at.GetPath())) == 0 && !r.isLeased(at.GetVolume(), at.GetPath())
			if isGood {
				delete(r.volumes[at.GetVolume()], at.GetPath())
			}
			return isGood
		})
	case *sluicev1.ChangeMetadataRequest_CreateFile:
		return r.at(change.CreateFile, func() bool { return r.createFile(change.CreateFile) })
	case *sluicev1.ChangeMetadataRequest_RemoveFile:
		at := change.RemoveFile
		return r.at(at, func() bool {
			if r.volumes[at.GetVolume()][at.GetPath()] == nil {
				return false
			}
			r.unlink(at.GetVolume(), at.GetPath())
			return true
		})
	case *sluicev1.ChangeMetadataRequest_Rename:
		return r.move(change.Rename, func() bool { return r.rename(change.Rename) })
	case *sluicev1.ChangeMetadataRequest_LinkFile:
		return r.move(change.LinkFile, func() bool { return r.link(change.LinkFile) })
	}
	return r.applyToFile(request)
}

func (r *reference) at(at interface {
	GetVolume() string
	GetPath() string
	GetEpoch() uint64
}, do func() bool) verdict {
	if _, isThere := r.volumes[at.GetVolume()]; !isThere {
		return isRefused
	}
	if !r.owns(at.GetVolume(), at.GetPath(), at.GetEpoch()) {
		return isFenced
	}
	return verdictOf(do())
}

func (r *reference) move(change interface {
	GetVolume() string
	GetSource() string
	GetSourceEpoch() uint64
	GetTarget() string
	GetTargetEpoch() uint64
}, do func() bool) verdict {
	if _, isThere := r.volumes[change.GetVolume()]; !isThere {
		return isRefused
	}
	if !r.owns(change.GetVolume(), change.GetSource(), change.GetSourceEpoch()) ||
		!r.owns(change.GetVolume(), change.GetTarget(), change.GetTargetEpoch()) {
		return isFenced
	}
	return verdictOf(do())
}

func verdictOf(isGood bool) verdict {
	if isGood {
		return isDone
	}
	return isRefused
}

func (r *reference) createFile(change *sluicev1.CreateFileChange) bool {
	volume, path := change.GetVolume(), change.GetPath()
	there, isThere := r.volumes[volume][path]
	_, _, same := r.find(change.GetFileId())
	if !r.hasParent(volume, path) || isThere && (there == nil || !change.GetReplace()) || same != nil || r.removed[string(change.GetFileId())] {
		return false
	}
	if isThere {
		r.unlink(volume, path)
	}
	file := &referenceFile{id: string(change.GetFileId()), missing: map[entry.Place]bool{}}
	for _, encoded := range change.GetLayout().GetCopies() {
		file.servers = append(file.servers, append([]string{}, encoded.GetServers()...))
	}
	r.volumes[volume][path] = file
	return true
}

func (r *reference) rename(change *sluicev1.RenameChange) bool {
	volume, from, to := change.GetVolume(), change.GetSource(), change.GetTarget()
	source, isThere := r.volumes[volume][from]
	target, isTaken := r.volumes[volume][to]
	switch {
	case !isThere || from == "/" || !r.hasParent(volume, to):
		return false
	case from == to || source != nil && source == target:
		return true
	case r.isLeased(volume, from) || r.isLeased(volume, to):
		return false
	case source != nil:
		if isTaken && target == nil {
			return false
		}
		// The source first: a target that is another path of it was dealt with above.
		r.unlink(volume, to)
		delete(r.volumes[volume], from)
		r.volumes[volume][to] = source
		return true
	case isTaken && (target != nil || len(r.below(volume, to)) > 0) || entry.Covers(from, to):
		return false
	}
	for _, path := range append(r.below(volume, from), from) {
		r.volumes[volume][to+strings.TrimPrefix(path, from)] = r.volumes[volume][path]
		delete(r.volumes[volume], path)
	}
	return true
}

func (r *reference) link(change *sluicev1.LinkFileChange) bool {
	volume := change.GetVolume()
	source := r.volumes[volume][change.GetSource()]
	_, isTaken := r.volumes[volume][change.GetTarget()]
	if source == nil || !source.sealed || isTaken || !r.hasParent(volume, change.GetTarget()) {
		return false
	}
	r.volumes[volume][change.GetTarget()] = source
	return true
}

func (r *reference) applyToFile(request *sluicev1.ChangeMetadataRequest) verdict {
	switch change := request.GetChange().(type) {
	case *sluicev1.ChangeMetadataRequest_SetLength:
		at := change.SetLength
		return r.file(at, false, func(file *referenceFile) bool {
			return !file.sealed && file.grow(at.GetLengthBytes())
		})
	case *sluicev1.ChangeMetadataRequest_SealFile:
		at := change.SealFile
		return r.file(at, false, func(file *referenceFile) bool {
			if file.sealed && file.length != at.GetLengthBytes() || !file.grow(at.GetLengthBytes()) {
				return false
			}
			file.sealed = true
			return true
		})
	case *sluicev1.ChangeMetadataRequest_MarkMissing:
		return r.part(change.MarkMissing, func(file *referenceFile, place entry.Place) bool {
			file.missing[place] = true
			return true
		})
	case *sluicev1.ChangeMetadataRequest_ClearMissing:
		return r.part(change.ClearMissing, func(file *referenceFile, place entry.Place) bool {
			delete(file.missing, place)
			return true
		})
	case *sluicev1.ChangeMetadataRequest_ReplaceServer:
		at := change.ReplaceServer
		return r.part(at, func(file *referenceFile, place entry.Place) bool {
			for _, servers := range file.servers {
				if servers[place.Slot] == at.GetNewServer() {
					return false
				}
			}
			if file.servers[place.Copy][place.Slot] != at.GetOldServer() {
				return false
			}
			file.servers[place.Copy][place.Slot] = at.GetNewServer()
			if at.GetClearMissing() {
				delete(file.missing, place)
			}
			return true
		})
	}
	panic("the reference does not know this change")
}

func (f *referenceFile) grow(length uint64) bool {
	if length < f.length {
		return false
	}
	f.length = length
	return true
}

type fileChange interface {
	GetFileId() []byte
	GetEpoch() uint64
}

func (r *reference) file(change fileChange, sealedIsFree bool, do func(file *referenceFile) bool) verdict {
	volume, paths, file := r.find(change.GetFileId())
	if file == nil {
		return isRefused
	}
	owns := file.sealed && sealedIsFree && (change.GetEpoch() == 0 || r.isLive(change.GetEpoch()))
	for _, path := range paths {
		owns = owns || r.owns(volume, path, change.GetEpoch())
	}
	if !owns {
		return isFenced
	}
	return verdictOf(do(file))
}

func (r *reference) isLive(epoch uint64) bool {
	return slices.Contains(slices.Collect(maps.Values(r.leases)), epoch)
}

func (r *reference) part(change interface {
	fileChange
	GetPlace() *sluicev1.SegmentPlace
}, do func(file *referenceFile, place entry.Place) bool,
) verdict {
	place := entry.Place{Slot: change.GetPlace().GetSlot(), Copy: change.GetPlace().GetCopy()}
	return r.file(change, true, func(file *referenceFile) bool {
		return int(place.Copy) < len(file.servers) && int(place.Slot) < len(file.servers[0]) && do(file, place)
	})
}
