// Command pool_blocks measures what blocks on several devices are worth to a client, against one device of
// its own: how fast files are written and read from their begin to their end, how long small reads and commits
// take, and the processor time of the former.
//
// It starts a real agent for each device, a process of its own, and is the client itself. In each round every
// side writes a file, and reads it after the page cache was dropped: the device alone, and the pool with one
// copy and with two. Sides follow each other in an order that is drawn anew each round.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

const usage = `Usage: pool_blocks --device FOLDER --device FOLDER ... [options]

Measures files that are spread over several devices, one agent for each, against a file on the first one
alone, and prints a JSON document. To be run in the folder "control", where it compiles the agent, unless
that is given. It drops the page cache, which needs root.

Options:
`

type folders []string

func (f *folders) String() string {
	return strings.Join(*f, " ")
}

func (f *folders) Set(folder string) error {
	*f = append(*f, folder)
	return nil
}

type options struct {
	devices   folders
	sluice    string
	fileBytes int64
	reads     int
	commits   int
	rounds    int
	seed      uint64
}

// side is one way to keep a file.
type side struct {
	name string
	// copies is 0 for a file on the device alone.
	copies int
}

var sides = []side{{"device", 0}, {"pool-1-copy", 1}, {"pool-2-copies", 2}}

// measured is what one side came to in one round.
type measured struct {
	WriteBytesPerSecond float64 `json:"write_bytes_per_second"`
	ReadBytesPerSecond  float64 `json:"read_bytes_per_second"`
	SmallReadP50Seconds float64 `json:"small_read_p50_seconds"`
	SmallReadP99Seconds float64 `json:"small_read_p99_seconds"`
	// Of making a file that is on the disks, of its first 4 KiB, of its end, and of all that for one of tableBytes.
	CreateP50Seconds float64 `json:"create_p50_seconds"`
	SyncP50Seconds   float64 `json:"sync_p50_seconds"`
	SealP50Seconds   float64 `json:"seal_p50_seconds"`
	TableP50Seconds  float64 `json:"table_p50_seconds"`
	// Processor time of this program and the agents, per byte written or read.
	WriteCPUSecondsPerByte float64 `json:"write_cpu_seconds_per_byte"`
	ReadCPUSecondsPerByte  float64 `json:"read_cpu_seconds_per_byte"`
}

// result has a measurement of each side for each round.
type result struct {
	Devices   int                   `json:"devices"`
	FileBytes int64                 `json:"file_bytes"`
	Reads     int                   `json:"reads"`
	Rounds    []map[string]measured `json:"rounds"`
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pool_blocks:", err)
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
	found, err := measure(ctx, o)
	if err != nil {
		return err
	}
	return json.NewEncoder(output).Encode(found)
}

func parse(arguments []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("pool_blocks", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	flags.Var(&o.devices, "device", "`FOLDER` on a device of its own; at least two")
	flags.StringVar(&o.sluice, "sluice", "", "program with the agent; compiled if it is not given")
	flags.Int64Var(&o.fileBytes, "file-bytes", 256<<20, "size of each file")
	flags.IntVar(&o.reads, "reads", 1000, "small reads of each file")
	flags.IntVar(&o.commits, "commits", 20, "files of 4 KiB, and of 4 MiB, that are made, synced and sealed")
	flags.IntVar(&o.rounds, "rounds", 4, "how often each side is measured")
	flags.Uint64Var(&o.seed, "seed", 1, "what the order of the sides and the places of small reads are drawn from")
	if err := flags.Parse(arguments); err != nil {
		return options{}, err
	}
	switch {
	case flags.NArg() > 0:
		return options{}, fmt.Errorf("unexpected arguments %q: see --help", flags.Args())
	case len(o.devices) < 2:
		return options{}, errors.New("--device must be given at least twice")
	case o.fileBytes < 1<<20 || o.reads < 1 || o.commits < 1 || o.rounds < 1:
		return options{}, errors.New("--file-bytes must be at least 1048576, --reads, --commits and --rounds at least 1")
	}
	return o, nil
}

func measure(ctx context.Context, o options) (result, error) {
	pool, err := startPool(ctx, o)
	if err != nil {
		return result{}, err
	}
	defer pool.close()
	found := result{Devices: len(o.devices), FileBytes: o.fileBytes, Reads: o.reads}
	random := rand.New(rand.NewPCG(o.seed, 0))
	for number := range o.rounds {
		round := make(map[string]measured)
		for _, i := range random.Perm(len(sides)) {
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", number+1, o.rounds, sides[i].name)
			if round[sides[i].name], err = measureSide(ctx, o, pool, sides[i], random); err != nil {
				return result{}, fmt.Errorf("%s: %w", sides[i].name, err)
			}
		}
		found.Rounds = append(found.Rounds, round)
	}
	return found, nil
}
