// Package version holds the version of the program.
package version

import "runtime/debug"

// number is set by the linker: -X sluice.dev/control/internal/version.number=NUMBER.
var number string

// Number is the version of the program: that of its package, or of the module if it was built by "go
// install", or "devel".
func Number() string {
	if number != "" {
		return number
	}
	if build, known := debug.ReadBuildInfo(); known && build.Main.Version != "" && build.Main.Version != "(devel)" {
		return build.Main.Version
	}
	return "devel"
}
