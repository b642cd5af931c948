package stores

import (
	"strings"
	"testing"
	"time"

	"sluice.dev/control/internal/store"
)

func TestCheckOrder(t *testing.T) {
	description := store.Description{
		Store: "rocksdb", Instance: "a", MaxTimeToLive: time.Minute,
		Capabilities: []store.Capability{
			{Kind: store.Compaction, Settings: []store.SettingName{store.Hold, store.Full}, CanStart: true},
			{Kind: store.Flush, Settings: []store.SettingName{store.Priority}},
		},
	}
	order := func(kind store.Kind, setting store.SettingName, timeToLive time.Duration) store.Order {
		return store.Order{Kind: kind, Setting: store.Setting{Name: setting}, Owner: "policy/a", TimeToLive: timeToLive}
	}
	tests := map[string]struct {
		order  store.Order
		starts bool
		code   store.Code // empty for none
		says   string
	}{
		"lease":             {order: order(store.Compaction, store.Hold, time.Minute)},
		"start":             {order: order(store.Compaction, store.Full, time.Minute), starts: true},
		"start at its pace": {order: order(store.Compaction, "", time.Minute), starts: true},
		"start for longer":  {order: order(store.Compaction, "", time.Hour), starts: true},
		"kind": {
			order: order(store.Checkpoint, store.Hold, time.Minute),
			code:  store.CodeUnsupported, says: "rocksdb/a takes no orders for checkpoint (It takes them for: compaction, flush.)",
		},
		"setting": {
			order: order(store.Compaction, store.Tier, time.Minute),
			code:  store.CodeUnsupported, says: "does not let tier be set for compaction (It offers: hold, full.)",
		},
		"no start": {
			order: order(store.Flush, store.Priority, time.Minute), starts: true,
			code: store.CodeUnsupported, says: "starts no flush by order",
		},
		"time to live": {
			order: order(store.Compaction, store.Hold, time.Minute+1),
			code:  store.CodeInvalid, says: "gives leases for at most 1m0s, not for 1m0.000000001s",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := checkOrder(description, test.order, test.starts)
			if test.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || store.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want one of %s that says %q", err, test.code, test.says)
			}
		})
	}
}
