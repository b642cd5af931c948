// Command sluice-reference-store serves the reference implementation of the local protocol: a store in
// memory whose simulated compactions obey orders. It stores nothing. Plug-ins can be compared with it,
// and agents and policies tried on it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"sluice.dev/control/internal/localprotocol/reference"
)

// exitUsage is the status for wrong flags, as the flag package has it.
const exitUsage = 2

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case errors.Is(err, errUsage):
		os.Exit(exitUsage)
	case err != nil:
		fmt.Fprintln(os.Stderr, "sluice-reference-store:", err)
		os.Exit(1)
	}
}

// errUsage stands for wrong flags, which the flag package has explained already.
var errUsage = errors.New("wrong flags")

// run serves until the context ends. It prints the path of the socket on one line of stdout once it
// takes connections, and logs to stderr.
func run(ctx context.Context, arguments []string, stdout, stderr io.Writer) error {
	config := reference.DefaultConfig()
	config.Version = buildVersion()
	flags := flag.NewFlagSet("sluice-reference-store", flag.ContinueOnError)
	flags.SetOutput(stderr)
	socketDirectory := flags.String("socket-directory", "/run/sluice", "folder in which reference/INSTANCE.sock is made")
	verbose := flags.Bool("verbose", false, "log each request that is refused")
	defineFlags(flags, &config)
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return errUsage
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected arguments %q: everything is set by flags, see -help", flags.Args())
	}
	store, err := reference.New(config, time.Now)
	if err != nil {
		return err
	}
	level := slog.LevelInfo
	if *verbose {
		level = slog.LevelDebug
	}
	logger := slog.New(slog.NewJSONHandler(stderr, &slog.HandlerOptions{Level: level}))
	return store.Serve(ctx, *socketDirectory, logger, func(socketPath string) {
		_, _ = fmt.Fprintln(stdout, socketPath)
	})
}

func defineFlags(flags *flag.FlagSet, config *reference.Config) {
	flags.StringVar(&config.Instance, "instance", config.Instance, "name of the instance")
	flags.Uint64Var(&config.Seed, "seed", config.Seed, "decides when bursts begin and end")
	flags.Func("scopes", fmt.Sprintf("names of the tables, separated by commas (default %s)",
		strings.Join(config.Scopes, ",")), func(text string) error {
		config.Scopes = strings.Split(text, ",")
		return nil
	})
	flags.Float64Var(&config.WriteBytesPerSecond, "write-bytes-per-second", config.WriteBytesPerSecond, "what clients write between bursts")
	flags.Float64Var(&config.BurstBytesPerSecond, "burst-bytes-per-second", config.BurstBytesPerSecond, "what clients write during bursts")
	flags.Float64Var(&config.DeviceBytesPerSecond, "device-bytes-per-second", config.DeviceBytesPerSecond, "what clients and compactions share")
	flags.Float64Var(&config.FullBytesPerSecond, "full-bytes-per-second", config.FullBytesPerSecond, "most that one compaction can do")
	flags.Float64Var(&config.StockBytesPerSecond, "stock-bytes-per-second", config.StockBytesPerSecond, "pace of one compaction without any order")
	flags.Uint64Var(&config.TriggerBytes, "trigger-bytes", config.TriggerBytes, "debt of a table at which its compaction is queued")
	flags.Uint64Var(&config.LimitBytes, "limit-bytes", config.LimitBytes, "debt at which writes stall and every lease ends")
	flags.IntVar(&config.Concurrency, "concurrency", config.Concurrency, "compactions at once without any order")
	flags.DurationVar(&config.MaxTimeToLive, "max-time-to-live", config.MaxTimeToLive, "longest time to live of a lease")
}

func buildVersion() string {
	build, known := debug.ReadBuildInfo()
	if !known || build.Main.Version == "" {
		return "devel"
	}
	return build.Main.Version
}
