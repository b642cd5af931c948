package top

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sluice.dev/control/internal/cli/listing"
	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/quantity"
)

// panel is one of the tables of the view.
type panel struct {
	header []string
	rows   []row
	// orders are the names of what its rows can be sorted by: the first one by their first cell, the others
	// by one of their ranks each, the largest first.
	orders []string
	// spare are the columns that a narrow terminal goes without, the first of them first.
	spare []string
	// isOptional says that it is not there where it has no rows.
	isOptional bool
}

// isHidden says whether a panel with such rows is not there.
func (p panel) isHidden() bool { return p.isOptional && len(p.rows) == 0 }

type row struct {
	cells []listing.Cell
	ranks []float64
}

// panelCount is how many panels there are.
const panelCount = 5

// startPanel has the keys first: that of the tasks.
const startPanel = 1

// panelsOf makes the panels of a state that is so old, with bars of a width; 0 for none.
func panelsOf(known state, age time.Duration, bars int) [panelCount]panel {
	cluster := known.cluster
	return [panelCount]panel{
		nodePanel(cluster, age, bars), taskPanel(cluster, age, bars), storePanel(cluster, bars), leasePanel(cluster, age),
		levelPanel(known.levels),
	}
}

var nodeHeader = []string{"NODE", "STATE", "CPU", "IO-PRESSURE", "BUSIEST-DEVICE", "READ", "WRITE", "AGE"}

func nodePanel(cluster *sluicev1.GetClusterResponse, age time.Duration, bars int) panel {
	panel := panel{
		header: nodeHeader, orders: []string{"name", "cpu", "busiest device"},
		spare: []string{"READ", "AGE", "IO-PRESSURE", "WRITE", "BUSIEST-DEVICE"},
	}
	for _, node := range listing.Nodes(cluster, listing.Filter{}) {
		panel.rows = append(panel.rows, nodeRow(node, age, bars))
	}
	return panel
}

func nodeRow(node *sluicev1.NodeState, age time.Duration, bars int) row {
	signals := node.GetSnapshot().GetSignals()
	if signals == nil {
		cells := make([]listing.Cell, len(nodeHeader))
		cells[0], cells[1] = plain(node.GetNode()), listing.NodeStateCell(node)
		return row{cells: cells, ranks: []float64{-1, -1}}
	}
	cells := []listing.Cell{
		plain(node.GetNode()), listing.NodeStateCell(node), bar(signals.GetCpuUsed(), bars), optionalShare(signals.IoPressure),
	}
	device := busiest(signals.GetDevices())
	cells = append(cells, deviceCells(device)...)
	cells = append(cells, plain(quantity.FormatDuration(node.GetAge().AsDuration()+age)))
	return row{cells: cells, ranks: []float64{signals.GetCpuUsed(), device.GetUtilisation()}}
}

func deviceCells(device *sluicev1.DeviceSignals) []listing.Cell {
	if device == nil {
		return make([]listing.Cell, 3)
	}
	return []listing.Cell{
		plain(device.GetName() + " " + quantity.FormatShare(device.GetUtilisation())),
		plain(quantity.FormatRate(device.GetReadBytesPerSecond())),
		plain(quantity.FormatRate(device.GetWriteBytesPerSecond())),
	}
}

// busiest is the device with the highest utilisation; nil if there is none.
func busiest(devices []*sluicev1.DeviceSignals) *sluicev1.DeviceSignals {
	if len(devices) == 0 {
		return nil
	}
	return slices.MaxFunc(devices, func(a, b *sluicev1.DeviceSignals) int {
		return cmp.Compare(a.GetUtilisation(), b.GetUtilisation())
	})
}

func optionalShare(share *float64) listing.Cell {
	if share == nil {
		return listing.Cell{}
	}
	return listing.Cell{Text: quantity.FormatShare(*share), Tone: listing.ShareTone(*share)}
}

func taskPanel(cluster *sluicev1.GetClusterResponse, age time.Duration, bars int) panel {
	panel := panel{
		header: []string{"TASK", "KIND", "SCOPE", "STATE", "PHASE", "PROGRESS", "RATE", "THROTTLED", "AGE"},
		orders: []string{"target", "rate", "progress", "age"},
		spare:  []string{"THROTTLED", "PHASE", "AGE", "SCOPE", "KIND"},
	}
	for _, task := range listing.Tasks(cluster, listing.Filter{}) {
		panel.rows = append(panel.rows, taskRow(task, age, bars))
	}
	return panel
}

func taskRow(located listing.Located[*sluicev1.Task], age time.Duration, bars int) row {
	task := located.Part
	taskAge := task.GetAge().AsDuration() + located.Age + age
	progress, share := listing.Cell{Text: quantity.FormatBytes(float64(task.GetBytesDone()))}, -1.0
	if task.GetBytesTotal() > 0 {
		share = float64(task.GetBytesDone()) / float64(task.GetBytesTotal())
		progress = bar(share, bars)
		progress.Tone = listing.Plain
	}
	return row{
		cells: []listing.Cell{
			plain(located.Target()), plain(listing.Word(task.GetKind())), plain(task.GetScope()),
			listing.StateCell(task.GetState()), plain(task.GetPhase()), progress,
			plain(quantity.FormatRate(task.GetRateBytesPerSecond())),
			plain(quantity.FormatDuration(task.GetThrottled().AsDuration())), plain(quantity.FormatDuration(taskAge)),
		},
		ranks: []float64{task.GetRateBytesPerSecond(), share, taskAge.Seconds()},
	}
}

func storePanel(cluster *sluicev1.GetClusterResponse, bars int) panel {
	panel := panel{
		header: []string{"STORE", "DEBT-OF", "DEBT", "LIMIT", "OF-LIMIT", "P99", "PROBLEM"},
		orders: []string{"target", "debt", "p99"},
		spare:  []string{"LIMIT", "DEBT", "DEBT-OF", "P99", "PROBLEM"},
	}
	for _, instance := range listing.Instances(cluster, listing.Filter{}) {
		panel.rows = append(panel.rows, storeRows(instance, bars)...)
		if len(instance.Part.Snapshot.GetDebts()) > 1 {
			// Without what each is of, the debts of a store are only figures.
			panel.spare = []string{"LIMIT", "DEBT", "P99", "DEBT-OF", "PROBLEM"}
		}
	}
	return panel
}

// storeRows are one for each debt of an instance, and one if it has none.
func storeRows(instance listing.Located[listing.Instance], bars int) []row {
	latencyCell, worst := latencies(instance.Part.Snapshot)
	problem := listing.Cell{Text: instance.Part.Snapshot.GetProblem(), Tone: listing.Bad}
	debts := instance.Part.Snapshot.GetDebts()
	if len(debts) == 0 {
		cells := []listing.Cell{plain(instance.Target()), {}, {}, {}, {}, latencyCell, problem}
		return []row{{cells: cells, ranks: []float64{-1, worst}}}
	}
	var rows []row
	for _, debt := range debts {
		limit, ofLimit := listing.Cell{}, listing.Cell{}
		if debt.GetLimitBytes() > 0 {
			limit = plain(quantity.FormatBytes(float64(debt.GetLimitBytes())))
			ofLimit = bar(float64(debt.GetBytes())/float64(debt.GetLimitBytes()), bars)
		}
		kind := strings.TrimSpace(listing.Word(debt.GetKind()) + " " + debt.GetScope())
		rows = append(rows, row{
			cells: []listing.Cell{
				plain(instance.Target()), plain(kind), plain(quantity.FormatBytes(float64(debt.GetBytes()))), limit, ofLimit,
				latencyCell, problem,
			},
			ranks: []float64{float64(debt.GetBytes()), worst},
		})
	}
	return rows
}

// latencies shows the p99 of the last interval of each class, and gives the worst of them in seconds.
func latencies(snapshot *sluicev1.Snapshot) (listing.Cell, float64) {
	last := map[string]*sluicev1.Latency{}
	for _, latency := range snapshot.GetLatencies() {
		last[latency.GetRequestClass()] = latency
	}
	var texts []string
	worst := -1.0
	for class, latency := range last {
		if latency.GetCount() > 0 {
			texts = append(texts, class+" "+quantity.FormatDuration(latency.GetP99().AsDuration()))
			worst = max(worst, latency.GetP99().AsDuration().Seconds())
		}
	}
	slices.Sort(texts)
	return plain(strings.Join(texts, ", ")), worst
}

func leasePanel(cluster *sluicev1.GetClusterResponse, age time.Duration) panel {
	panel := panel{
		header: []string{"LEASE", "KIND", "SCOPE", "SETTING", "OWNER", "ENDS-IN"},
		orders: []string{"target", "time left"},
		spare:  []string{"SCOPE", "KIND", "OWNER"},
	}
	for _, lease := range listing.Leases(cluster, listing.Filter{}) {
		lease.Age += age
		panel.rows = append(panel.rows, leaseRow(lease))
	}
	return panel
}

// A lease that runs out so soon has missed a renewal, whatever its owner's period.
const soon = 2 * time.Second

func leaseRow(lease listing.Located[*sluicev1.Lease]) row {
	left := listing.Cell{Text: quantity.FormatDuration(listing.TimeLeft(lease))}
	if listing.TimeLeft(lease) < soon {
		left.Tone = listing.Warning
	}
	return row{
		cells: []listing.Cell{
			plain(lease.Target()), plain(listing.Word(lease.Part.GetKind())), plain(lease.Part.GetScope()),
			plain(listing.SettingText(lease.Part.GetSetting())), plain(lease.Part.GetOwner()), left,
		},
		ranks: []float64{listing.TimeLeft(lease).Seconds()},
	}
}

func plain(text string) listing.Cell {
	return listing.Cell{Text: text}
}

const barWidth = 12

// bar draws a share of what there is room for: "[######------]  50%"; without the bar if its width is 0.
func bar(share float64, width int) listing.Cell {
	text := quantity.FormatShare(share)
	if width > 0 {
		full := int(min(max(share, 0), 1)*float64(width) + 0.5)
		text = "[" + strings.Repeat("#", full) + strings.Repeat("-", width-full) + "] " + text
	}
	return listing.Cell{Text: text, Tone: listing.ShareTone(share)}
}

// arranged gives the rows that hold the filter's text, in one of the panel's orders.
func (p panel) arranged(order int, filter string) []row {
	rows := slices.DeleteFunc(slices.Clone(p.rows), func(r row) bool { return !r.holds(filter) })
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.cells[0].Text, b.cells[0].Text) })
	if order > 0 {
		slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.ranks[order-1], a.ranks[order-1]) })
	}
	return rows
}

func (r row) holds(filter string) bool {
	return slices.ContainsFunc(r.cells, func(cell listing.Cell) bool {
		return strings.Contains(strings.ToLower(cell.Text), strings.ToLower(filter))
	})
}
