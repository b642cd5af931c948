package listing

import (
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
)

// column is one field of the table of a resource.
type column[R any] struct {
	name string
	wide bool
	cell func(R) Cell
}

func tableOf[R any](rows []R, columns []column[R], wide bool) Table {
	var table Table
	var shown []column[R]
	for _, candidate := range columns {
		if wide || !candidate.wide {
			shown = append(shown, candidate)
			table.Header = append(table.Header, candidate.name)
		}
	}
	for _, row := range rows {
		cells := make([]Cell, len(shown))
		for i, column := range shown {
			cells[i] = column.cell(row)
		}
		table.Rows = append(table.Rows, cells)
	}
	return table
}

// text makes a column of plain cells.
func text[R any](name string, of func(R) string) column[R] {
	return column[R]{name: name, cell: func(row R) Cell { return Cell{Text: of(row)} }}
}

// onlyWide makes a column of plain cells that the wide form alone has.
func onlyWide[R any](name string, of func(R) string) column[R] {
	wide := text(name, of)
	wide.wide = true
	return wide
}

// NodeTable shows nodes.
func NodeTable(nodes []*sluicev1.NodeState, wide bool) Table {
	return tableOf(nodes, nodeColumns, wide)
}

// InstanceTable shows stores.
func InstanceTable(instances []Located[Instance], wide bool) Table {
	return tableOf(instances, instanceColumns, wide)
}

// TaskTable shows tasks.
func TaskTable(tasks []Located[*sluicev1.Task], wide bool) Table {
	return tableOf(tasks, taskColumns, wide)
}

// LeaseTable shows leases.
func LeaseTable(leases []Located[*sluicev1.Lease], wide bool) Table {
	return tableOf(leases, leaseColumns, wide)
}

// DebtTable shows debts.
func DebtTable(debts []Located[*sluicev1.Debt], wide bool) Table {
	return tableOf(debts, debtColumns, wide)
}

// LatencyTable shows latencies.
func LatencyTable(latencies []Located[*sluicev1.Latency], wide bool) Table {
	return tableOf(latencies, latencyColumns, wide)
}

// DecisionTable shows decisions; now is what their age counts from.
func DecisionTable(decisions []*sluicev1.Decision, wide bool, now time.Time) Table {
	return tableOf(decisions, decisionColumns(now), wide)
}

// PolicyTable shows policies.
func PolicyTable(policies []*sluicev1.Policy, wide bool) Table {
	return tableOf(policies, policyColumns, wide)
}
