// Program sets the wall clock of a process, for tests that are not written in Go: PID SECONDS, ahead of the machine's clock
// or, if negative, behind it.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"sluice.dev/control/tests/wallclock"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) != 2 {
		return fmt.Errorf("%d arguments were given, not PID SECONDS", len(arguments))
	}
	pid, err := strconv.Atoi(arguments[0])
	if err != nil {
		return err
	}
	seconds, err := strconv.Atoi(arguments[1])
	if err != nil {
		return err
	}
	return wallclock.Set(pid, time.Duration(seconds)*time.Second)
}
