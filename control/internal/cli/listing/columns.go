package listing

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"

	"sluice.dev/control/internal/quantity"
	"sluice.dev/control/internal/store"
)

type (
	nodeRow     = *sluicev1.NodeState
	instanceRow = Located[Instance]
	taskRow     = Located[*sluicev1.Task]
	leaseRow    = Located[*sluicev1.Lease]
	debtRow     = Located[*sluicev1.Debt]
	latencyRow  = Located[*sluicev1.Latency]
	decisionRow = *sluicev1.Decision
	policyRow   = *sluicev1.Policy
)

var nodeColumns = []column[nodeRow]{
	text("NODE", nodeRow.GetNode),
	{name: "STATE", cell: NodeStateCell},
	text("CPU", func(n nodeRow) string {
		if n.GetSnapshot().GetSignals() == nil {
			return ""
		}
		return quantity.FormatShare(n.GetSnapshot().GetSignals().GetCpuUsed())
	}),
	text("IO-PRESSURE", func(n nodeRow) string { return pressure(n.GetSnapshot().GetSignals(), signalIO) }),
	text("STORES", func(n nodeRow) string { return strconv.Itoa(len(instancesOf(n))) }),
	text("TASKS", func(n nodeRow) string { return strconv.Itoa(countTasks(n)) }),
	text("AGE", nodeAge),
	onlyWide("CPU-PRESSURE", func(n nodeRow) string { return pressure(n.GetSnapshot().GetSignals(), signalCPU) }),
	onlyWide("MEMORY-PRESSURE", func(n nodeRow) string {
		return pressure(n.GetSnapshot().GetSignals(), signalMemory)
	}),
	onlyWide("DEVICES", devices),
	onlyWide("ADDRESS", nodeRow.GetAddress),
	onlyWide("VERSION", func(n nodeRow) string { return n.GetSnapshot().GetVersion() }),
	{name: "PROBLEM", cell: func(n nodeRow) Cell { return Cell{Text: n.GetProblem(), Tone: Bad} }},
}

// NodeStateCell says whether a node answers: "ok", "stale" if it did, "unreachable" if it never did.
func NodeStateCell(node *sluicev1.NodeState) Cell {
	switch {
	case node.GetSnapshot() == nil:
		return Cell{"unreachable", Bad}
	case node.GetProblem() != "":
		return Cell{"stale", Warning}
	default:
		return Cell{"ok", Good}
	}
}

func nodeAge(node nodeRow) string {
	if node.GetSnapshot() == nil {
		return ""
	}
	return quantity.FormatDuration(node.GetAge().AsDuration())
}

func countTasks(node nodeRow) int {
	count := 0
	for _, snapshot := range node.GetSnapshot().GetSnapshots() {
		count += len(snapshot.GetTasks())
	}
	return count
}

// The pressures are optional in messages: the kernel may not tell.
func signalIO(signals *sluicev1.NodeSignals) *float64     { return signals.IoPressure }
func signalCPU(signals *sluicev1.NodeSignals) *float64    { return signals.CpuPressure }
func signalMemory(signals *sluicev1.NodeSignals) *float64 { return signals.MemoryPressure }

func pressure(signals *sluicev1.NodeSignals, of func(*sluicev1.NodeSignals) *float64) string {
	if signals == nil || of(signals) == nil {
		return ""
	}
	return quantity.FormatShare(*of(signals))
}

func devices(node nodeRow) string {
	var texts []string
	for _, device := range node.GetSnapshot().GetSignals().GetDevices() {
		texts = append(texts, fmt.Sprintf("%s:%s,r=%s,w=%s", device.GetName(),
			quantity.FormatShare(device.GetUtilisation()), quantity.FormatRate(device.GetReadBytesPerSecond()),
			quantity.FormatRate(device.GetWriteBytesPerSecond())))
	}
	return strings.Join(texts, " ")
}

var instanceColumns = []column[instanceRow]{
	text("TARGET", instanceRow.Target),
	text("VERSION", func(i instanceRow) string { return i.Part.Description.GetStoreVersion() }),
	text("PLUGIN", func(i instanceRow) string { return i.Part.Description.GetPluginVersion() }),
	text("KINDS", func(i instanceRow) string {
		return joinCapabilities(i, func(c *sluicev1.Capability) []string { return []string{Word(c.GetKind())} })
	}),
	text("MAX-TIME-TO-LIVE", func(i instanceRow) string {
		if i.Part.Description == nil {
			return ""
		}
		return quantity.FormatDuration(i.Part.Description.GetMaxTimeToLive().AsDuration())
	}),
	text("AGE", func(i instanceRow) string {
		if i.Part.Snapshot == nil {
			return ""
		}
		return quantity.FormatDuration(i.Age)
	}),
	onlyWide("SETTINGS", func(i instanceRow) string {
		return joinCapabilities(i, (*sluicev1.Capability).GetSettingNames)
	}),
	onlyWide("CAN-START", func(i instanceRow) string { return joinCapabilities(i, startWords) }),
	onlyWide("CAN-ABORT", func(i instanceRow) string {
		return joinCapabilities(i, func(c *sluicev1.Capability) []string {
			if !c.GetCanAbort() {
				return nil
			}
			return []string{Word(c.GetKind())}
		})
	}),
	{name: "PROBLEM", cell: func(i instanceRow) Cell { return Cell{Text: i.Part.Snapshot.GetProblem(), Tone: Bad} }},
}

// startWords is the kind, with each variant that it has: "compaction:major".
func startWords(capability *sluicev1.Capability) []string {
	if !capability.GetCanStart() {
		return nil
	}
	words := []string{Word(capability.GetKind())}
	for _, variant := range capability.GetVariants() {
		words = append(words, words[0]+":"+variant)
	}
	return words
}

func joinCapabilities(instance instanceRow, wordsOf func(*sluicev1.Capability) []string) string {
	var words []string
	for _, capability := range instance.Part.Description.GetCapabilities() {
		words = append(words, wordsOf(capability)...)
	}
	slices.Sort(words)
	return strings.Join(slices.Compact(words), ",")
}

var taskColumns = []column[taskRow]{
	text("TARGET", taskRow.Target),
	text("KIND", func(t taskRow) string { return Word(t.Part.GetKind()) }),
	text("SCOPE", func(t taskRow) string { return t.Part.GetScope() }),
	{name: "STATE", cell: func(t taskRow) Cell { return StateCell(t.Part.GetState()) }},
	text("PHASE", func(t taskRow) string { return t.Part.GetPhase() }),
	text("DONE", func(t taskRow) string { return quantity.FormatBytes(float64(t.Part.GetBytesDone())) }),
	text("TOTAL", func(t taskRow) string { return knownBytes(t.Part.GetBytesTotal()) }),
	text("RATE", func(t taskRow) string { return quantity.FormatRate(t.Part.GetRateBytesPerSecond()) }),
	text("THROTTLED", func(t taskRow) string { return quantity.FormatDuration(t.Part.GetThrottled().AsDuration()) }),
	text("AGE", func(t taskRow) string { return quantity.FormatDuration(t.Part.GetAge().AsDuration() + t.Age) }),
	onlyWide("ID", func(t taskRow) string { return t.Part.GetId() }),
}

// StateCell shows the state of a task.
func StateCell(state sluicev1.State) Cell {
	tones := map[sluicev1.State]Tone{
		sluicev1.State_STATE_RUNNING: Good, sluicev1.State_STATE_HELD: Warning,
		sluicev1.State_STATE_DEFERRED: Warning, sluicev1.State_STATE_FAILED: Bad, sluicev1.State_STATE_DONE: Dim,
	}
	return Cell{Word(state), tones[state]}
}

// knownBytes leaves out 0, which stands for a quantity that is not known or not there.
func knownBytes(bytes uint64) string {
	if bytes == 0 {
		return ""
	}
	return quantity.FormatBytes(float64(bytes))
}

var leaseColumns = []column[leaseRow]{
	text("TARGET", leaseRow.Target),
	text("KIND", func(l leaseRow) string { return Word(l.Part.GetKind()) }),
	text("SCOPE", func(l leaseRow) string { return l.Part.GetScope() }),
	text("SETTING", func(l leaseRow) string { return SettingText(l.Part.GetSetting()) }),
	text("OWNER", func(l leaseRow) string { return l.Part.GetOwner() }),
	text("TIME-LEFT", func(l leaseRow) string { return quantity.FormatDuration(TimeLeft(l)) }),
}

// SettingText shows a setting with the suffix of its unit; empty for none.
func SettingText(setting *sluicev1.Setting) string {
	if setting == nil {
		return ""
	}
	return quantity.FormatSetting(store.Setting{
		Name: store.SettingName(setting.GetName()), Number: setting.GetNumber(), Text: setting.GetText(),
	})
}

var debtColumns = []column[debtRow]{
	text("TARGET", debtRow.Target),
	text("KIND", func(d debtRow) string { return Word(d.Part.GetKind()) }),
	text("SCOPE", func(d debtRow) string { return d.Part.GetScope() }),
	text("DEBT", func(d debtRow) string { return quantity.FormatBytes(float64(d.Part.GetBytes())) }),
	text("TRIGGER", func(d debtRow) string { return knownBytes(d.Part.GetTriggerBytes()) }),
	text("LIMIT", func(d debtRow) string { return knownBytes(d.Part.GetLimitBytes()) }),
	{name: "OF-LIMIT", cell: func(d debtRow) Cell { return DebtCell(d.Part) }},
	text("FILES", func(d debtRow) string { return strconv.FormatUint(d.Part.GetFiles(), 10) }),
	text("RECOVERY", func(d debtRow) string {
		if d.Part.GetEstimatedRecovery() == nil {
			return ""
		}
		return quantity.FormatDuration(d.Part.GetEstimatedRecovery().AsDuration())
	}),
}

// Shares of a limit from which a debt is shown as a warning, and as bad.
const (
	warningShare = 0.7
	badShare     = 0.9
)

// DebtCell shows a debt as a share of its limit; empty if there is no limit.
func DebtCell(debt *sluicev1.Debt) Cell {
	if debt.GetLimitBytes() == 0 {
		return Cell{}
	}
	share := float64(debt.GetBytes()) / float64(debt.GetLimitBytes())
	return Cell{quantity.FormatShare(share), ShareTone(share)}
}

// ShareTone is the tone of a share of what there is room for.
func ShareTone(share float64) Tone {
	switch {
	case share >= badShare:
		return Bad
	case share >= warningShare:
		return Warning
	default:
		return Good
	}
}

var latencyColumns = []column[latencyRow]{
	text("TARGET", latencyRow.Target),
	text("CLASS", func(l latencyRow) string { return l.Part.GetRequestClass() }),
	text("COUNT", func(l latencyRow) string { return strconv.FormatUint(l.Part.GetCount(), 10) }),
	text("ERRORS", func(l latencyRow) string { return strconv.FormatUint(l.Part.GetErrors(), 10) }),
	latencyColumn("MEAN", func(l latencyRow) time.Duration { return l.Part.GetMean().AsDuration() }),
	latencyColumn("P50", func(l latencyRow) time.Duration { return l.Part.GetP50().AsDuration() }),
	latencyColumn("P99", func(l latencyRow) time.Duration { return l.Part.GetP99().AsDuration() }),
	latencyColumn("P99.9", func(l latencyRow) time.Duration { return l.Part.GetP999().AsDuration() }),
	latencyColumn("MAX", func(l latencyRow) time.Duration { return l.Part.GetMax().AsDuration() }),
	text("AGE", func(l latencyRow) string { return quantity.FormatDuration(l.Part.GetAge().AsDuration() + l.Age) }),
	onlyWide("INTERVAL", func(l latencyRow) string { return quantity.FormatDuration(l.Part.GetInterval().AsDuration()) }),
}

// latencyColumn leaves out what an interval without requests cannot say.
func latencyColumn(name string, of func(latencyRow) time.Duration) column[latencyRow] {
	return text(name, func(l latencyRow) string {
		if l.Part.GetCount() == 0 {
			return ""
		}
		return quantity.FormatDuration(of(l))
	})
}

func decisionColumns(now time.Time) []column[decisionRow] {
	return []column[decisionRow]{
		text("AGE", func(d decisionRow) string { return quantity.FormatDuration(now.Sub(d.GetMadeAt().AsTime())) }),
		text("POLICY", decisionRow.GetPolicy),
		text("TARGET", func(d decisionRow) string { return target(d.GetNode(), d.GetRef()) }),
		text("KIND", func(d decisionRow) string { return Word(d.GetKind()) }),
		onlyWide("SCOPE", decisionRow.GetScope),
		{name: "VERDICT", cell: verdictCell},
		text("SETTING", func(d decisionRow) string { return SettingText(d.GetSetting()) }),
		text("WRITTEN", func(d decisionRow) string { return yesNo(d.GetWasWritten()) }),
		onlyWide("ACTION", decisionRow.GetAction),
		onlyWide("START", func(d decisionRow) string { return yesNo(d.GetStart()) }),
		onlyWide("SEQUENCE", func(d decisionRow) string { return strconv.FormatUint(d.GetSequence(), 10) }),
		onlyWide("INPUTS", inputs),
		text("REASON", decisionRow.GetReason),
		{name: "PROBLEM", cell: func(d decisionRow) Cell { return Cell{Text: d.GetProblem(), Tone: Bad} }},
	}
}

func verdictCell(decision decisionRow) Cell {
	tones := map[sluicev1.Verdict]Tone{
		sluicev1.Verdict_VERDICT_CHANGE: Good, sluicev1.Verdict_VERDICT_KEEP: Dim, sluicev1.Verdict_VERDICT_STOP: Warning,
	}
	return Cell{Word(decision.GetVerdict()), tones[decision.GetVerdict()]}
}

func yesNo(value bool) string {
	if value {
		return "yes"
	}
	return "no"
}

// inputs are plain numbers: their names already end in the unit.
func inputs(decision decisionRow) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(decision.GetInputs())) {
		texts = append(texts, name+"="+strconv.FormatFloat(decision.GetInputs()[name], 'g', 6, 64))
	}
	return strings.Join(texts, " ")
}

var policyColumns = []column[policyRow]{
	text("POLICY", policyRow.GetName),
	text("TYPE", policyRow.GetType),
	{name: "STATE", cell: func(p policyRow) Cell {
		if p.GetIsPaused() {
			return Cell{"paused", Warning}
		}
		return Cell{"active", Good}
	}},
	text("TARGETS", func(p policyRow) string { return strconv.Itoa(len(p.GetLastDecisions())) }),
	text("CHANGE", func(p policyRow) string { return countVerdicts(p, sluicev1.Verdict_VERDICT_CHANGE) }),
	text("KEEP", func(p policyRow) string { return countVerdicts(p, sluicev1.Verdict_VERDICT_KEEP) }),
	text("STOP", func(p policyRow) string { return countVerdicts(p, sluicev1.Verdict_VERDICT_STOP) }),
	onlyWide("PARAMETERS", policyRow.GetParametersJson),
}

func countVerdicts(policy policyRow, verdict sluicev1.Verdict) string {
	count := 0
	for _, decision := range policy.GetLastDecisions() {
		if decision.GetVerdict() == verdict {
			count++
		}
	}
	return strconv.Itoa(count)
}
