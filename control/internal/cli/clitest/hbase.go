package clitest

import (
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// hbase is a region server: kinds of tasks of which each has settings of its own, and scopes that are
// tables and families.
func hbase() *sluicev1.Description {
	return &sluicev1.Description{
		Ref:          regionServer(),
		StoreVersion: "2.6.4-hadoop3", PluginVersion: "0.1.0", MaxTimeToLive: seconds(600),
		Capabilities: []*sluicev1.Capability{
			{
				Kind: sluicev1.Kind_KIND_COMPACTION, CanStart: true, Variants: []string{"minor", "major"}, CanAbort: true,
				SettingNames: []string{
					"rate_bytes_per_second", "hold", "full", "stock", "defer_until_debt_bytes", "concurrency",
				},
			},
			{
				Kind: sluicev1.Kind_KIND_FLUSH, CanStart: true,
				SettingNames: []string{"rate_bytes_per_second", "hold", "full", "stock"},
			},
			{Kind: sluicev1.Kind_KIND_CACHE, SettingNames: []string{"reserved_bytes"}},
		},
	}
}

func regionServer() *sluicev1.StoreRef {
	return &sluicev1.StoreRef{Store: "hbase", Instance: "regionserver"}
}

func hbaseSnapshot() *sluicev1.Snapshot {
	return &sluicev1.Snapshot{
		Ref: regionServer(), Age: seconds(0.3),
		Tasks: []*sluicev1.Task{
			{
				Id: "compaction-17", Kind: sluicev1.Kind_KIND_COMPACTION, Scope: "orders/cf", Phase: "major",
				State: sluicev1.State_STATE_RUNNING, BytesDone: 310_000_000, BytesTotal: 1_240_000_000,
				RateBytesPerSecond: 30e6, Throttled: seconds(4), Age: seconds(11),
			},
			{
				Id: "compaction-18", Kind: sluicev1.Kind_KIND_COMPACTION, Scope: "shop:items/d",
				State: sluicev1.State_STATE_DEFERRED, BytesTotal: 52_000_000, Throttled: seconds(32), Age: seconds(32),
			},
			{
				Id: "flush-4", Kind: sluicev1.Kind_KIND_FLUSH, Scope: "orders/cf", State: sluicev1.State_STATE_RUNNING,
				BytesDone: 21_000_000, RateBytesPerSecond: 75e6, Age: seconds(0.3),
			},
		},
		Debts: []*sluicev1.Debt{
			{
				Kind: sluicev1.Kind_KIND_COMPACTION, Scope: "orders/cf", Bytes: 1_240_000_000, TriggerBytes: 384_000_000,
				LimitBytes: 2_048_000_000, Files: 9,
			},
			{
				Kind: sluicev1.Kind_KIND_FLUSH, Scope: "orders", Bytes: 96_000_000, TriggerBytes: 128_000_000,
				LimitBytes: 512_000_000,
			},
		},
		Leases: []*sluicev1.Lease{
			{
				Kind: sluicev1.Kind_KIND_CACHE, Scope: "orders/cf", Owner: "operator/ann", TimeLeft: seconds(300),
				Setting: &sluicev1.Setting{Name: "reserved_bytes", Value: &sluicev1.Setting_Number{Number: 128e6}},
			},
			{
				Kind: sluicev1.Kind_KIND_COMPACTION, Owner: "policy/nightly", TimeLeft: seconds(4.5),
				Setting: &sluicev1.Setting{
					Name: "rate_bytes_per_second", Value: &sluicev1.Setting_Number{Number: 30e6},
				},
			},
		},
		Latencies: []*sluicev1.Latency{latency("read", 0.5, 400, 0.0081), latency("write", 0.5, 210, 0.0024)},
		Figures: map[string]float64{
			"cache_capacity_bytes": 400e6, "cache_orders_2fcf_hits_total": 120_000,
		},
	}
}
