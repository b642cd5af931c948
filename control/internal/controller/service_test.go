package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/protocol"
	"sluice.dev/control/internal/servicelevel"
)

// manyNodes are in the configuration in another order than that of their names.
func manyNodes(count int) func(*Config) {
	return func(c *Config) {
		c.Agents = nil
		for i := range count {
			name := fmt.Sprintf("n%05d", (i+count/2)%count)
			c.Agents = append(c.Agents, Agent{name, name + ":7411"})
		}
	}
}

// pagesOf asks until there is nothing more.
func pagesOf(t *testing.T, w *world, size uint32) [][]string {
	t.Helper()
	answers := &service{controller: w.Controller}
	var pages [][]string
	request := &sluicev1.GetClusterRequest{PageSize: size}
	for len(pages) == 0 || request.GetPageToken() != "" {
		answer, err := answers.GetCluster(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if bytes := proto.Size(answer); bytes > protocol.MaxMessageBytes {
			t.Errorf("an answer has %d bytes", bytes)
		}
		names := make([]string, len(answer.GetNodes()))
		for i, node := range answer.GetNodes() {
			names[i] = node.GetNode()
		}
		pages = append(pages, names)
		request.PageToken = answer.GetNextPageToken()
	}
	return pages
}

func TestClusterInPages(t *testing.T) {
	w := newWorld(t, manyNodes(10))
	for size, want := range map[uint32]string{
		0: "10", 1: "1 1 1 1 1 1 1 1 1 1", 3: "3 3 3 1", 5: "5 5", 10: "10", 1 << 31: "10",
	} {
		pages := pagesOf(t, w, size)
		var counts []string
		for _, page := range pages {
			counts = append(counts, fmt.Sprint(len(page)))
		}
		if got := strings.Join(counts, " "); got != want {
			t.Errorf("pages of %d have %s nodes, want %s", size, got, want)
		}
		all := slices.Concat(pages...)
		if len(all) != 10 || !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != 10 {
			t.Errorf("pages of %d have the nodes %v", size, all)
		}
	}
}

// A reload decides nothing: what was decided last is shown until the next period.
func TestAReloadLeavesWhatIsShown(t *testing.T) {
	w, s := newLevelsWorld(t)
	w.step()
	apply(t, s, ordersLevel())
	for range 7 {
		w.stepUnderLoad()
	}
	w.reload(loaded{config: w.config})
	if missed := w.countLevels(servicelevel.Missed); missed != 1 {
		t.Errorf("%d service levels are missed, want 1", missed)
	}
	listed, err := s.ListPolicies(t.Context(), &sluicev1.ListPoliciesRequest{})
	if err != nil || len(listed.GetPolicies()[0].GetLastDecisions()) != 2 {
		t.Errorf("the policies are %v, %v", listed, err)
	}
	without := w.config
	without.Policies = nil
	w.reload(loaded{config: without})
	if missed := w.countLevels(servicelevel.Missed); missed != 0 {
		t.Errorf("without its policy %d service levels are missed", missed)
	}
}

func TestNodesThatComeAndGoBetweenPages(t *testing.T) {
	w := newWorld(t, manyNodes(10))
	answers := &service{controller: w.Controller}
	first, err := answers.GetCluster(t.Context(), &sluicev1.GetClusterRequest{PageSize: 4})
	if err != nil {
		t.Fatal(err)
	}
	next := w.config
	next.Agents = slices.DeleteFunc(slices.Clone(next.Agents), func(a Agent) bool { return a.Node == "n00003" })
	w.reload(loaded{config: next})
	second, err := answers.GetCluster(t.Context(), &sluicev1.GetClusterRequest{PageToken: first.GetNextPageToken()})
	if err != nil || len(second.GetNodes()) != 6 || second.GetNodes()[0].GetNode() != "n00004" {
		t.Errorf("the second page is %v, %v", second, err)
	}
	last, err := answers.GetCluster(t.Context(), &sluicev1.GetClusterRequest{PageToken: "zzz"})
	if err != nil || len(last.GetNodes()) != 0 || last.GetNextPageToken() != "" {
		t.Errorf("the page after the last node is %v, %v", last, err)
	}
}

// A cluster is as large as it is; a message is not.
func TestPagesFitIntoMessages(t *testing.T) {
	w := newWorld(t, manyNodes(40))
	for _, node := range w.nodes {
		node.state.Store(&nodeState{problem: strings.Repeat("x", 1<<18)})
	}
	if pages := pagesOf(t, w, 0); len(pages) != 4 {
		t.Errorf("40 nodes of 256 kB each make %d pages, want 4", len(pages))
	}
	w.nodes[0].state.Store(&nodeState{problem: strings.Repeat("x", maxListBytes)})
	if all := slices.Concat(pagesOf(t, w, 0)...); len(all) != 40 {
		t.Errorf("with a node that makes a page by itself there are %d nodes, want 40", len(all))
	}
}
