package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/protocol"
)

// versionDocument is what `sluice version -o json` writes.
type versionDocument struct {
	Version         string `json:"version"`
	ProtocolVersion string `json:"protocol_version"`
	GoVersion       string `json:"go_version"`
	Platform        string `json:"platform"`
}

func newVersion(environment Environment) *cobra.Command {
	command := &cobra.Command{
		Use:   "version",
		Short: "Show the version of this program",
		Long: `Show the version of this program, and of the network protocol that it speaks. Programs of different
minor versions of the protocol work together, those of different major versions refuse each other.`,
		Example: "  sluice version\n  sluice version -o json",
		Args:    positional(),
	}
	output := registerOutput(command, environment, "text", formJSON, formYAML)
	command.RunE = func(*cobra.Command, []string) error {
		document := versionDocument{
			environment.Version, protocol.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH,
		}
		if output.isDocument() {
			return output.document(document)
		}
		_, err := fmt.Fprintf(environment.Stdout, "sluice %s, protocol %s, %s, %s\n",
			document.Version, document.ProtocolVersion, document.GoVersion, document.Platform)
		return err
	}
	return command
}
