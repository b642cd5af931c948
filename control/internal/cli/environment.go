// Package cli is the command line of Sluice: one command tree for the agent, the controller, and whoever
// watches and orders about a cluster.
package cli

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/gdamore/tcell/v2"
)

// Environment is the world that commands run in.
type Environment struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	// Now is the clock that ages count by.
	Now func() time.Time
	// IsTerminal says whether Stdout is one, and so may get colours.
	IsTerminal bool
	// NewScreen opens the terminal for a live view.
	NewScreen func() (tcell.Screen, error)
	// Version is that of this program.
	Version string
	// SystemConfigPath is the context file of the host.
	SystemConfigPath string
	// Hangups receives SIGHUP, from the start of the process to its end; no service ends at it.
	Hangups <-chan os.Signal
	// EndAtHangup lets SIGHUP end the process. It is called for commands that are no services.
	EndAtHangup func()
}

// Run runs the command that the arguments name, tells on Stderr how it failed, and returns the exit
// code. It ends with its context.
func Run(ctx context.Context, environment Environment, arguments []string) int {
	root := newRoot(environment)
	root.SetArgs(arguments)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	environment.writeFailure(err)
	return exitCode(err)
}

// colours says whether output is to have any: https://no-color.org is honoured.
func (e Environment) colours() bool {
	return e.IsTerminal && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
}
