package page

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

func FuzzQueries(f *testing.F) {
	for _, seed := range []string{
		"", "filter=db&show=problems&offset=20&limit=10", "node=a&store=b&instance=c&kind=KIND_CACHE&scope=d",
		"limit=501", "filter=%ff", "filter=a&filter=b", "after=x:1", "node=a&policy=b&limit=3", "a=%zz", "offset=1e9",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if query, err := parseClusterQuery(raw); err == nil {
			checkClusterQuery(t, query)
		}
		if query, err := parseDecisionQuery(raw); err == nil {
			checkTexts(t, query.node, query.policy)
			if query.limit < 1 || query.limit > maxListed {
				t.Errorf("limit %d", query.limit)
			}
		}
		if found, err := parseTarget(raw); err == nil {
			checkTarget(t, found)
		}
		if query, err := parseStreamQuery(raw); err == nil {
			checkClusterQuery(t, query.nodes)
			checkTexts(t, query.after)
			if query.target != nil {
				checkTarget(t, *query.target)
			}
		}
	})
}

func checkClusterQuery(t *testing.T, query clusterQuery) {
	checkTexts(t, query.filter)
	if query.limit < 1 || query.limit > maxNodes || query.offset < 0 || query.offset > maxOffset {
		t.Errorf("limit %d, offset %d", query.limit, query.offset)
	}
	if query.show != showAll && query.show != showProblems && query.show != showLeases {
		t.Errorf("show %q", query.show)
	}
}

func checkTarget(t *testing.T, found target) {
	checkTexts(t, found.node, found.store, found.instance, found.scope)
	if found.node == "" || found.store == "" || found.instance == "" || found.kind == sluicev1.Kind_KIND_UNSPECIFIED {
		t.Errorf("%+v has a part that is missing", found)
	}
}

func checkTexts(t *testing.T, texts ...string) {
	for _, text := range texts {
		// Lower case may take more bytes than upper case, at most three for two.
		if !utf8.ValidString(text) || len(text) > 2*maxScopeBytes || strings.ContainsAny(text, "\x00\n\r") {
			t.Errorf("%q was let through", text)
		}
	}
}

func FuzzEventID(f *testing.F) {
	c := newTestCluster(1)
	p := New(c, c.Now)
	f.Add(p.eventID(7))
	f.Add("x:1")
	f.Add(p.instance + ":18446744073709551616")
	f.Fuzz(func(t *testing.T, id string) {
		ordinal, known := p.parseEventID(id)
		if known && !strings.HasPrefix(id, p.instance+":") {
			t.Errorf("%q was taken for one of this process", id)
		}
		if again, ok := p.parseEventID(p.eventID(ordinal)); !ok || again != ordinal {
			t.Errorf("%d came back as %d, %v", ordinal, again, ok)
		}
		if _, err := parseStreamQuery("after=" + url.QueryEscape(p.eventID(ordinal))); err != nil {
			t.Errorf("the page may not ask for %q: %v", p.eventID(ordinal), err)
		}
	})
}
