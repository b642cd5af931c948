package agent_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/store"
)

func TestTaskIsStarted(t *testing.T) {
	n := newNode(t)
	n.startStore("a")
	n.start()
	client := n.controller(1)
	request := hold("a", "operator/b", time.Minute)
	start := &sluicev1.StartTaskRequest{
		Ref: request.GetRef(), Kind: request.GetKind(), Scope: "orders", Setting: request.GetSetting(),
		Owner: request.GetOwner(), TimeToLive: request.GetTimeToLive(),
	}
	if _, err := client.StartTask(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the task and its lease", func() bool {
		now := snapshotOf(t, client, "a")
		return len(now.GetLeases()) == 1 && len(now.GetTasks()) == 1 &&
			now.GetTasks()[0].GetState() == sluicev1.State_STATE_HELD
	})
}

// The longest time to live of a store is one of leases, and such a start gives none.
func TestTaskIsStartedForLongerThanALeaseMayLast(t *testing.T) {
	n := newNode(t)
	n.startStore("a")
	n.start()
	client := n.controller(1)
	start := &sluicev1.StartTaskRequest{
		Ref: &sluicev1.StoreRef{Store: "reference", Instance: "a"}, Kind: sluicev1.Kind_KIND_COMPACTION, Scope: "orders",
		Owner: "operator/b", TimeToLive: durationpb.New(24 * time.Hour),
	}
	if _, err := client.StartTask(t.Context(), start); err != nil {
		t.Fatal(err)
	}
}

func TestTaskIsStartedWithAVariantAndAborted(t *testing.T) {
	n := newNode(t)
	n.startStore("a")
	n.start()
	client := n.controller(1)
	request := hold("a", "operator/b", time.Minute)
	start := &sluicev1.StartTaskRequest{
		Ref: request.GetRef(), Kind: request.GetKind(), Scope: "orders", Setting: request.GetSetting(),
		Owner: request.GetOwner(), TimeToLive: request.GetTimeToLive(), Variant: "huge",
	}
	_, err := client.StartTask(t.Context(), start)
	if store.CodeOf(err) != store.CodeUnsupported || !strings.Contains(err.Error(), "It offers: minor, major") {
		t.Errorf("error %v, want one that says what is offered", err)
	}
	start.Variant = "major"
	if _, err := client.StartTask(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	var id string
	eventually(t, "the task", func() bool {
		for _, task := range snapshotOf(t, client, "a").GetTasks() {
			id = task.GetId()
			return task.GetPhase() == "major" && task.GetState() == sluicev1.State_STATE_HELD
		}
		return false
	})
	abort := &sluicev1.AbortTaskRequest{
		Ref: request.GetRef(), Kind: sluicev1.Kind_KIND_FLUSH, TaskId: id, Owner: "operator/b",
	}
	if _, err := client.AbortTask(t.Context(), abort); store.CodeOf(err) != store.CodeUnsupported {
		t.Errorf("error %v, want unsupported for a kind that is not offered", err)
	}
	abort.Kind = request.GetKind()
	if _, err := client.AbortTask(t.Context(), abort); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the task to have failed", func() bool {
		for _, task := range snapshotOf(t, client, "a").GetTasks() {
			if task.GetId() == id {
				return task.GetState() == sluicev1.State_STATE_FAILED
			}
		}
		return false
	})
	if _, err := client.AbortTask(t.Context(), abort); store.CodeOf(err) != store.CodeNotFound {
		t.Errorf("error %v, want not-found for a task that has ended", err)
	}
	last := n.log.records(t, "order")
	record := last[len(last)-1]
	if record["method"] != "AbortTask" || record["task"] != id || record["owner"] != "operator/b" {
		t.Errorf("record of the order: %v", record)
	}
}
