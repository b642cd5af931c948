package state_test

import (
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"pgregory.net/rapid"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// Few of each, so that changes meet.
var (
	anyVolume = rapid.SampledFrom([]string{"v", "v", "v", "w"})
	anyPath   = rapid.SampledFrom([]string{
		"/", "/a", "/b", "/a-b", "/a/a", "/a/b", "/b/a", "/a/a/a", "/a/a/b", "/a/b/a", "/b/a/a/a",
	})
	anyServer = rapid.SampledFrom([]string{"n1", "n2", "n3", "n4"})
)

func fileID(number byte) []byte {
	id := make([]byte, 16)
	id[15] = number
	return id
}

func anyFileID(t *rapid.T) []byte {
	return fileID(rapid.ByteRange(1, 6).Draw(t, "file"))
}

// anyEpoch is mostly one that counts somewhere, and sometimes an old one or none.
func anyEpoch(t *rapid.T, r *reference, volume, path string) uint64 {
	if rapid.SampledFrom([]bool{true, true, true, true, true, false}).Draw(t, "right") {
		for _, above := range parents(path) {
			if live, isThere := r.leases[key{volume, above}]; isThere {
				return live
			}
		}
	}
	return rapid.Uint64Range(0, r.epochs+1).Draw(t, "epoch")
}

func epochOfFile(t *rapid.T, r *reference, id []byte) uint64 {
	volume, paths, file := r.find(id)
	if file == nil {
		return rapid.Uint64Range(0, r.epochs+1).Draw(t, "epoch")
	}
	slices.Sort(paths)
	return anyEpoch(t, r, volume, paths[0])
}

func anyLayout(t *rapid.T) *sluicev1.FileLayout {
	layout := &sluicev1.FileLayout{BlockBytes: 1 << 20, Copies: []*sluicev1.FileCopy{{}, {}}}
	for range rapid.IntRange(1, 3).Draw(t, "slots") {
		servers := rapid.Permutation([]string{"n1", "n2", "n3", "n4"}).Draw(t, "servers")
		layout.Copies[0].Servers = append(layout.Copies[0].Servers, servers[0])
		layout.Copies[1].Servers = append(layout.Copies[1].Servers, servers[1])
	}
	return layout
}

// pathIn is often one of what is there.
func pathIn(t *rapid.T, r *reference, volume string) string {
	there := r.below(volume, "/")
	if len(there) > 0 && rapid.Bool().Draw(t, "there") {
		return rapid.SampledFrom(there).Draw(t, "path")
	}
	return anyPath.Draw(t, "path")
}

// kinds are the cases of anyChange.
var kinds = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}

func anyChange(t *rapid.T, r *reference) *sluicev1.ChangeMetadataRequest {
	request := &sluicev1.ChangeMetadataRequest{}
	volume, id := anyVolume.Draw(t, "volume"), anyFileID(t)
	path := pathIn(t, r, volume)
	switch rapid.SampledFrom(kinds).Draw(t, "change") {
	case 0:
		request.Change = &sluicev1.ChangeMetadataRequest_CreateVolume{CreateVolume: &sluicev1.CreateVolumeChange{Volume: volume}}
	case 1:
		request.Change = &sluicev1.ChangeMetadataRequest_RemoveVolume{RemoveVolume: &sluicev1.RemoveVolumeChange{Volume: volume}}
	case 2, 3:
		request.Change = &sluicev1.ChangeMetadataRequest_AcquireLease{AcquireLease: &sluicev1.AcquireLeaseChange{
			Volume: volume, Path: path, Holder: "h", TimeToLive: durationpb.New(time.Minute), OuterEpoch: anyEpoch(t, r, volume, path),
		}}
	case 4:
		request.Change = &sluicev1.ChangeMetadataRequest_ReleaseLease{ReleaseLease: &sluicev1.ReleaseLeaseChange{
			Volume: volume, Path: path, Epoch: anyEpoch(t, r, volume, path),
		}}
	case 5, 6:
		request.Change = &sluicev1.ChangeMetadataRequest_CreateDirectory{CreateDirectory: &sluicev1.CreateDirectoryChange{
			Volume: volume, Path: path, Epoch: anyEpoch(t, r, volume, path),
		}}
	case 7:
		request.Change = &sluicev1.ChangeMetadataRequest_RemoveDirectory{RemoveDirectory: &sluicev1.RemoveDirectoryChange{
			Volume: volume, Path: path, Epoch: anyEpoch(t, r, volume, path),
		}}
	case 8, 9, 10:
		request.Change = &sluicev1.ChangeMetadataRequest_CreateFile{CreateFile: &sluicev1.CreateFileChange{
			Volume: volume, Path: path, Epoch: anyEpoch(t, r, volume, path), FileId: id, Layout: anyLayout(t),
			Replace: rapid.Bool().Draw(t, "replace"),
		}}
	case 11:
		request.Change = &sluicev1.ChangeMetadataRequest_RemoveFile{RemoveFile: &sluicev1.RemoveFileChange{
			Volume: volume, Path: path, Epoch: anyEpoch(t, r, volume, path),
		}}
	case 12, 13:
		target := anyPath.Draw(t, "target")
		request.Change = &sluicev1.ChangeMetadataRequest_Rename{Rename: &sluicev1.RenameChange{
			Volume: volume, Source: path, SourceEpoch: anyEpoch(t, r, volume, path), Target: target, TargetEpoch: anyEpoch(t, r, volume, target),
		}}
	case 14, 15:
		target := anyPath.Draw(t, "target")
		request.Change = &sluicev1.ChangeMetadataRequest_LinkFile{LinkFile: &sluicev1.LinkFileChange{
			Volume: volume, Source: path, SourceEpoch: anyEpoch(t, r, volume, path), Target: target, TargetEpoch: anyEpoch(t, r, volume, target),
		}}
	default:
		setFileChange(t, r, request, id)
	}
	return request
}

func setFileChange(t *rapid.T, r *reference, request *sluicev1.ChangeMetadataRequest, id []byte) {
	epoch, length := epochOfFile(t, r, id), rapid.Uint64Range(0, 3).Draw(t, "length")
	server := anyServer.Draw(t, "server")
	if _, _, file := r.find(id); file != nil {
		server = file.servers[0][0]
	}
	place := &sluicev1.SegmentPlace{Slot: rapid.Uint32Range(0, 3).Draw(t, "slot"), Copy: rapid.Uint32Range(0, 2).Draw(t, "copy")}
	switch rapid.SampledFrom([]int{0, 1, 2, 3, 4, 5, 6}).Draw(t, "file change") {
	case 0:
		request.Change = &sluicev1.ChangeMetadataRequest_SetLength{SetLength: &sluicev1.SetLengthChange{FileId: id, Epoch: epoch, LengthBytes: length}}
	case 1, 2:
		request.Change = &sluicev1.ChangeMetadataRequest_SealFile{SealFile: &sluicev1.SealFileChange{FileId: id, Epoch: epoch, LengthBytes: length}}
	case 3:
		request.Change = &sluicev1.ChangeMetadataRequest_MarkMissing{MarkMissing: &sluicev1.MarkMissingChange{FileId: id, Epoch: epoch, Place: place}}
	case 4:
		request.Change = &sluicev1.ChangeMetadataRequest_ClearMissing{ClearMissing: &sluicev1.ClearMissingChange{FileId: id, Epoch: epoch, Place: place}}
	case 5:
		request.Change = &sluicev1.ChangeMetadataRequest_ReplaceServer{ReplaceServer: &sluicev1.ReplaceServerChange{
			FileId: id, Epoch: epoch, Place: place, OldServer: server, NewServer: anyServer.Draw(t, "new"),
			ClearMissing: rapid.Bool().Draw(t, "clear"),
		}}
	default:
		request.Change = &sluicev1.ChangeMetadataRequest_ConfirmRemoval{ConfirmRemoval: &sluicev1.ConfirmRemovalChange{FileId: id}}
	}
}
