package metadata

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/metadata/message"
)

// At is a path, and the epoch of the lease with the longest path that covers it.
type At struct {
	Volume, Path string
	Epoch        uint64
}

// NewFile is a file that is to be made.
type NewFile struct {
	At
	// ID are 16 random bytes.
	ID     entry.FileID
	Layout entry.Layout
	// Replace has it take the place of a file that is there.
	Replace bool
}

// Move is a change of two paths of a volume, each with the epoch of the lease that counts for it.
type Move struct {
	Volume         string
	Source, Target string
	SourceEpoch    uint64
	TargetEpoch    uint64
}

// Part is a part of a file. The epoch is that of the file's lease if it is open. Of a sealed one it is 0, or that of a
// lease that has to be there.
type Part struct {
	ID    entry.FileID
	Epoch uint64
	Place entry.Place
}

// NewLease is a lease that is to be taken.
type NewLease struct {
	Volume, Path string
	Holder       string
	// TimeToLive is 1 s to 1 h.
	TimeToLive time.Duration
	// OuterEpoch is that of the lease that the path is under; 0 if there is none.
	OuterEpoch uint64
}

func (c *Client) do(ctx context.Context, request *sluicev1.ChangeMetadataRequest) error {
	_, err := c.change(ctx, request)
	return err
}

// doRemoving gives the file that the change has taken the last path from, nil if there is none.
func (c *Client) doRemoving(ctx context.Context, request *sluicev1.ChangeMetadataRequest) (*entry.Removal, error) {
	response, err := c.change(ctx, request)
	if err != nil || response.GetRemoval() == nil {
		return nil, err
	}
	removal, err := message.DecodeRemoval(response.GetRemoval())
	return &removal, err
}

// CreateVolume makes an empty volume.
func (c *Client) CreateVolume(ctx context.Context, volume string) error {
	return c.do(ctx, &sluicev1.ChangeMetadataRequest{Change: &sluicev1.ChangeMetadataRequest_CreateVolume{
		CreateVolume: &sluicev1.CreateVolumeChange{Volume: volume},
	}})
}

// RemoveVolume removes a volume that has no files, directories and leases.
func (c *Client) RemoveVolume(ctx context.Context, volume string) error {
	return c.do(ctx, &sluicev1.ChangeMetadataRequest{Change: &sluicev1.ChangeMetadataRequest_RemoveVolume{
		RemoveVolume: &sluicev1.RemoveVolumeChange{Volume: volume},
	}})
}

// AcquireLease takes a lease, and gives the files below it that somebody has left open: recover and seal them first.
// Where the lease is taken and the files cannot be listed, it gives the lease and the error.
func (c *Client) AcquireLease(ctx context.Context, wanted NewLease) (entry.Lease, []entry.OpenFile, error) {
	response, err := c.change(ctx, &sluicev1.ChangeMetadataRequest{Change: &sluicev1.ChangeMetadataRequest_AcquireLease{
		AcquireLease: &sluicev1.AcquireLeaseChange{
			Volume: wanted.Volume, Path: wanted.Path, Holder: wanted.Holder, OuterEpoch: wanted.OuterEpoch,
			TimeToLive: durationpb.New(wanted.TimeToLive),
		},
	}})
	if err != nil {
		return entry.Lease{}, nil, err
	}
	lease, err := message.DecodeLease(response.GetLease())
	if err != nil {
		return entry.Lease{}, nil, err
	}
	open, err := c.AllOpenFiles(ctx, wanted.Volume, wanted.Path)
	return lease, open, err
}

// RenewLease has a lease last its time from when it is called. The holder counts from there, by a monotonic clock.
func (c *Client) RenewLease(ctx context.Context, lease entry.Lease) error {
	_, err := call(ctx, c, &sluicev1.RenewSubtreeLeaseRequest{Volume: lease.Volume, Path: lease.Path, Epoch: lease.Epoch},
		sluicev1.PoolMetadataServiceClient.RenewSubtreeLease)
	return err
}

// ReleaseLease ends the lease on a path, by its own epoch or that of the lease that it is under.
func (c *Client) ReleaseLease(ctx context.Context, at At) error {
	return c.do(ctx, &sluicev1.ChangeMetadataRequest{Change: &sluicev1.ChangeMetadataRequest_ReleaseLease{
		ReleaseLease: &sluicev1.ReleaseLeaseChange{Volume: at.Volume, Path: at.Path, Epoch: at.Epoch},
	}})
}

// CreateDirectory makes a directory in one that is there.
func (c *Client) CreateDirectory(ctx context.Context, at At) error {
	return c.do(ctx, &sluicev1.ChangeMetadataRequest{Change: &sluicev1.ChangeMetadataRequest_CreateDirectory{
		CreateDirectory: &sluicev1.CreateDirectoryChange{Volume: at.Volume, Path: at.Path, Epoch: at.Epoch},
	}})
}

// RemoveDirectory removes an empty directory that nobody has a lease on.
func (c *Client) RemoveDirectory(ctx context.Context, at At) error {
	return c.do(ctx, &sluicev1.ChangeMetadataRequest{Change: &sluicev1.ChangeMetadataRequest_RemoveDirectory{
		RemoveDirectory: &sluicev1.RemoveDirectoryChange{Volume: at.Volume, Path: at.Path, Epoch: at.Epoch},
	}})
}

// CreateFile makes an open file of no length, and gives the one that has lost its last path to it.
func (c *Client) CreateFile(ctx context.Context, wanted NewFile) (*entry.Removal, error) {
	return c.doRemoving(ctx, &sluicev1.ChangeMetadataRequest{Change: &sluicev1.ChangeMetadataRequest_CreateFile{
		CreateFile: &sluicev1.CreateFileChange{
			Volume: wanted.Volume, Path: wanted.Path, Epoch: wanted.Epoch, FileId: message.EncodeFileID(&wanted.ID),
			Layout: message.EncodeLayout(wanted.Layout), Replace: wanted.Replace,
		},
	}})
}

// SetLength makes known how much of an open file is on the disks.
func (c *Client) SetLength(ctx context.Context, id entry.FileID, epoch, lengthBytes uint64) error {
	return c.do(ctx, &sluicev1.ChangeMetadataRequest{Change: &sluicev1.ChangeMetadataRequest_SetLength{
		SetLength: &sluicev1.SetLengthChange{FileId: message.EncodeFileID(&id), Epoch: epoch, LengthBytes: lengthBytes},
	}})
}

// SealFile ends the writing of a file.
func (c *Client) SealFile(ctx context.Context, id entry.FileID, epoch, lengthBytes uint64) error {
	return c.do(ctx, &sluicev1.ChangeMetadataRequest{Change: &sluicev1.ChangeMetadataRequest_SealFile{
		SealFile: &sluicev1.SealFileChange{FileId: message.EncodeFileID(&id), Epoch: epoch, LengthBytes: lengthBytes},
	}})
}

// Rename moves a file or directory, and gives the file that has lost its last path to it.
func (c *Client) Rename(ctx context.Context, move Move) (*entry.Removal, error) {
	return c.doRemoving(ctx, &sluicev1.ChangeMetadataRequest{Change: &sluicev1.ChangeMetadataRequest_Rename{
		Rename: &sluicev1.RenameChange{
			Volume: move.Volume, Source: move.Source, SourceEpoch: move.SourceEpoch, Target: move.Target, TargetEpoch: move.TargetEpoch,
		},
	}})
}

// LinkFile gives a sealed file a second path.
func (c *Client) LinkFile(ctx context.Context, move Move) error {
	return c.do(ctx, &sluicev1.ChangeMetadataRequest{Change: &sluicev1.ChangeMetadataRequest_LinkFile{
		LinkFile: &sluicev1.LinkFileChange{
			Volume: move.Volume, Source: move.Source, SourceEpoch: move.SourceEpoch, Target: move.Target, TargetEpoch: move.TargetEpoch,
		},
	}})
}

// RemoveFile takes a path away from a file, and gives the file if it was the last one.
func (c *Client) RemoveFile(ctx context.Context, at At) (*entry.Removal, error) {
	return c.doRemoving(ctx, &sluicev1.ChangeMetadataRequest{Change: &sluicev1.ChangeMetadataRequest_RemoveFile{
		RemoveFile: &sluicev1.RemoveFileChange{Volume: at.Volume, Path: at.Path, Epoch: at.Epoch},
	}})
}

// MarkMissing notes that a part of a file is not where its layout says.
func (c *Client) MarkMissing(ctx context.Context, part Part) error {
	return c.do(ctx, &sluicev1.ChangeMetadataRequest{Change: &sluicev1.ChangeMetadataRequest_MarkMissing{
		MarkMissing: &sluicev1.MarkMissingChange{
			FileId: message.EncodeFileID(&part.ID), Epoch: part.Epoch, Place: message.EncodePlace(part.Place),
		},
	}})
}

// ClearMissing notes that a part of a file is where its layout says.
func (c *Client) ClearMissing(ctx context.Context, part Part) error {
	return c.do(ctx, &sluicev1.ChangeMetadataRequest{Change: &sluicev1.ChangeMetadataRequest_ClearMissing{
		ClearMissing: &sluicev1.ClearMissingChange{
			FileId: message.EncodeFileID(&part.ID), Epoch: part.Epoch, Place: message.EncodePlace(part.Place),
		},
	}})
}

// ReplaceServer has a part of a file be on another server, if it is on the old one. All of it is there: it is not missing
// any more.
func (c *Client) ReplaceServer(ctx context.Context, part Part, oldServer, newServer string) error {
	return c.do(ctx, &sluicev1.ChangeMetadataRequest{Change: &sluicev1.ChangeMetadataRequest_ReplaceServer{
		ReplaceServer: &sluicev1.ReplaceServerChange{
			FileId: message.EncodeFileID(&part.ID), Epoch: part.Epoch, Place: message.EncodePlace(part.Place),
			OldServer: oldServer, NewServer: newServer, ClearMissing: true,
		},
	}})
}

// ConfirmRemoval says that a removed file has no blocks any more.
func (c *Client) ConfirmRemoval(ctx context.Context, id entry.FileID) error {
	return c.do(ctx, &sluicev1.ChangeMetadataRequest{Change: &sluicev1.ChangeMetadataRequest_ConfirmRemoval{
		ConfirmRemoval: &sluicev1.ConfirmRemovalChange{FileId: message.EncodeFileID(&id)},
	}})
}
