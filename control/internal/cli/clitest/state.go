// Package clitest has a cluster of fixed data, and servers that answer with it, for tests of commands.
package clitest

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// Now is the moment that the data is looked at.
func Now() time.Time {
	return time.Date(2026, time.November, 21, 12, 0, 5, 0, time.UTC)
}

func seconds(number float64) *durationpb.Duration {
	return durationpb.New(time.Duration(number * float64(time.Second)))
}

func share(number float64) *float64 { return &number }

// State is a cluster of three nodes: one that answers, one that no longer does, one that never did.
func State() *sluicev1.GetClusterResponse {
	return &sluicev1.GetClusterResponse{
		Cluster: "demo", Version: "1.2.3", IsActive: true, ActiveController: "c1",
		Nodes: []*sluicev1.NodeState{
			{Node: "db3", Address: "db3.example:7411", Age: seconds(0), Problem: "connection refused"},
			{Node: "db1", Address: "db1.example:7411", Age: seconds(0.4), Snapshot: firstNode()},
			{
				Node: "db2", Address: "db2.example:7411", Age: seconds(12), Snapshot: secondNode(),
				Problem: "no answer within 500ms",
			},
		},
	}
}

func firstNode() *sluicev1.GetSnapshotResponse {
	return &sluicev1.GetSnapshotResponse{
		Node: "db1", Version: "1.2.3",
		Signals: &sluicev1.NodeSignals{
			CpuUsed: 0.42, CpuPressure: share(0.03), IoPressure: share(0.75), MemoryPressure: share(0),
			Devices: []*sluicev1.DeviceSignals{
				{Name: "sda", InFlight: 0.1, ReadBytesPerSecond: 12_000, WriteBytesPerSecond: 0, Utilisation: 0.02},
				{Name: "nvme0n1", InFlight: 3.5, ReadBytesPerSecond: 1.5e6, WriteBytesPerSecond: 42e6, Utilisation: 0.91},
			},
		},
		Descriptions: []*sluicev1.Description{postgres(), rocksdb(), hbase()},
		Snapshots:    []*sluicev1.Snapshot{rocksdbSnapshot(), postgresSnapshot(), hbaseSnapshot()},
		ClientLatencies: []*sluicev1.ClientLatencies{{
			Store: "hbase", Clients: 2, Age: seconds(0.1),
			Latencies: []*sluicev1.Latency{{
				RequestClass: "read", Age: seconds(1), Interval: seconds(2), Count: 800, Mean: seconds(0.012), P50: seconds(0.008),
				P99: seconds(0.06), P999: seconds(0.09), Max: seconds(0.11),
			}},
		}},
	}
}

func postgres() *sluicev1.Description {
	return &sluicev1.Description{
		Ref:          &sluicev1.StoreRef{Store: "postgres", Instance: "main"},
		StoreVersion: "17.11", PluginVersion: "1.0", MaxTimeToLive: seconds(600),
		Capabilities: []*sluicev1.Capability{{
			Kind:     sluicev1.Kind_KIND_CHECKPOINT,
			CanStart: true,
			SettingNames: []string{
				"rate_bytes_per_second", "hold", "duration_seconds", "full", "stock", "sync_gap_seconds",
				"defer_until_debt_bytes",
			},
		}},
	}
}

func postgresSnapshot() *sluicev1.Snapshot {
	return &sluicev1.Snapshot{
		Ref: &sluicev1.StoreRef{Store: "postgres", Instance: "main"}, Age: seconds(0.1),
		Tasks: []*sluicev1.Task{{
			Id: "17", Kind: sluicev1.Kind_KIND_CHECKPOINT, State: sluicev1.State_STATE_RUNNING, Phase: "write",
			BytesDone: 75_000_000, BytesTotal: 100_000_000, RateBytesPerSecond: 6e6, Throttled: seconds(3.5),
			Age: seconds(14.5),
		}},
		Debts: []*sluicev1.Debt{{
			Kind: sluicev1.Kind_KIND_CHECKPOINT, Bytes: 150_000_000, TriggerBytes: 100_000_000,
			LimitBytes: 200_000_000, EstimatedRecovery: seconds(2.25),
		}},
		Leases: []*sluicev1.Lease{{
			Kind: sluicev1.Kind_KIND_CHECKPOINT, Owner: "policy/nightly", TimeLeft: seconds(4.2),
			Setting: &sluicev1.Setting{
				Name: "rate_bytes_per_second", Value: &sluicev1.Setting_Number{Number: 6e6},
			},
		}},
		Latencies: []*sluicev1.Latency{
			latency("write", 2.5, 80, 0.004), latency("read", 1.5, 1000, 0.0012), latency("write", 1.5, 90, 0.0055),
		},
		Figures: map[string]float64{"wal_bytes_total": 1.5e9},
	}
}

func latency(class string, age float64, count uint64, p99 float64) *sluicev1.Latency {
	return &sluicev1.Latency{
		RequestClass: class, Age: seconds(age), Interval: seconds(1), Count: count, Errors: 2, Mean: seconds(p99 / 4),
		P50: seconds(p99 / 5), P99: seconds(p99), P999: seconds(p99 * 2), Max: seconds(p99 * 3),
	}
}

func rocksdb() *sluicev1.Description {
	return &sluicev1.Description{
		Ref:          &sluicev1.StoreRef{Store: "rocksdb", Instance: "orders"},
		StoreVersion: "10.4.2", PluginVersion: "1.0", MaxTimeToLive: seconds(3600),
		Capabilities: []*sluicev1.Capability{
			{Kind: sluicev1.Kind_KIND_COMPACTION, SettingNames: []string{"rate_bytes_per_second", "hold", "concurrency"}},
			{Kind: sluicev1.Kind_KIND_LOG_PLACEMENT, SettingNames: []string{"tier"}},
		},
	}
}

func rocksdbSnapshot() *sluicev1.Snapshot {
	return &sluicev1.Snapshot{
		Ref: &sluicev1.StoreRef{Store: "rocksdb", Instance: "orders"}, Age: seconds(0.2),
		Tasks: []*sluicev1.Task{
			{
				Id: "c-4", Kind: sluicev1.Kind_KIND_COMPACTION, Scope: "default", State: sluicev1.State_STATE_HELD,
				BytesDone: 1_234_567, BytesTotal: 0, Age: seconds(90), Throttled: seconds(61),
			},
			{
				Id: "c-5", Kind: sluicev1.Kind_KIND_COMPACTION, Scope: "default", State: sluicev1.State_STATE_QUEUED,
				BytesTotal: 64_000_000,
			},
		},
		Debts: []*sluicev1.Debt{
			{Kind: sluicev1.Kind_KIND_COMPACTION, Scope: "default", Bytes: 95_000_000, LimitBytes: 100_000_000, Files: 7},
		},
		Leases: []*sluicev1.Lease{
			{
				Kind: sluicev1.Kind_KIND_COMPACTION, Scope: "default", Owner: "operator/ann",
				Setting: &sluicev1.Setting{Name: "hold"}, TimeLeft: seconds(125),
			},
			{
				Kind: sluicev1.Kind_KIND_LOG_PLACEMENT, Owner: "operator/ann", TimeLeft: seconds(1.8),
				Setting: &sluicev1.Setting{Name: "tier", Value: &sluicev1.Setting_Text{Text: "ssd"}},
			},
		},
	}
}

// secondNode has a store that no longer answers, and says so with a text that would order a terminal
// about.
func secondNode() *sluicev1.GetSnapshotResponse {
	return &sluicev1.GetSnapshotResponse{
		Node: "db2", Version: "1.2.2", Signals: &sluicev1.NodeSignals{CpuUsed: 0.95},
		Snapshots: []*sluicev1.Snapshot{{
			Ref: &sluicev1.StoreRef{Store: "postgres", Instance: "main"}, Age: seconds(30),
			Problem:   "socket is gone\x1b[31m",
			Latencies: []*sluicev1.Latency{{RequestClass: "read", Age: seconds(31), Interval: seconds(1)}},
		}},
	}
}

// Decisions are three of two policies, the newest last.
func Decisions() []*sluicev1.Decision {
	nightly := &sluicev1.Decision{
		Sequence: 41, MadeAt: timestamppb.New(Now().Add(-3 * time.Second)), Policy: "nightly", Node: "db1",
		Ref:  &sluicev1.StoreRef{Store: "postgres", Instance: "main"},
		Kind: sluicev1.Kind_KIND_CHECKPOINT, Verdict: sluicev1.Verdict_VERDICT_CHANGE,
		Setting: &sluicev1.Setting{
			Name: "rate_bytes_per_second", Value: &sluicev1.Setting_Number{Number: 6e6},
		},
		Reason:     "the p99 of 5.5 ms is above the target of 5 ms",
		Inputs:     map[string]float64{"p99_seconds": 0.0055, "debt_bytes": 150e6},
		WasWritten: true,
	}
	stopped := &sluicev1.Decision{
		Sequence: 42, MadeAt: timestamppb.New(Now().Add(-2 * time.Second)), Policy: "nightly", Node: "db2",
		Ref:  &sluicev1.StoreRef{Store: "postgres", Instance: "main"},
		Kind: sluicev1.Kind_KIND_CHECKPOINT, Verdict: sluicev1.Verdict_VERDICT_STOP,
		Reason: "the snapshot is 42 s old",
	}
	kept := &sluicev1.Decision{
		Sequence: 43, MadeAt: timestamppb.New(Now().Add(-time.Second)), Policy: "idle", Node: "db1",
		Ref:  &sluicev1.StoreRef{Store: "rocksdb", Instance: "orders"},
		Kind: sluicev1.Kind_KIND_COMPACTION, Scope: "default", Verdict: sluicev1.Verdict_VERDICT_KEEP,
		Setting: &sluicev1.Setting{Name: "hold"},
		Reason:  "requests take 80% of the device", Problem: "another owner has the lease",
	}
	return []*sluicev1.Decision{nightly, stopped, kept}
}

// Policies are two, one of them paused.
func Policies() []*sluicev1.Policy {
	decisions := Decisions()
	return []*sluicev1.Policy{
		{
			Name: "nightly", Type: "slo", ParametersJson: `{"target_seconds":0.005,"request_class":"write"}`,
			LastDecisions: decisions[:2],
		},
		{Name: "idle", Type: "opportunistic", IsPaused: true, ParametersJson: `{}`, LastDecisions: decisions[2:]},
	}
}
