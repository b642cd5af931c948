package cli

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/quantity"
	"sluice.dev/control/internal/redirection"
	"sluice.dev/control/internal/store"
)

const calibrateLong = `Find the settings of a policy or plug-in for the devices of this host.

  redirect   L, S_max and p of SSD Write Redirect, for two devices and a trace of writes
  reads      read_seconds and parallel_reads of the policy service-level, for a device`

func newCalibrate(environment Environment) *cobra.Command {
	return group(&cobra.Command{
		Use:     "calibrate",
		Short:   "Find settings for the devices of this host",
		Long:    calibrateLong,
		Example: "  sluice calibrate redirect --trace writes.csv --fast /ssd --slow /disk",
	}, newCalibrateRedirect(environment), newCalibrateReads(environment))
}

const calibrateRedirectLong = `Find L, S_max and p of SSD Write Redirect. Both devices are measured: a file of 32 MiB is written in their
folders, in writes of two sizes that are synced, and removed again; nothing else should use the devices
meanwhile. Then the trace is replayed on a model of both, for each of 30 choices of L and p. Best is the
choice with which writes to the fast device have the lowest p99; of those within a hundredth, the one
that redirects the fewest bytes. S_max is a quantile of the trace's sizes.

The trace is CSV with the columns seconds, operation (read or write) and bytes, its rows by time. The
model does one write at a time on each device: it ranks choices, and is no promise of a latency. L is
in writes of the trace: it is not for blocks of HDFS, each of which is many requests of its device.

With -o json, an object with "devices", "without" (all writes to the fast device) and "candidates", the
best first.`

// calibration is what is found, as programs read it.
type calibration struct {
	Devices    calibratedDevices       `json:"devices"`
	Without    redirection.Outcome     `json:"without"`
	Candidates []redirection.Candidate `json:"candidates"`
}

type calibratedDevices struct {
	Fast redirection.Device `json:"fast"`
	Slow redirection.Device `json:"slow"`
}

func newCalibrateRedirect(environment Environment) *cobra.Command {
	var trace, fast, slow string
	sizeQuantile := defaultSizeQuantile
	command := &cobra.Command{
		Use:   "redirect",
		Short: "Find the settings with which writes are redirected",
		Long:  calibrateRedirectLong,
		Example: `  sluice calibrate redirect --trace writes.csv --fast /ssd --slow /disk
  sluice calibrate redirect --trace writes.csv --fast /ssd --slow /disk --size-quantile 0.95 -o json`,
		Args: positional(),
	}
	flags := command.Flags()
	flags.StringVar(&trace, "trace", "", "`FILE` with the writes to go by")
	flags.StringVar(&fast, "fast", "", "`FOLDER` on the fast device")
	flags.StringVar(&slow, "slow", "", "`FOLDER` on the slow device")
	flags.Var((*share)(&sizeQuantile), "size-quantile", "`SHARE` of the writes that are not larger than S_max")
	output := registerOutput(command, environment, formTable, formJSON, formYAML)
	command.RunE = func(command *cobra.Command, _ []string) error {
		if trace == "" || fast == "" || slow == "" {
			return usagef(command, "--trace, --fast and --slow must be given")
		}
		found, err := calibrateRedirect(environment, trace, fast, slow, sizeQuantile)
		if err != nil {
			return err
		}
		if output.isDocument() {
			return output.document(found)
		}
		return writeCalibration(environment, output, found)
	}
	return command
}

func calibrateRedirect(environment Environment, trace, fast, slow string, sizeQuantile float64) (calibration, error) {
	file, err := os.Open(trace)
	if err != nil {
		return calibration{}, store.Invalidf("reading the trace: %w", err)
	}
	defer file.Close()
	writes, err := redirection.ReadTrace(file)
	if err != nil {
		return calibration{}, err
	}
	var found calibration
	for _, each := range []struct {
		folder string
		device *redirection.Device
	}{{fast, &found.Devices.Fast}, {slow, &found.Devices.Slow}} {
		fmt.Fprintf(environment.Stderr, "measuring the device of %s, which takes some seconds\n", each.folder)
		if *each.device, err = redirection.Measure(each.folder); err != nil {
			return calibration{}, err
		}
	}
	found.Without = redirection.Replay(writes, found.Devices.Fast, found.Devices.Slow, nil)
	found.Candidates = redirection.Choose(writes, found.Devices.Fast, found.Devices.Slow, sizeQuantile)
	return found, nil
}

func writeCalibration(environment Environment, output *output, found calibration) error {
	table := listing.Table{Header: []string{"L", "S_MAX", "P", "FAST-P99", "FAST-MEAN", "SLOW-P99", "REDIRECTED", "OF-BYTES"}}
	table.Rows = append(table.Rows, outcomeRow([]string{"", "", ""}, found.Without))
	for _, candidate := range found.Candidates {
		table.Rows = append(table.Rows, outcomeRow([]string{
			formatNumber(candidate.QueueRequests), quantity.FormatBytes(candidate.SizeBytes), formatNumber(candidate.StepRatio),
		}, candidate.Outcome))
	}
	if err := output.table(table); err != nil {
		return err
	}
	best := found.Candidates[0]
	_, err := fmt.Fprintf(environment.Stdout, `
fast device: %s and %s; slow device: %s and %s
best: redirect_queue_requests=%s redirect_size_bytes=%s redirect_step_ratio=%s
`,
		formatLatency(found.Devices.Fast.FixedSeconds), quantity.FormatRate(found.Devices.Fast.BytesPerSecond),
		formatLatency(found.Devices.Slow.FixedSeconds), quantity.FormatRate(found.Devices.Slow.BytesPerSecond),
		formatNumber(best.QueueRequests), formatNumber(best.SizeBytes), formatNumber(best.StepRatio))
	return err
}

func outcomeRow(settings []string, outcome redirection.Outcome) []listing.Cell {
	texts := append(settings, formatLatency(outcome.FastP99Seconds), formatLatency(outcome.FastMeanSeconds),
		formatLatency(outcome.SlowP99Seconds), quantity.FormatShare(outcome.RedirectedShare),
		quantity.FormatShare(outcome.RedirectedBytesShare))
	return textCells(texts)
}

func textCells(texts []string) []listing.Cell {
	cells := make([]listing.Cell, 0, len(texts))
	for _, text := range texts {
		cells = append(cells, listing.Cell{Text: text})
	}
	return cells
}

func formatLatency(seconds float64) string {
	return quantity.FormatDuration(time.Duration(seconds * float64(time.Second)))
}

func formatNumber(number float64) string {
	return strconv.FormatFloat(number, 'f', -1, 64)
}
