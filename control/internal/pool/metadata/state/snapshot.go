package state

import (
	"bufio"
	"io"

	"google.golang.org/protobuf/encoding/protodelim"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/metadata/message"
)

// snapshotVersion is that of the form of snapshots.
const snapshotVersion = 1

// Snapshot is a state as it was at one time.
type Snapshot struct {
	trees trees
}

// Snapshot takes one, which later changes do not change.
func (s *State) Snapshot() *Snapshot {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return &Snapshot{s.trees.copy()}
}

// writing keeps the first error, and counts the records.
type writing struct {
	to      *bufio.Writer
	records uint64
	err     error
}

func (w *writing) put(record *sluicev1.MetadataSnapshotRecord) bool {
	if w.err != nil {
		return false
	}
	_, w.err = protodelim.MarshalTo(w.to, record)
	w.records++
	return w.err == nil
}

// Write writes it in the form that proto/sluice/v1/pool_metadata_log.proto has: the same state always as the same
// records in the same order.
func (s *Snapshot) Write(to io.Writer) error {
	w := &writing{to: bufio.NewWriter(to)}
	w.put(&sluicev1.MetadataSnapshotRecord{Record: &sluicev1.MetadataSnapshotRecord_Head{Head: &sluicev1.SnapshotHead{
		Version: snapshotVersion, LastEpoch: s.trees.lastEpoch, LastDirectory: s.trees.lastDirectory,
	}}})
	var roots []uint64
	s.trees.volumes.Scan(func(item volume) bool {
		roots = append(roots, item.root)
		return w.put(&sluicev1.MetadataSnapshotRecord{Record: &sluicev1.MetadataSnapshotRecord_Volume{
			Volume: &sluicev1.SnapshotVolume{Name: item.name, Root: item.root},
		}})
	})
	s.writeDirectories(w, roots)
	s.writeEntries(w)
	s.writeAnswers(w)
	w.put(&sluicev1.MetadataSnapshotRecord{Record: &sluicev1.MetadataSnapshotRecord_End{
		End: &sluicev1.SnapshotEnd{Records: w.records},
	}})
	if w.err != nil {
		return w.err
	}
	return w.to.Flush()
}

// writeDirectories writes each directory after the one that it is in.
func (s *Snapshot) writeDirectories(w *writing, numbers []uint64) {
	for len(numbers) > 0 {
		number := numbers[0]
		numbers = numbers[1:]
		s.trees.names.Ascend(named{location: location{directory: number}}, func(item named) bool {
			if item.directory != number {
				return false
			}
			if item.child == 0 {
				return true
			}
			numbers = append(numbers, item.child)
			return w.put(&sluicev1.MetadataSnapshotRecord{Record: &sluicev1.MetadataSnapshotRecord_Directory{
				Directory: &sluicev1.SnapshotDirectory{Number: item.child, Name: encodeLocation(item.location)},
			}})
		})
	}
}

func encodeLocation(where location) *sluicev1.SnapshotName {
	return &sluicev1.SnapshotName{Directory: where.directory, Name: where.name}
}

func (s *Snapshot) writeEntries(w *writing) {
	s.trees.files.Scan(func(item *file) bool {
		record := &sluicev1.SnapshotFile{File: message.EncodeFile(item.File)}
		for _, name := range item.names {
			record.Names = append(record.Names, encodeLocation(name))
		}
		return w.put(&sluicev1.MetadataSnapshotRecord{Record: &sluicev1.MetadataSnapshotRecord_File{File: record}})
	})
	s.trees.leases.Scan(func(item entry.Lease) bool {
		return w.put(&sluicev1.MetadataSnapshotRecord{Record: &sluicev1.MetadataSnapshotRecord_Lease{Lease: message.EncodeLease(&item)}})
	})
	s.trees.removals.Scan(func(item *entry.Removal) bool {
		return w.put(&sluicev1.MetadataSnapshotRecord{Record: &sluicev1.MetadataSnapshotRecord_Removal{Removal: message.EncodeRemoval(item)}})
	})
}

func (s *Snapshot) writeAnswers(w *writing) {
	s.trees.answers.idle.Scan(func(item client) bool {
		w.put(&sluicev1.MetadataSnapshotRecord{Record: &sluicev1.MetadataSnapshotRecord_Client{
			Client: &sluicev1.SnapshotClient{Client: item.id[:], LastSerial: item.lastSerial},
		}})
		s.trees.answers.kept.Ascend(answer{request: request{client: item.id}}, func(kept answer) bool {
			return kept.client == item.id && w.put(encodeAnswer(kept))
		})
		return w.err == nil
	})
}

func encodeAnswer(kept answer) *sluicev1.MetadataSnapshotRecord {
	encoded := &sluicev1.SnapshotAnswer{Serial: kept.serial}
	if kept.outcome.Refusal != nil {
		encoded.Answer = &sluicev1.SnapshotAnswer_Refusal{Refusal: message.EncodeRefusal(kept.outcome.Refusal)}
	} else {
		encoded.Answer = &sluicev1.SnapshotAnswer_Response{Response: kept.outcome.Response}
	}
	return &sluicev1.MetadataSnapshotRecord{Record: &sluicev1.MetadataSnapshotRecord_Answer{Answer: encoded}}
}
