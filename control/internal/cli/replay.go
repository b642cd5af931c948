package cli

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/quantity"
	"sluice.dev/control/internal/redirection"
	"sluice.dev/control/internal/redirection/devices"
	"sluice.dev/control/internal/store"
)

const (
	defaultLogBytes      = 256 << 20
	defaultQueueRequests = 8
	defaultStepRatio     = 0.5
	defaultSizeQuantile  = 0.99
)

const replayLong = `Try settings of a policy or plug-in on the devices of this host.

  redirect   a trace of writes on two devices or more, with SSD Write Redirect or without`

func newReplay(environment Environment) *cobra.Command {
	return group(&cobra.Command{
		Use:     "replay",
		Short:   "Try settings on the devices of this host",
		Long:    replayLong,
		Example: "  sluice replay redirect --trace writes.csv --fast /ssd --slow /disk",
	}, newReplayRedirect(environment))
}

const replayRedirectLong = `Replay a trace on the devices themselves: all writes to the fast one, or large ones to a slow one that has
nothing to do, as SSD Write Redirect has it. What the fast device holds is written back to the slow ones
meanwhile, a megabyte at a time, by one copy for each of them. Requests are made when the trace has them,
however long those before take, past the page cache; latencies count from when they were due.

Each device gets a file in its folder, as large as --log-bytes, rounded up to whole blocks of 4096 bytes. It
is written once before, and again and again from its start, and gone with this command, however that ends.
Nothing else should use the devices.

L, S_max and p are those that "sluice calibrate redirect" finds. S_max is a quantile of the trace's sizes
where it is not given. The trace is CSV with the columns seconds, operation (read or write) and bytes, its
rows by time; reads are of the fast device. Latencies hold this command's own delay where the latest
request, which is told, was late.`

// replayed is what a replay came to, as programs read it.
type replayed struct {
	Settings *redirection.Settings `json:"settings"`
	devices.Outcome
}

// replayFlags are what a replay is made from.
type replayFlags struct {
	trace                     string
	plan                      devices.Plan
	settings                  redirection.Settings
	sizeQuantile, logBytes    float64
	isWithout, isSizeBytesSet bool
}

func newReplayRedirect(environment Environment) *cobra.Command {
	given := replayFlags{
		settings:     redirection.Settings{QueueRequests: defaultQueueRequests, StepRatio: defaultStepRatio},
		sizeQuantile: defaultSizeQuantile, logBytes: defaultLogBytes,
	}
	command := &cobra.Command{
		Use:   "redirect",
		Short: "Replay a trace of writes, with redirects or without",
		Long:  replayRedirectLong,
		Example: `  sluice replay redirect --trace writes.csv --fast /ssd --slow /disk --without
  sluice replay redirect --trace writes.csv --fast /ssd --slow /disk --queue-requests 4 --step-ratio 0.25
  sluice replay redirect --trace writes.csv --fast /ssd --slow /disk1 --slow /disk2 --size-bytes 64kB -o json`,
		Args: positional(),
	}
	flags := command.Flags()
	flags.StringVar(&given.trace, "trace", "", "`FILE` with the requests")
	flags.StringVar(&given.plan.Fast, "fast", "", "`FOLDER` on the fast device")
	flags.StringArrayVar(&given.plan.Slow, "slow", nil, "`FOLDER` on a slow device; may be repeated")
	flags.BoolVar(&given.isWithout, "without", false, "redirect nothing, to compare with")
	flags.Var(amount{&given.settings.QueueRequests, quantity.Count}, "queue-requests", "L: `REQUESTS` of the fast device above which the threshold falls")
	flags.Var(amount{&given.settings.SizeBytes, quantity.Bytes}, "size-bytes", "S_max: `BYTES` above which writes are redirected")
	flags.Var((*share)(&given.sizeQuantile), "size-quantile", "`SHARE` of the writes that are not larger than S_max")
	flags.Var((*share)(&given.settings.StepRatio), "step-ratio", "p: `SHARE` of S_max by which the threshold falls")
	flags.Var(amount{&given.logBytes, quantity.Bytes}, "log-bytes", "`BYTES` of each device that are written to")
	output := registerOutput(command, environment, formTable, formJSON, formYAML)
	command.RunE = func(command *cobra.Command, _ []string) error {
		given.isSizeBytesSet = flags.Changed("size-bytes")
		if given.trace == "" || given.plan.Fast == "" || len(given.plan.Slow) == 0 {
			return usagef(command, "--trace, --fast and --slow must be given")
		}
		done, err := replayRedirect(command, environment, given)
		if err != nil {
			return err
		}
		if output.isDocument() {
			return output.document(done)
		}
		return writeReplay(environment, output, done)
	}
	return command
}

func replayRedirect(command *cobra.Command, environment Environment, given replayFlags) (replayed, error) {
	file, err := os.Open(given.trace)
	if err != nil {
		return replayed{}, store.Invalidf("reading the trace: %w", err)
	}
	defer file.Close()
	plan := given.plan
	if plan.Requests, err = redirection.ReadRequests(file); err != nil {
		return replayed{}, err
	}
	plan.LogBytes = devices.LogBytes(given.logBytes)
	if !given.isWithout {
		plan.Settings = given.settingsFor(plan.Requests)
	}
	seconds := 0.0
	if count := len(plan.Requests); count > 0 {
		seconds = plan.Requests[count-1].AtSeconds
	}
	fmt.Fprintf(environment.Stderr, "replaying %d requests, which takes %.0f s after the logs are written\n", len(plan.Requests), seconds)
	ctx, stop := signal.NotifyContext(command.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	outcome, err := devices.Replay(ctx, plan)
	return replayed{plan.Settings, outcome}, err
}

func (f replayFlags) settingsFor(requests []redirection.Request) *redirection.Settings {
	settings := f.settings
	if f.isSizeBytesSet {
		return &settings
	}
	var sizes []float64
	for _, write := range redirection.Writes(requests) {
		sizes = append(sizes, write.Bytes)
	}
	settings.SizeBytes = redirection.Quantile(sizes, f.sizeQuantile)
	return &settings
}

func writeReplay(environment Environment, output *output, done replayed) error {
	table := listing.Table{Header: []string{"DEVICE", "WRITES", "BYTES", "MEAN", "P50", "P99", "P99.9", "MAX"}}
	for _, row := range []struct {
		name   string
		served devices.Served
	}{{"fast", done.Fast}, {"slow", done.Slow}} {
		table.Rows = append(table.Rows, servedRow(row.name, row.served))
	}
	if err := output.table(table); err != nil {
		return err
	}
	_, err := fmt.Fprintf(environment.Stdout, `
redirected: %s of the writes, %s of their bytes%s
written back: %s, and %s were still to be; reads: %d; the latest request was %s late
`,
		quantity.FormatShare(done.RedirectedShare), quantity.FormatShare(done.RedirectedBytesShare), settingsText(done.Settings),
		quantity.FormatBytes(float64(done.WrittenBackBytes)), quantity.FormatBytes(float64(done.PendingBytes)), done.Reads,
		formatLatency(done.LatestSeconds))
	return err
}

func settingsText(settings *redirection.Settings) string {
	if settings == nil {
		return ""
	}
	return fmt.Sprintf(", with L=%s S_max=%s p=%s", formatNumber(settings.QueueRequests), quantity.FormatBytes(settings.SizeBytes),
		formatNumber(settings.StepRatio))
}

func servedRow(name string, served devices.Served) []listing.Cell {
	texts := []string{name, fmt.Sprint(served.Writes), quantity.FormatBytes(float64(served.WrittenBytes))}
	for _, seconds := range []float64{served.MeanSeconds, served.P50Seconds, served.P99Seconds, served.P999Seconds, served.MaxSeconds} {
		texts = append(texts, formatLatency(seconds))
	}
	return textCells(texts)
}
