// Command sluice is the agent, the controller and the command line of Sluice.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gdamore/tcell/v2"
	"golang.org/x/term"

	"sluice.dev/control/internal/cli"
	"sluice.dev/control/internal/cli/contexts"
	"sluice.dev/control/internal/version"
)

func main() {
	os.Exit(run())
}

func run() int {
	// First of all, for until it is taken SIGHUP ends the process.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The second interruption ends the process, should the first one not do.
	context.AfterFunc(ctx, stop)
	return cli.Run(ctx, cli.Environment{
		Stdin:            os.Stdin,
		Stdout:           os.Stdout,
		Stderr:           os.Stderr,
		Getenv:           os.Getenv,
		Now:              time.Now,
		IsTerminal:       term.IsTerminal(int(os.Stdout.Fd())),
		NewScreen:        tcell.NewScreen,
		Version:          version.Number(),
		SystemConfigPath: contexts.SystemPath,
		Hangups:          hangups,
		EndAtHangup:      func() { endAtHangup(hangups) },
	}, os.Args[1:])
}

// endAtHangup lets SIGHUP end the process again, also if it has come already.
func endAtHangup(hangups <-chan os.Signal) {
	signal.Reset(syscall.SIGHUP)
	select {
	case <-hangups:
		// It cannot fail: everybody may signal themselves.
		_ = syscall.Kill(os.Getpid(), syscall.SIGHUP)
	default:
	}
}
