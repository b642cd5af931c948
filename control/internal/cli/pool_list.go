package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/agent"
	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/quantity"
)

// listedFile is an entry of a directory, as programs read it.
type listedFile struct {
	Name          string `json:"name"`
	IsDirectory   bool   `json:"is_directory"`
	LengthBytes   uint64 `json:"length_bytes"`
	IsOpen        bool   `json:"is_open"`
	Copies        int    `json:"copies"`
	MissingCopies int    `json:"missing_segments"`
}

func (u *poolUse) newList() *cobra.Command {
	command := &cobra.Command{
		Use: "list VOLUME PATH", Short: "List a directory", Args: positional("VOLUME", "PATH"),
		Long: "List a directory in the order of the names. A file that is open is being written, or was left; its length is\n" +
			"what is on the disks. Segments that are missing are to be repaired: their other copies are read.",
		Example: "  sluice pool list backups /",
	}
	output := registerOutput(command, u.environment, formTable, formJSON, formYAML)
	command.RunE = func(command *cobra.Command, arguments []string) error {
		return u.with(func(access *agent.PoolAccess) error {
			names, err := u.view(access, arguments[0]).List(command.Context(), arguments[1])
			if err != nil {
				return err
			}
			return writeNames(output, names)
		})
	}
	return command
}

func writeNames(output *output, names []entry.Name) error {
	listed := []listedFile{}
	table := listing.Table{Header: []string{"NAME", "SIZE", "COPIES", "STATE"}}
	for _, name := range names {
		file := listedFile{Name: name.Name, IsDirectory: name.File == nil}
		texts := []string{name.Name, "-", "-", "directory"}
		if name.File != nil {
			file.LengthBytes, file.IsOpen = name.File.LengthBytes, !name.File.Sealed
			file.Copies, file.MissingCopies = len(name.File.Layout.Servers), len(name.File.Missing)
			texts = []string{name.Name, quantity.FormatBytes(float64(file.LengthBytes)), fmt.Sprint(file.Copies), stateOfFile(file)}
		}
		listed = append(listed, file)
		table.Rows = append(table.Rows, textCells(texts))
	}
	if output.isDocument() {
		return output.document(map[string]any{"entries": listed})
	}
	return output.table(table)
}

func stateOfFile(file listedFile) string {
	state := "sealed"
	if file.IsOpen {
		state = "open"
	}
	if file.MissingCopies > 0 {
		state += fmt.Sprintf(", %s missing", counted(uint32(file.MissingCopies), "segment"))
	}
	return state
}
