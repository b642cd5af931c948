// Command serve serves the web page of a controller over a simulated cluster, for the tests in a
// browser and for a look at the page without a cluster. The simulation goes on when it is told to, on
// standard input, one command a line: "step 5" for five seconds; what else there is, is in obey. Each
// command is answered by a line, "ok" or what is wrong.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"sluice.dev/control/internal/page"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		slog.Error("the page cannot be served", "error", err)
		os.Exit(1)
	}
}

func run(arguments []string, commands io.Reader, answers io.Writer) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "address to serve the page on")
	past := flags.Int("past", 900, "seconds that have been simulated when it starts")
	period := flags.Int("period", 1, "seconds from one state of the page to the next")
	live := flags.Bool("live", false, "go on by itself, a second every second")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	simulated := newSimulation(*period)
	shown := page.New(simulated, simulated.Now)
	simulated.step(*past, shown.Record)
	server := &http.Server{Handler: shown, ReadHeaderTimeout: 5 * time.Second}
	server.RegisterOnShutdown(shown.Close)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	fmt.Fprintf(answers, "http://%s/\n", listener.Addr())
	if *live {
		go stepEverySecond(simulated, shown.Record)
	}
	if err := obeyAll(commands, answers, simulated, shown.Record); err != nil {
		return err
	}
	if err := server.Shutdown(context.Background()); err != nil {
		return fmt.Errorf("shutting down: %w", err)
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

func stepEverySecond(simulated *simulation, record func()) {
	for range time.Tick(time.Second) {
		simulated.step(1, record)
	}
}

func obeyAll(commands io.Reader, answers io.Writer, simulated *simulation, record func()) error {
	lines := bufio.NewScanner(commands)
	for lines.Scan() {
		answer := "ok"
		if err := obey(lines.Text(), simulated, record); err != nil {
			answer = err.Error()
		}
		fmt.Fprintln(answers, answer)
	}
	return lines.Err()
}

// obey carries one command out: its name and, after a space, its argument.
func obey(line string, simulated *simulation, record func()) error {
	name, argument, _ := strings.Cut(line, " ")
	switch name {
	case "step", "nodes":
		number, err := strconv.Atoi(argument)
		if err != nil || number < 0 {
			return fmt.Errorf("%s needs a number, not %q", name, argument)
		}
		if name == "step" {
			simulated.step(number, record)
			return nil
		}
		simulated.keepNodes(number)
	case "unreachable":
		simulated.setReachable(argument, false)
	case "reachable":
		simulated.setReachable(argument, true)
	case "standby":
		simulated.setRole(false, argument)
	case "active":
		simulated.setRole(true, controllerName)
	case "dry-run":
		simulated.setDryRun(argument == "on")
	case "levels":
		simulated.showLevels(argument == "on")
	case "instance":
		simulated.nameInstance(argument)
	default:
		return fmt.Errorf("the command %q is not known", name)
	}
	return nil
}
