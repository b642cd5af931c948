// Command agent_overhead measures what an agent costs the node that it runs on: processor time and
// resident memory.
//
// It starts a real agent and reference stores, each a process of its own, and does to the agent what a
// cluster does: once a second it reads the snapshots and renews a lease on every store, and every 15
// seconds it reads the metrics.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const usage = `Usage: agent_overhead [options]

Measures the processor time and the resident memory of an agent on this machine. To be run in the
folder "control", where it compiles the programs, unless they are given.

Options:
`

// The bounds that the agent is made for, with 8 stores at 1 Hz.
const (
	boundCoreShare     = 0.01
	boundResidentBytes = 40e6
)

type options struct {
	stores         int
	settle         time.Duration
	measure        time.Duration
	sluice         string
	referenceStore string
	output         string
}

// result is what was measured.
type result struct {
	Stores  int     `json:"stores"`
	Seconds float64 `json:"seconds"`
	// CoreShare is the processor time as a share of that of one core.
	CoreShare            float64 `json:"core_share"`
	ResidentBytes        uint64  `json:"resident_bytes"`
	HighestResidentBytes uint64  `json:"highest_resident_bytes"`
	Orders               int     `json:"orders"`
	Snapshots            int     `json:"snapshots"`
	Scrapes              int     `json:"scrapes"`
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "agent_overhead:", err)
		os.Exit(1)
	}
}

func run(arguments []string, output io.Writer) error {
	o, err := parse(arguments)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	measured, err := measure(ctx, o)
	if err != nil {
		return err
	}
	if o.output == "json" {
		return json.NewEncoder(output).Encode(measured)
	}
	return measured.print(output)
}

func parse(arguments []string) (options, error) {
	var o options
	var settleSeconds, seconds float64
	flags := flag.NewFlagSet("agent_overhead", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	flags.IntVar(&o.stores, "stores", 8, "number of stores")
	flags.Float64Var(&settleSeconds, "settle-seconds", 10, "time between when all stores answer and the measurement")
	flags.Float64Var(&seconds, "seconds", 60, "time to measure")
	flags.StringVar(&o.sluice, "sluice", "", "program with the agent; compiled if it is not given")
	flags.StringVar(&o.referenceStore, "reference-store", "", "program of the stores; compiled if it is not given")
	flags.StringVar(&o.output, "o", "text", "output: text or json")
	if err := flags.Parse(arguments); err != nil {
		return options{}, err
	}
	o.settle = time.Duration(settleSeconds * float64(time.Second))
	o.measure = time.Duration(seconds * float64(time.Second))
	switch {
	case flags.NArg() > 0:
		return options{}, fmt.Errorf("unexpected arguments %q: see --help", flags.Args())
	case o.stores < 1 || o.stores > 100:
		return options{}, fmt.Errorf("--stores must be between 1 and 100, not %d", o.stores)
	case o.settle < 0 || o.measure < time.Second:
		return options{}, errors.New("--settle-seconds must be at least 0, --seconds at least 1")
	case o.output != "text" && o.output != "json":
		return options{}, fmt.Errorf("-o must be text or json, not %q", o.output)
	}
	return o, nil
}

func (r result) print(output io.Writer) error {
	_, err := fmt.Fprintf(output, `stores           %d
measured for     %.0f s, with %d orders, %d reads of the snapshots, %d of the metrics
processor time   %.2f%% of one core (bound %.0f%%)
resident memory  %.1f MB, at most %.1f MB (bound %.0f MB)
`,
		r.Stores, r.Seconds, r.Orders, r.Snapshots, r.Scrapes, 100*r.CoreShare, 100*boundCoreShare,
		float64(r.ResidentBytes)/1e6, float64(r.HighestResidentBytes)/1e6, boundResidentBytes/1e6)
	return err
}
