package state

import (
	"cmp"

	"github.com/tidwall/btree"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/pool/metadata/entry"
)

const (
	// AnswersPerClient is how many answers are kept of each client. One that runs no further ahead of its oldest
	// unanswered change gets the first answer to every repetition.
	AnswersPerClient = 256
	// maxClients is of how many clients answers are kept; then that which was idle for longest is forgotten.
	maxClients = 4096

	clientIDBytes = 16
)

// clientID tells clients apart.
type clientID [clientIDBytes]byte

type request struct {
	client clientID
	serial uint64
}

// answers are those to the last changes of each client.
type answers struct {
	clients *btree.BTreeG[client]
	// idle has the clients in the order of their last change.
	idle *btree.BTreeG[client]
	kept *btree.BTreeG[answer]
	uses uint64
}

type client struct {
	id clientID
	// lastSerial is the greatest that was answered.
	lastSerial uint64
	// lastUse tells which one was idle for longest.
	lastUse uint64
}

type answer struct {
	request
	outcome Outcome
}

func newAnswers() answers {
	return answers{
		clients: tree(func(a, b client) int { return cmp.Compare(string(a.id[:]), string(b.id[:])) }),
		idle:    tree(func(a, b client) int { return cmp.Compare(a.lastUse, b.lastUse) }),
		kept: tree(func(a, b answer) int {
			return cmp.Or(cmp.Compare(string(a.client[:]), string(b.client[:])), cmp.Compare(a.serial, b.serial))
		}),
	}
}

func (a answers) copy() answers {
	return answers{clients: a.clients.Copy(), idle: a.idle.Copy(), kept: a.kept.Copy(), uses: a.uses}
}

func requestOf(message *sluicev1.MetadataRequestId) (request, *entry.Refusal) {
	if len(message.GetClient()) != clientIDBytes || message.GetSerial() == 0 {
		return request{}, invalidf("the request id must have %d bytes for the client, and a number from 1", clientIDBytes)
	}
	return request{clientID(message.GetClient()), message.GetSerial()}, nil
}

// find gives the first answer to a request that was made before. One that is so old that its answer is no longer kept
// is refused: it may have been done.
func (a *answers) find(id request) (Outcome, bool) {
	if kept, isKept := a.kept.Get(answer{request: id}); isKept {
		return kept.outcome, true
	}
	from, isKnown := a.clients.Get(client{id: id.client})
	if !isKnown || !isOld(id.serial, from.lastSerial) {
		return Outcome{}, false
	}
	return Outcome{Refusal: entry.Refusef(entry.OldRequest,
		"the request %d is older than the last %d of its client, up to %d: its answer is no longer kept", id.serial, AnswersPerClient, from.lastSerial).
		WithHint("Look whether it was done, and ask anew.")}, true
}

func isOld(serial, last uint64) bool {
	return last >= AnswersPerClient && serial <= last-AnswersPerClient
}

func (a *answers) keep(id request, outcome Outcome) {
	from, isKnown := a.clients.Get(client{id: id.client})
	if isKnown {
		a.idle.Delete(from)
	} else if a.clients.Len() == maxClients {
		a.forgetIdlest()
	}
	a.uses++
	from = client{id: id.client, lastSerial: max(from.lastSerial, id.serial), lastUse: a.uses}
	a.clients.Set(from)
	a.idle.Set(from)
	a.kept.Set(answer{id, outcome})
	a.forget(id.client, func(serial uint64) bool { return isOld(serial, from.lastSerial) })
}

func (a *answers) forgetIdlest() {
	idlest, _ := a.idle.PopMin()
	a.clients.Delete(idlest)
	a.forget(idlest.id, func(uint64) bool { return true })
}

// forget drops the answers to the first requests of a client, for as long as they are to go.
func (a *answers) forget(id clientID, isToGo func(serial uint64) bool) {
	for {
		first, isThere := a.first(id)
		if !isThere || !isToGo(first.serial) {
			return
		}
		a.kept.Delete(first)
	}
}

func (a *answers) first(id clientID) (first answer, isThere bool) {
	a.kept.Ascend(answer{request: request{client: id}}, func(item answer) bool {
		first, isThere = item, item.client == id
		return false
	})
	return first, isThere
}
