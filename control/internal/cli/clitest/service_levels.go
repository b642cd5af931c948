package clitest

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// ServiceLevels are two, of which nothing has been measured of the second.
func ServiceLevels() []*sluicev1.ServiceLevelState {
	actual, operations, hits := 0.0417, 812.0, 0.861
	orders := &sluicev1.ServiceLevelState{
		ServiceLevel: &sluicev1.ServiceLevel{
			Name: "orders", Store: "hbase", Scope: "orders/cf", MostOperationsPerSecond: 1000, Weight: 1, Version: "7",
			Profile: &sluicev1.ServiceLevelProfile{DataBytes: 1e10, Locality: "zipfian", RowBytes: 1000, ReadShare: 1},
			Target:  &sluicev1.ServiceLevelTarget{Statistic: "mean", Seconds: 0.03},
		},
		State: "wants-node", Reason: "mean of reads is 41.7ms, target 30ms: there is no cache left to give",
		ActualSeconds: &actual, OperationsPerSecond: &operations, HitShare: &hits, IsEstimated: true,
		ReservedBytes: 4e8, Nodes: 3, WantedAction: "add-node",
		Actions: []*sluicev1.ServiceLevelAction{
			{TakenAt: timestamppb.New(Now().Add(-2 * time.Minute)), Action: "grow-cache", Reason: "mean of reads is 55ms, target 30ms"},
			{TakenAt: timestamppb.New(Now().Add(-time.Minute)), Action: "add-node", Reason: "there is no cache left to give"},
		},
	}
	archive := &sluicev1.ServiceLevelState{
		ServiceLevel: &sluicev1.ServiceLevel{
			Name: "archive", Store: "hbase", Scope: "shop:archive", MostOperationsPerSecond: 50, Weight: 0.5, Version: "2",
			Profile: &sluicev1.ServiceLevelProfile{DataBytes: 5e11, Locality: "random", RowBytes: 4000, ReadShare: 0.5},
			Target:  &sluicev1.ServiceLevelTarget{Statistic: "p99", Seconds: 0.25, MeasuredAt: "client"},
		},
		State: "unknown", Reason: "no client has reported reads of it lately", Nodes: 3,
	}
	return []*sluicev1.ServiceLevelState{orders, archive}
}
