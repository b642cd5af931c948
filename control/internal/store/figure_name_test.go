package store_test

import (
	"strings"
	"testing"

	"sluice.dev/control/internal/store"
)

// The second name is what plugins/local-java makes of it.
func TestFigureName(t *testing.T) {
	long := "shop:" + strings.Repeat("Ä", 40) + "/cf"
	for part, want := range map[string]string{
		"orders/hot":        "cache_orders_2fhot_hits_total",
		"shop:orders/hot_1": "cache_shop_3aorders_2fhot_5f1_hits_total",
		"é":                 "cache__c3_a9_hits_total",
	} {
		if got := store.FigureName("cache", part, "hits_total"); got != want {
			t.Errorf("the name of %s is %s, want %s", part, got, want)
		}
	}
	got := store.FigureName("cache", long, "hits_total")
	if len(got) != 128 || !strings.Contains(got, "__") || got == store.FigureName("cache", long+"2", "hits_total") {
		t.Errorf("the name of a long part is %s, of %d characters", got, len(got))
	}
}
