// Package message turns the values of package entry into the messages of proto/sluice/v1 and back. Encode functions
// never fail. Decode functions check what they are given, since it comes from the network or from a disk, and give
// an *entry.Refusal that says what is wrong.
package message

import (
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
)

// maxDurationSeconds is that of time.Duration, which AsDuration else cuts off.
const maxDurationSeconds = int64(entry.LongestTimeToLive / time.Second)

// EncodeFileID gives an id, or nothing for nil.
func EncodeFileID(id *entry.FileID) []byte {
	if id == nil {
		return nil
	}
	return slices.Clone(id[:])
}

// DecodeFileID reads an id.
func DecodeFileID(encoded []byte) (entry.FileID, error) {
	if len(encoded) != entry.FileIDBytes {
		return entry.FileID{}, entry.Refusef(entry.Invalid, "the id of a file has %d bytes, not %d", entry.FileIDBytes, len(encoded)).
			WithHint("Choose %d random bytes.", entry.FileIDBytes)
	}
	return entry.FileID(encoded), nil
}

// EncodeLayout gives a layout.
func EncodeLayout(layout entry.Layout) *sluicev1.FileLayout {
	encoded := &sluicev1.FileLayout{BlockBytes: layout.BlockBytes}
	for _, servers := range layout.Servers {
		encoded.Copies = append(encoded.Copies, &sluicev1.FileCopy{Servers: slices.Clone(servers)})
	}
	return encoded
}

// DecodeLayout reads and checks a layout.
func DecodeLayout(message *sluicev1.FileLayout) (entry.Layout, error) {
	layout := entry.Layout{BlockBytes: message.GetBlockBytes()}
	for _, encoded := range message.GetCopies() {
		layout.Servers = append(layout.Servers, slices.Clone(encoded.GetServers()))
	}
	return layout, layout.Check()
}

// EncodePlace gives a part of a file.
func EncodePlace(place entry.Place) *sluicev1.SegmentPlace {
	return &sluicev1.SegmentPlace{Slot: place.Slot, Copy: place.Copy}
}

// DecodePlace reads a part of a file, which the layout may not have.
func DecodePlace(message *sluicev1.SegmentPlace) entry.Place {
	return entry.Place{Slot: message.GetSlot(), Copy: message.GetCopy()}
}

// EncodeFile gives a file.
func EncodeFile(file entry.File) *sluicev1.PoolFile {
	encoded := &sluicev1.PoolFile{
		Volume: file.Volume, FileId: EncodeFileID(&file.ID), Layout: EncodeLayout(file.Layout), LengthBytes: file.LengthBytes,
		Sealed: file.Sealed, Epoch: file.Epoch, Links: file.Links,
	}
	for _, place := range file.Missing {
		encoded.Missing = append(encoded.Missing, EncodePlace(place))
	}
	return encoded
}

// DecodeFile reads and checks a file.
func DecodeFile(message *sluicev1.PoolFile) (entry.File, error) {
	removal, err := decodeBlocks(message)
	if err != nil {
		return entry.File{}, err
	}
	file := entry.File{
		Volume: removal.Volume, ID: removal.ID, Layout: removal.Layout, LengthBytes: removal.LengthBytes,
		Sealed: message.GetSealed(), Epoch: message.GetEpoch(), Links: message.GetLinks(),
	}
	for _, encoded := range message.GetMissing() {
		place := DecodePlace(encoded)
		if !file.Layout.Has(place) {
			return entry.File{}, invalidf("slot %d of copy %d is missing, which the layout does not have", place.Slot, place.Copy)
		}
		file.Missing = append(file.Missing, place)
	}
	slices.SortFunc(file.Missing, entry.Place.Compare)
	file.Missing = slices.Compact(file.Missing)
	return file, nil
}

// EncodeRemoval gives a removed file.
func EncodeRemoval(removal *entry.Removal) *sluicev1.FileRemoval {
	if removal == nil {
		return nil
	}
	return &sluicev1.FileRemoval{
		Volume: removal.Volume, FileId: EncodeFileID(&removal.ID), Layout: EncodeLayout(removal.Layout), LengthBytes: removal.LengthBytes,
	}
}

// DecodeRemoval reads and checks a removed file.
func DecodeRemoval(message *sluicev1.FileRemoval) (entry.Removal, error) {
	return decodeBlocks(message)
}

// decodeBlocks reads what a file and one that is removed have in common.
func decodeBlocks(message interface {
	GetVolume() string
	GetFileId() []byte
	GetLayout() *sluicev1.FileLayout
	GetLengthBytes() uint64
}) (entry.Removal, error) {
	id, err := DecodeFileID(message.GetFileId())
	if err != nil {
		return entry.Removal{}, err
	}
	layout, err := DecodeLayout(message.GetLayout())
	if err != nil {
		return entry.Removal{}, err
	}
	removal := entry.Removal{Volume: message.GetVolume(), ID: id, Layout: layout, LengthBytes: message.GetLengthBytes()}
	if err := entry.CheckVolume(removal.Volume); err != nil {
		return entry.Removal{}, err
	}
	return removal, entry.CheckLength(removal.LengthBytes)
}

// EncodeLease gives a lease, or nothing for nil.
func EncodeLease(lease *entry.Lease) *sluicev1.SubtreeLease {
	if lease == nil {
		return nil
	}
	return &sluicev1.SubtreeLease{
		Volume: lease.Volume, Path: lease.Path, Holder: lease.Holder, Epoch: lease.Epoch, TimeToLive: durationpb.New(lease.TimeToLive),
	}
}

// DecodeLease reads and checks a lease.
func DecodeLease(message *sluicev1.SubtreeLease) (entry.Lease, error) {
	timeToLive, err := DecodeTimeToLive(message.GetTimeToLive())
	if err != nil {
		return entry.Lease{}, err
	}
	lease := entry.Lease{
		Volume: message.GetVolume(), Path: message.GetPath(), Holder: message.GetHolder(), Epoch: message.GetEpoch(), TimeToLive: timeToLive,
	}
	for _, err := range []error{entry.CheckVolume(lease.Volume), entry.CheckPath(lease.Path), entry.CheckHolder(lease.Holder)} {
		if err != nil {
			return entry.Lease{}, err
		}
	}
	if lease.Epoch == 0 {
		return entry.Lease{}, invalidf("the lease has no epoch")
	}
	return lease, nil
}

// DecodeTimeToLive reads and checks the time of a lease.
func DecodeTimeToLive(message *durationpb.Duration) (time.Duration, error) {
	if !message.IsValid() || message.GetSeconds() > maxDurationSeconds {
		return 0, invalidf("the time to live is missing, or is no such time")
	}
	timeToLive := message.AsDuration()
	return timeToLive, entry.CheckTimeToLive(timeToLive)
}

func invalidf(format string, arguments ...any) *entry.Refusal {
	return entry.Refusef(entry.Invalid, format, arguments...).WithHint("Correct the request.")
}
