package localprotocol

import (
	"fmt"
	"math"

	"sluice.dev/control/internal/store"
)

const (
	// maxVersionNumber bounds both parts of a version of the protocol, maxVersionCharacters the versions of a
	// store and of its plug-in.
	maxVersionNumber     = 1e6
	maxVersionCharacters = 256
)

// The functions below read what the schemas of the same names describe, and take exactly what those
// take. A client reads each answer of each store once a second, for which a validator of schemas is too
// slow; tests compare the two.

// readResult reads the result of a method. It looks at a description's version before its form, which
// may be another one in another version.
func readResult[Result any](method string, document map[string]any, read func(*members) Result) (Result, error) {
	var nothing Result
	if method == methodDescribe {
		plugin, readable := versionIn(document)
		if readable && plugin.Major != CurrentVersion().Major {
			return nothing, incompatible(plugin, CurrentVersion())
		}
	}
	result, err := readObject(document, read)
	if err != nil {
		return nothing, fmt.Errorf("the result does not keep to the protocol: %s", shorten(err.Error()))
	}
	return result, nil
}

func readVersion(m *members) Version {
	return Version{
		Major: uint64(m.whole("major", 0, maxVersionNumber)),
		Minor: uint64(m.whole("minor", 0, maxVersionNumber)),
	}
}

// readPluginVersion reads a description of which only the version is wanted.
func readPluginVersion(m *members) Version {
	readDescription(m)
	return objectAt(m, "protocol_version", readVersion)
}

func readDescription(m *members) store.Description {
	objectAt(m, "protocol_version", readVersion)
	return store.Description{
		Store:         m.name("store", storeForm),
		Instance:      m.name("instance", instanceForm),
		StoreVersion:  m.text("store_version", 0, maxVersionCharacters),
		PluginVersion: m.text("plugin_version", 0, maxVersionCharacters),
		Capabilities:  objectsAt(m, "capabilities", readCapability),
		MaxTimeToLive: duration(m.number("max_time_to_live_seconds", leastTimeToLiveSeconds, maxSeconds)),
	}
}

func readCapability(m *members) store.Capability {
	capability := store.Capability{
		Kind:     readKind(m),
		Settings: namesAt[store.SettingName](m, "settings", settingForm),
		CanStart: m.boolean("can_start"),
	}
	// A plug-in of version 1.0 has neither.
	if m.has("variants") {
		capability.Variants = namesAt[store.Variant](m, "variants", wordForm)
	}
	if m.has("can_abort") {
		capability.CanAbort = m.boolean("can_abort")
	}
	return capability
}

func readKind(m *members) store.Kind {
	return store.Kind(m.name("kind", wordForm))
}

func readScope(m *members) string {
	return m.line("scope", 0, maxTextCharacters)
}

// readSnapshot leaves out when the snapshot was taken.
func readSnapshot(m *members) store.Snapshot {
	snapshot := store.Snapshot{
		Tasks:     objectsAt(m, "tasks", readTask),
		Debts:     objectsAt(m, "debts", readDebt),
		Leases:    objectsAt(m, "leases", readLease),
		Latencies: objectsAt(m, "latencies", readLatency),
		Figures:   objectAt(m, "figures", readFigures),
	}
	// A plug-in of version 1.2 has none.
	if m.has("scope_latencies") {
		snapshot.ScopeLatencies = objectsAt(m, "scope_latencies", readScopeLatency)
	}
	return snapshot
}

func readTask(m *members) store.Task {
	task := store.Task{
		ID:                 m.text("id", 1, maxTextCharacters),
		Kind:               readKind(m),
		Scope:              readScope(m),
		State:              store.State(m.name("state", wordForm)),
		BytesDone:          m.count("bytes_done"),
		BytesTotal:         m.count("bytes_total"),
		RateBytesPerSecond: m.quantity("rate_bytes_per_second"),
		Throttled:          duration(m.seconds("throttled_seconds")),
		Age:                duration(m.seconds("age_seconds")),
	}
	if m.has("phase") {
		task.Phase = m.text("phase", 0, maxTextCharacters)
	}
	return task
}

func readDebt(m *members) store.Debt {
	debt := store.Debt{
		Kind:              readKind(m),
		Scope:             readScope(m),
		Bytes:             m.count("bytes"),
		TriggerBytes:      m.count("trigger_bytes"),
		LimitBytes:        m.count("limit_bytes"),
		Files:             m.count("files"),
		EstimatedRecovery: unknownRecovery,
	}
	if m.has("estimated_recovery_seconds") {
		debt.EstimatedRecovery = duration(m.seconds("estimated_recovery_seconds"))
	}
	return debt
}

func readLease(m *members) store.Lease {
	return store.Lease{
		Kind:     readKind(m),
		Scope:    readScope(m),
		Setting:  objectAt(m, "setting", readSetting),
		Owner:    m.line("owner", 1, maxOwnerCharacters),
		TimeLeft: duration(m.seconds("time_left_seconds")),
	}
}

// readSetting takes any value of a setting that only a newer version knows.
func readSetting(m *members) store.Setting {
	setting := store.Setting{Name: store.SettingName(m.name("name", settingForm))}
	if m.has("number") {
		setting.Number = m.number("number", -math.MaxFloat64, math.MaxFloat64)
	}
	if m.has("text") {
		setting.Text = m.line("text", 0, maxTextCharacters)
	}
	if isKnown := setting.Aspect() != ""; !isKnown {
		return setting
	}
	m.mustHave("number", setting.Name.HasNumber())
	m.mustHave("text", setting.Name.HasText())
	if err := setting.ValidateValue(); err != nil {
		m.fail("name", err)
	}
	return setting
}

func readLatency(m *members) store.Latency {
	return store.Latency{
		Class:    m.name("class", wordForm),
		Age:      duration(m.seconds("age_seconds")),
		Interval: duration(m.seconds("interval_seconds")),
		Count:    m.count("count"),
		Errors:   m.count("errors"),
		Mean:     duration(m.seconds("mean_seconds")),
		P50:      duration(m.seconds("p50_seconds")),
		P99:      duration(m.seconds("p99_seconds")),
		P999:     duration(m.seconds("p999_seconds")),
		Max:      duration(m.seconds("max_seconds")),
	}
}

func readScopeLatency(m *members) store.ScopeLatency {
	return store.ScopeLatency{Scope: readScope(m), Latency: readLatency(m)}
}

func readFigures(m *members) map[string]float64 {
	figures := make(map[string]float64, len(m.values))
	for name := range m.values {
		if !figureForm.matches(name) {
			m.fail(shown(name), fmt.Errorf("must be %v", figureForm))
		}
		figures[name] = m.number(name, -math.MaxFloat64, math.MaxFloat64)
	}
	return figures
}

// readGiven reads the result of set.
func readGiven(m *members) store.Lease {
	return objectAt(m, "lease", readLease)
}

// readCleared reads the result of clear.
func readCleared(m *members) int {
	return int(m.count("cleared"))
}

// readNothing reads the result of start or abort, which has no members.
func readNothing(*members) struct{} {
	return struct{}{}
}
