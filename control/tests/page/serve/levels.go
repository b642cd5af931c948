package main

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// showLevels has the cluster promise service levels, or none.
func (s *simulation) showLevels(shown bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hasLevels = shown
}

// levels are two: one that has got cache and wants a node, and one of which nothing has been measured.
func (s *simulation) levels() []*sluicev1.ServiceLevelState {
	if !s.hasLevels {
		return nil
	}
	actual, operations, hits := 0.0417, 812.0, 0.861
	at := func(ago time.Duration) *timestamppb.Timestamp { return timestamppb.New(s.now.Add(-ago)) }
	return []*sluicev1.ServiceLevelState{
		{
			ServiceLevel: &sluicev1.ServiceLevel{
				Name: "orders", Store: "hbase", Scope: "orders/cf", MostOperationsPerSecond: 1000,
				Target: &sluicev1.ServiceLevelTarget{Statistic: "mean", Seconds: 0.03},
			},
			State: "wants-node", Reason: "mean of reads is 41.7ms, target 30ms: there is no cache left to give <b>", WantedAction: "add-node",
			ActualSeconds: &actual, OperationsPerSecond: &operations, HitShare: &hits, ReservedBytes: 4e8, Nodes: 3,
			Actions: []*sluicev1.ServiceLevelAction{
				{TakenAt: at(2 * time.Hour), Action: "grow-cache", Reason: "long ago"},
				{TakenAt: at(40 * time.Minute), Action: "grow-cache", Reason: "mean of reads is 55ms, target 30ms"},
				{TakenAt: at(10 * time.Minute), Action: "add-node", Reason: "there is no cache left to give"},
			},
		},
		{
			ServiceLevel: &sluicev1.ServiceLevel{
				Name: "archive", Store: "hbase", Scope: "shop:archive", MostOperationsPerSecond: 50,
				Target: &sluicev1.ServiceLevelTarget{Statistic: "p99", Seconds: 0.25},
			},
			State: "unknown", Reason: "its servers have counted no lookups of it lately", Nodes: 3,
		},
	}
}
