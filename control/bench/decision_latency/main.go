// Command decision_latency measures how long one controller takes to decide for N nodes in a period.
//
// It starts two processes of itself: N simulated agents behind one port, each with an address, an identity
// and a connection of its own, and a real controller that reads them over mutual TLS and holds an slo
// policy on each. The figures are those that the controller serves at /metrics.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

const usage = `Usage: decision_latency [options]

Measures the time of a controller's period for numbers of simulated agents, on this machine. Each number
above 9,000 needs some 20,000 file descriptors in each of two processes.

Options:
`

type options struct {
	counts   string
	tasks    int
	settle   time.Duration
	measure  time.Duration
	lease    time.Duration
	procs    int
	output   string
	profiles string
	part     string
	argument string
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "decision_latency:", err)
		os.Exit(1)
	}
}

func run(arguments []string, output io.Writer) error {
	var o options
	flags := flag.NewFlagSet("decision_latency", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	flags.StringVar(&o.counts, "agents", "10,100,1000,10000", "numbers of agents to measure, with commas between them")
	flags.IntVar(&o.tasks, "tasks", 4, "background tasks of each agent")
	flags.DurationVar(&o.settle, "settle", 15*time.Second, "time between when all agents answer and the measurement")
	flags.DurationVar(&o.measure, "measure", 2*time.Minute, "time to measure for each number of agents")
	flags.DurationVar(&o.lease, "lease", 5*time.Second, "time to live of leases: longer ones are renewed less often")
	flags.IntVar(&o.procs, "cores", 1, "cores that the controller may use at once")
	flags.StringVar(&o.output, "o", "table", "output: table or json")
	flags.StringVar(&o.profiles, "profiles", "", "directory for profiles of the controller, cpu.pprof and heap.pprof")
	flags.StringVar(&o.part, "part", "", "for the processes that this one starts: agents or controller")
	flags.StringVar(&o.argument, "argument", "", "for the processes that this one starts")
	if err := flags.Parse(arguments); err != nil {
		if err == flag.ErrHelp {
			return nil
		}
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch o.part {
	case "agents":
		return serveAgents(ctx, o.argument, o.tasks)
	case "controller":
		return runController(ctx, o.argument, o.profiles)
	}
	return measureAll(ctx, o, output)
}

func measureAll(ctx context.Context, o options, output io.Writer) error {
	if o.output != "table" && o.output != "json" {
		return fmt.Errorf("the output %q is not known: use table or json", o.output)
	}
	var results []result
	for text := range strings.SplitSeq(o.counts, ",") {
		count, err := strconv.Atoi(text)
		if err != nil || count < 1 || count > maxAgents {
			return fmt.Errorf("%q is no number of agents from 1 to %d", text, maxAgents)
		}
		measured, err := measure(ctx, o, count)
		if err != nil {
			return fmt.Errorf("with %d agents: %w", count, err)
		}
		results = append(results, measured)
	}
	if o.output == "json" {
		encoder := json.NewEncoder(output)
		encoder.SetIndent("", "  ")
		return encoder.Encode(results)
	}
	return printTable(output, results)
}

func printTable(output io.Writer, results []result) error {
	table := tabwriter.NewWriter(output, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "agents\ttasks\tperiods\tp50 ms\tp99 ms\tread ms\tdecide ms\twrite ms\tcores\tMB\tskipped\torders\tmissed orders\t")
	for _, r := range results {
		fmt.Fprintf(table, "%d\t%d\t%d\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.2f\t%.0f\t%d\t%d\t%d\t\n",
			r.Agents, r.Tasks, r.Periods, 1e3*r.PeriodP50Seconds, 1e3*r.PeriodP99Seconds, 1e3*r.ReadMeanSeconds,
			1e3*r.DecideMeanSeconds, 1e3*r.WriteMeanSeconds, r.CoresUsed, r.ResidentBytes/1e6, r.SkippedPeriods,
			r.OrdersWritten, r.OrdersFailed)
	}
	return table.Flush()
}
