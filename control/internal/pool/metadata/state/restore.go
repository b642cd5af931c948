package state

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/protodelim"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/metadata/message"
)

// maxRecordBytes is far above any record: a file has at most 3 x 256 names of servers.
const maxRecordBytes = 4 << 20

// maxNumber is far above what can be reached by counting: numbers that began anew would be given twice.
const maxNumber = 1 << 62

// restoring is a state that is being read.
type restoring struct {
	*State
	records uint64
	hasHead bool
	// client is the one that the next answers are to.
	client client
}

// Restore puts what a snapshot has in the place of all that there is. A snapshot that is damaged, cut short, or of a
// newer version changes nothing.
func (s *State) Restore(from io.Reader) error {
	r := &restoring{State: New()}
	reader := bufio.NewReader(from)
	for {
		record := &sluicev1.MetadataSnapshotRecord{}
		if err := (protodelim.UnmarshalOptions{MaxSize: maxRecordBytes}).UnmarshalFrom(reader, record); err != nil {
			return fmt.Errorf("read the snapshot's record %d: %w", r.records+1, err)
		}
		if end, isEnd := record.GetRecord().(*sluicev1.MetadataSnapshotRecord_End); isEnd {
			return s.replaceBy(r, end.End, reader)
		}
		if err := r.take(record); err != nil {
			return fmt.Errorf("the snapshot's record %d is damaged: %w", r.records+1, err)
		}
		r.records++
	}
}

func (s *State) replaceBy(r *restoring, end *sluicev1.SnapshotEnd, reader *bufio.Reader) error {
	if _, err := reader.ReadByte(); err != io.EOF {
		return fmt.Errorf("the snapshot goes on after its end")
	}
	if !r.hasHead || end.GetRecords() != r.records {
		return fmt.Errorf("the snapshot has %d records, and had %d when it was written", r.records, end.GetRecords())
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.trees, s.servers = r.trees, r.servers
	return nil
}

func (r *restoring) take(record *sluicev1.MetadataSnapshotRecord) error {
	head, isHead := record.GetRecord().(*sluicev1.MetadataSnapshotRecord_Head)
	if isHead == r.hasHead {
		return fmt.Errorf("there must be one head, before everything else")
	}
	switch record := record.GetRecord().(type) {
	case *sluicev1.MetadataSnapshotRecord_Volume:
		return r.takeVolume(record.Volume)
	case *sluicev1.MetadataSnapshotRecord_Directory:
		return r.takeDirectory(record.Directory)
	case *sluicev1.MetadataSnapshotRecord_File:
		return r.takeFile(record.File)
	case *sluicev1.MetadataSnapshotRecord_Lease:
		return r.takeLease(record.Lease)
	case *sluicev1.MetadataSnapshotRecord_Removal:
		return r.takeRemoval(record.Removal)
	case *sluicev1.MetadataSnapshotRecord_Client:
		return r.takeClient(record.Client)
	case *sluicev1.MetadataSnapshotRecord_Answer:
		return r.takeAnswer(record.Answer)
	case *sluicev1.MetadataSnapshotRecord_Head:
		return r.takeHead(head.Head)
	}
	return unknown("record")
}

func (r *restoring) takeHead(head *sluicev1.SnapshotHead) error {
	if head.GetVersion() != snapshotVersion {
		return fmt.Errorf("it has the form %d, and this version knows %d: upgrade this node", head.GetVersion(), snapshotVersion)
	}
	if max(head.GetLastEpoch(), head.GetLastDirectory()) > maxNumber {
		return fmt.Errorf("its last epoch is %d and its last directory %d, at most %d is possible", head.GetLastEpoch(), head.GetLastDirectory(), uint64(maxNumber))
	}
	r.hasHead, r.lastEpoch, r.lastDirectory = true, head.GetLastEpoch(), head.GetLastDirectory()
	return nil
}

func (r *restoring) takeVolume(record *sluicev1.SnapshotVolume) error {
	if err := entry.CheckVolume(record.GetName()); err != nil {
		return err
	}
	if _, isThere := r.volumes.Get(volume{name: record.GetName()}); isThere {
		return fmt.Errorf("the volume %q is there twice", record.GetName())
	}
	r.volumes.Set(volume{record.GetName(), record.GetRoot()})
	return r.setDirectory(directory{number: record.GetRoot(), volume: record.GetName()})
}

func (r *restoring) setDirectory(d directory) error {
	if _, isThere := r.directories.Get(d); isThere || d.number == 0 || d.number > r.lastDirectory {
		return fmt.Errorf("the number %d of a directory is there twice, or beyond the last one, %d", d.number, r.lastDirectory)
	}
	r.directories.Set(d)
	return nil
}

// free gives a location in which nothing is, and the volume of its directory.
func (r *restoring) free(record *sluicev1.SnapshotName) (location, string, error) {
	where := location{record.GetDirectory(), record.GetName()}
	if err := entry.CheckName(where.name); err != nil {
		return location{}, "", err
	}
	in, isThere := r.directories.Get(directory{number: where.directory})
	if !isThere {
		return location{}, "", fmt.Errorf("there is no directory %d", where.directory)
	}
	if _, isThere := r.names.Get(named{location: where}); isThere {
		return location{}, "", fmt.Errorf("the name %q is there twice in directory %d", where.name, where.directory)
	}
	return where, in.volume, nil
}

func (r *restoring) takeDirectory(record *sluicev1.SnapshotDirectory) error {
	where, volumeName, err := r.free(record.GetName())
	if err != nil {
		return err
	}
	r.names.Set(named{location: where, child: record.GetNumber()})
	return r.setDirectory(directory{record.GetNumber(), volumeName, where})
}

func (r *restoring) takeFile(record *sluicev1.SnapshotFile) error {
	decoded, err := message.DecodeFile(record.GetFile())
	if err != nil {
		return err
	}
	decoded.Layout = r.shared(decoded.Layout)
	taken := &file{File: decoded}
	count := len(record.GetNames())
	switch {
	case r.file(decoded.ID) != nil:
		return fmt.Errorf("the file %s is there twice", decoded.ID)
	case uint64(decoded.Links) != uint64(count), count == 0, count > entry.MaxLinks, count > 1 && !decoded.Sealed:
		return fmt.Errorf("the file %s cannot have %d names", decoded.ID, count)
	case decoded.Epoch > r.lastEpoch:
		return fmt.Errorf("the file %s has epoch %d, beyond the last one, %d", decoded.ID, decoded.Epoch, r.lastEpoch)
	}
	for _, name := range record.GetNames() {
		where, volumeName, err := r.free(name)
		if err != nil {
			return err
		}
		if volumeName != decoded.Volume {
			return fmt.Errorf("the file %s is in volume %q, and not in %q", decoded.ID, decoded.Volume, volumeName)
		}
		r.names.Set(named{location: where, file: decoded.ID})
		taken.names = append(taken.names, where)
	}
	slices.SortFunc(taken.names, compareLocations)
	r.setFile(taken)
	return nil
}

func (r *restoring) takeLease(record *sluicev1.SubtreeLease) error {
	lease, err := message.DecodeLease(record)
	if err != nil {
		return err
	}
	if err := r.checkPath(lease.Volume, lease.Path); err != nil {
		return err
	}
	if _, err := r.directoryAt(lease.Volume, lease.Path); err != nil {
		return err
	}
	if _, isThere := r.leases.Get(lease); isThere || lease.Epoch > r.lastEpoch {
		return fmt.Errorf("the lease on %q is there twice, or its epoch is beyond the last one, %d", lease.Path, r.lastEpoch)
	}
	r.leases.Set(lease)
	return nil
}

func (r *restoring) takeRemoval(record *sluicev1.FileRemoval) error {
	removal, err := message.DecodeRemoval(record)
	if err != nil {
		return err
	}
	if _, isThere := r.removals.Get(&removal); isThere || r.file(removal.ID) != nil {
		return fmt.Errorf("the file %s is there twice", removal.ID)
	}
	removal.Layout = r.shared(removal.Layout)
	r.removals.Set(&removal)
	return nil
}

func (r *restoring) takeClient(record *sluicev1.SnapshotClient) error {
	id, refusal := requestOf(&sluicev1.MetadataRequestId{Client: record.GetClient(), Serial: record.GetLastSerial()})
	if refusal != nil {
		return refusal
	}
	if _, isThere := r.answers.clients.Get(client{id: id.client}); isThere || r.answers.clients.Len() == maxClients {
		return fmt.Errorf("the client %x is there twice, or there are more than %d", id.client, maxClients)
	}
	r.answers.uses++
	r.client = client{id: id.client, lastSerial: id.serial, lastUse: r.answers.uses}
	r.answers.clients.Set(r.client)
	r.answers.idle.Set(r.client)
	return nil
}

func (r *restoring) takeAnswer(record *sluicev1.SnapshotAnswer) error {
	kept := answer{request: request{r.client.id, record.GetSerial()}}
	if kept.serial == 0 || kept.serial > r.client.lastSerial || isOld(kept.serial, r.client.lastSerial) {
		return fmt.Errorf("there is an answer to request %d of a client whose last one is %d", kept.serial, r.client.lastSerial)
	}
	switch given := record.GetAnswer().(type) {
	case *sluicev1.SnapshotAnswer_Response:
		kept.outcome.Response = given.Response
	case *sluicev1.SnapshotAnswer_Refusal:
		kept.outcome.Refusal = message.DecodeRefusal(given.Refusal)
	default:
		return unknown("answer")
	}
	if _, isThere := r.answers.kept.Set(kept); isThere {
		return fmt.Errorf("there are two answers to request %d of a client", kept.serial)
	}
	return nil
}
