// Package state is what the metadata of a pool is, and what each command of the replicated log makes of it. It
// depends on nothing but the commands before: no clock, no chance, no order of a map. A change that is refused has
// changed nothing but the list of answers.
package state

import (
	"cmp"
	"sync"

	"github.com/tidwall/btree"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
)

// State is safe for concurrent use. Its trees are copied on write, so that a snapshot costs nothing to take; what is
// in them is replaced and never changed.
type State struct {
	mutex sync.RWMutex
	trees
	// servers has each name of a server once, however many layouts it is in.
	servers map[string]string
}

// trees are all that is replicated.
type trees struct {
	// lastEpoch is that of the last lease, of whichever volume.
	lastEpoch uint64
	// lastDirectory is the number of the last directory.
	lastDirectory uint64

	volumes     *btree.BTreeG[volume]
	directories *btree.BTreeG[directory]
	names       *btree.BTreeG[named]
	files       *btree.BTreeG[*file]
	// open has the files that are not sealed.
	open     *btree.BTreeG[*file]
	leases   *btree.BTreeG[entry.Lease]
	removals *btree.BTreeG[*entry.Removal]
	answers  answers
}

type volume struct {
	name string
	// root is the number of its directory.
	root uint64
}

type directory struct {
	number uint64
	volume string
	// at is where it is; nowhere for the root of a volume.
	at location
}

// location is a name in a directory.
type location struct {
	directory uint64
	name      string
}

// named is what has a name: a directory, or a file where its number is 0.
type named struct {
	location
	child uint64
	file  entry.FileID
}

type file struct {
	entry.File
	// names are all that it has, in their order: one if it is open.
	names []location
}

func compareLocations(a, b location) int {
	return cmp.Or(cmp.Compare(a.directory, b.directory), cmp.Compare(a.name, b.name))
}

func tree[T any](compare func(a, b T) int) *btree.BTreeG[T] {
	return btree.NewBTreeGOptions(func(a, b T) bool { return compare(a, b) < 0 }, btree.Options{NoLocks: true})
}

func compareIDs(a, b entry.FileID) int {
	return cmp.Compare(string(a[:]), string(b[:]))
}

// New is a state in which there is nothing.
func New() *State {
	return &State{trees: newTrees(), servers: make(map[string]string)}
}

func newTrees() trees {
	byFileID := func(a, b *file) int { return compareIDs(a.ID, b.ID) }
	return trees{
		volumes:     tree(func(a, b volume) int { return cmp.Compare(a.name, b.name) }),
		directories: tree(func(a, b directory) int { return cmp.Compare(a.number, b.number) }),
		names:       tree(func(a, b named) int { return compareLocations(a.location, b.location) }),
		files:       tree(byFileID),
		open:        tree(byFileID),
		leases: tree(func(a, b entry.Lease) int {
			return cmp.Or(cmp.Compare(a.Volume, b.Volume), cmp.Compare(a.Path, b.Path))
		}),
		removals: tree(func(a, b *entry.Removal) int { return compareIDs(a.ID, b.ID) }),
		answers:  newAnswers(),
	}
}

// copy gives trees that stay as they are.
func (t trees) copy() trees {
	copied := t
	copied.volumes, copied.directories, copied.names = t.volumes.Copy(), t.directories.Copy(), t.names.Copy()
	copied.files, copied.open, copied.leases = t.files.Copy(), t.open.Copy(), t.leases.Copy()
	copied.removals, copied.answers = t.removals.Copy(), t.answers.copy()
	return copied
}

// Outcome is what a change has come to: one of the two.
type Outcome struct {
	Response *sluicev1.ChangeMetadataResponse
	Refusal  *entry.Refusal
}

// Apply does what a command says, which the leader of the term has put into the log. An error is a command that this
// version does not know: nothing may be applied after it.
func (s *State) Apply(term uint64, command *sluicev1.MetadataCommand) (Outcome, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch command := command.GetCommand().(type) {
	case *sluicev1.MetadataCommand_Change:
		return s.applyOnce(command.Change)
	case *sluicev1.MetadataCommand_Expire:
		if command.Expire.GetTerm() == term {
			s.expire(command.Expire.GetEpochs())
		}
		return Outcome{Response: &sluicev1.ChangeMetadataResponse{}}, nil
	}
	return Outcome{}, unknown("command")
}

func (s *State) applyOnce(request *sluicev1.ChangeMetadataRequest) (Outcome, error) {
	id, refusal := requestOf(request.GetRequestId())
	if refusal != nil {
		return Outcome{Refusal: refusal}, nil
	}
	if earlier, isThere := s.answers.find(id); isThere {
		return earlier, nil
	}
	response, err := s.change(request)
	outcome := Outcome{Response: response}
	if err != nil {
		refusal, isRefusal := err.(*entry.Refusal)
		if !isRefusal {
			return Outcome{}, err
		}
		outcome = Outcome{Refusal: refusal}
	}
	s.answers.keep(id, outcome)
	return outcome, nil
}

// change does one change, or gives why not. An error that is no refusal is of a change that is not known.
func (s *State) change(request *sluicev1.ChangeMetadataRequest) (*sluicev1.ChangeMetadataResponse, error) {
	switch change := request.GetChange().(type) {
	case *sluicev1.ChangeMetadataRequest_AcquireLease:
		return s.acquireLease(change.AcquireLease)
	case *sluicev1.ChangeMetadataRequest_CreateFile:
		return s.createFile(change.CreateFile)
	case *sluicev1.ChangeMetadataRequest_Rename:
		return s.rename(change.Rename)
	case *sluicev1.ChangeMetadataRequest_RemoveFile:
		return s.removeFile(change.RemoveFile)
	}
	return &sluicev1.ChangeMetadataResponse{}, s.plainChange(request)
}

// plainChange does those changes that have nothing to answer.
func (s *State) plainChange(request *sluicev1.ChangeMetadataRequest) error {
	switch change := request.GetChange().(type) {
	case *sluicev1.ChangeMetadataRequest_CreateVolume:
		return s.createVolume(change.CreateVolume.GetVolume())
	case *sluicev1.ChangeMetadataRequest_RemoveVolume:
		return s.removeVolume(change.RemoveVolume.GetVolume())
	case *sluicev1.ChangeMetadataRequest_ReleaseLease:
		return s.releaseLease(change.ReleaseLease)
	case *sluicev1.ChangeMetadataRequest_CreateDirectory:
		return s.createDirectory(change.CreateDirectory)
	case *sluicev1.ChangeMetadataRequest_RemoveDirectory:
		return s.removeDirectory(change.RemoveDirectory)
	case *sluicev1.ChangeMetadataRequest_SetLength:
		return s.setLength(change.SetLength)
	case *sluicev1.ChangeMetadataRequest_SealFile:
		return s.sealFile(change.SealFile)
	case *sluicev1.ChangeMetadataRequest_LinkFile:
		return s.linkFile(change.LinkFile)
	case *sluicev1.ChangeMetadataRequest_MarkMissing:
		return s.markMissing(change.MarkMissing)
	case *sluicev1.ChangeMetadataRequest_ClearMissing:
		return s.clearMissing(change.ClearMissing)
	case *sluicev1.ChangeMetadataRequest_ReplaceServer:
		return s.replaceServer(change.ReplaceServer)
	case *sluicev1.ChangeMetadataRequest_ConfirmRemoval:
		return s.confirmRemoval(change.ConfirmRemoval)
	}
	return unknown("change")
}
