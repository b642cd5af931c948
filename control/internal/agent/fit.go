package agent

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"sluice.dev/control/internal/agent/stores"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/protocol"
)

// maxSnapshotBytes leaves room in a message for what goes with the snapshot of a node.
const maxSnapshotBytes = protocol.MaxMessageBytes / 8 * 7

// fit makes the snapshot of a node one that can be sent, which it could else not be at all: the largest snapshots of
// stores are left out, with the reason. Without its description a store counts as one that has not answered.
func fit(message *sluicev1.GetSnapshotResponse) *sluicev1.GetSnapshotResponse {
	excess := proto.Size(message) - maxSnapshotBytes
	if excess <= 0 {
		return message
	}
	leftOut := make(map[stores.Ref]bool)
	for _, place := range largestFirst(message.GetSnapshots()) {
		if excess <= 0 {
			break
		}
		whole := message.Snapshots[place]
		message.Snapshots[place] = withoutContent(whole)
		excess -= proto.Size(whole) - proto.Size(message.Snapshots[place])
		leftOut[storeOf(whole.GetRef())] = true
	}
	message.Descriptions = slices.DeleteFunc(message.GetDescriptions(), func(description *sluicev1.Description) bool {
		return leftOut[storeOf(description.GetRef())]
	})
	return message
}

// largestFirst gives the places of snapshots in the order of their size.
func largestFirst(snapshots []*sluicev1.Snapshot) []int {
	sizes, places := make([]int, len(snapshots)), make([]int, len(snapshots))
	for i, snapshot := range snapshots {
		sizes[i], places[i] = proto.Size(snapshot), i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	return places
}

func storeOf(ref *sluicev1.StoreRef) stores.Ref {
	return stores.Ref{Store: ref.GetStore(), Instance: ref.GetInstance()}
}

func withoutContent(snapshot *sluicev1.Snapshot) *sluicev1.Snapshot {
	return &sluicev1.Snapshot{
		Ref: snapshot.GetRef(), Age: snapshot.GetAge(),
		Problem: fmt.Sprintf("its snapshot of %.1f MB is left out, since those of all stores of the node are more than %.1f MB",
			float64(proto.Size(snapshot))/1e6, maxSnapshotBytes/1e6),
	}
}
