package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/quantity"
	"sluice.dev/control/internal/redirection/devices"
)

const calibrateReadsLong = `Find read_seconds and parallel_reads of the policy service-level: what a random read of the device of a
folder costs, and how many of them it does at a time. A file is written there, read at random, past the
page cache, by one reader and by up to 32 at once, and removed again; nothing else should use the device
meanwhile. Read as much at once as the store does for a miss: of HBase a block, 64 KiB unless the table
says otherwise. The file must be larger than what the device itself caches.`

const (
	defaultReadBytes     = 64 << 10
	defaultReadFileBytes = 1 << 30
)

func newCalibrateReads(environment Environment) *cobra.Command {
	var folder string
	readBytes, fileBytes := float64(defaultReadBytes), float64(defaultReadFileBytes)
	command := &cobra.Command{
		Use:     "reads",
		Short:   "Find what a random read of a device costs",
		Long:    calibrateReadsLong,
		Example: "  sluice calibrate reads --folder /data\n  sluice calibrate reads --folder /data --read-bytes 16kB -o json",
		Args:    positional(),
	}
	command.Flags().StringVar(&folder, "folder", "", "`FOLDER` on the device")
	command.Flags().Var(amount{&readBytes, quantity.Bytes}, "read-bytes", "`BYTES` of a read")
	command.Flags().Var(amount{&fileBytes, quantity.Bytes}, "file-bytes", "`BYTES` of the file")
	output := registerOutput(command, environment, formTable, formJSON, formYAML)
	command.RunE = func(command *cobra.Command, _ []string) error {
		if folder == "" {
			return usagef(command, "--folder must be given")
		}
		fmt.Fprintf(environment.Stderr, "measuring the device of %s, which takes some seconds\n", folder)
		found, err := devices.MeasureReads(folder, int(readBytes), int64(fileBytes))
		if err != nil {
			return err
		}
		if output.isDocument() {
			return output.document(found)
		}
		return writeReads(environment, output, found)
	}
	return command
}

func writeReads(environment Environment, output *output, found devices.Reads) error {
	table := listing.Table{Header: []string{"READ", "ALONE", "AT-MOST", "READERS"}}
	table.Rows = append(table.Rows, textCells([]string{
		quantity.FormatBytes(float64(found.Bytes)), formatLatency(found.ReadSeconds),
		fmt.Sprintf("%.4g/s", found.ReadsPerSecond), formatNumber(float64(found.Readers)),
	}))
	if err := output.table(table); err != nil {
		return err
	}
	_, err := fmt.Fprintf(environment.Stdout, "\nread_seconds: %.3g\nparallel_reads: %.3g\n", found.ReadSeconds, found.ParallelReads)
	return err
}
