// Package localprotocol is the protocol between a store's plug-in and the agent of its node: JSON-RPC
// 2.0 over a Unix socket, one object a line. Its messages are described by the JSON Schemas of
// proto/local, of which folder schema holds a copy, and by docs/local-protocol.md.
package localprotocol

import "fmt"

// Version is a version of the protocol. Peers of different major versions refuse each other; a minor
// version only adds members and words.
type Version struct {
	Major uint64
	Minor uint64
}

// CurrentVersion is what this package speaks.
func CurrentVersion() Version {
	return Version{Major: 1, Minor: 3}
}

// String is the form "1.0".
func (v Version) String() string {
	return fmt.Sprintf("%d.%d", v.Major, v.Minor)
}

// ordersOfTasks is the minor version since which a task can be started with a variant, and aborted.
const ordersOfTasks = 1

// tooOld says that a plug-in does not know what it was to be asked for, and so was not.
func tooOld(plugin Version, minor uint64, what string) *Error {
	return NewError(NumberUnsupported,
		fmt.Sprintf("%s needs version %v of the local protocol, the plug-in speaks version %v",
			what, Version{Major: plugin.Major, Minor: minor}, plugin),
		"Install a newer plug-in.")
}

// incompatible names both versions, as both sides do when they refuse each other.
func incompatible(plugin, client Version) *Error {
	return NewError(NumberIncompatible,
		fmt.Sprintf("the plug-in speaks version %v of the local protocol, its client version %v", plugin, client),
		"Install a plug-in and an agent whose protocols have the same major version.")
}

// versionIn reads the one member of describe's params and result that has the same place and form in
// every version.
func versionIn(message map[string]any) (Version, bool) {
	found, err := readObject(message["protocol_version"], func(m *members) Version {
		found := Version{Major: m.count("major")}
		if m.has("minor") {
			found.Minor = m.count("minor")
		}
		return found
	})
	return found, err == nil
}
