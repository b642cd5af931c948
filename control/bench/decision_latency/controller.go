package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"

	"sluice.dev/control/internal/controller"
)

// runController runs the controller as cmd/sluice does, and leaves profiles in a directory if one is given.
func runController(ctx context.Context, configFile, profiles string) error {
	config, err := controller.Load(configFile)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if profiles == "" {
		return controller.Run(ctx, config, log, nil)
	}
	file, err := os.Create(filepath.Join(profiles, "cpu.pprof"))
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return err
	}
	// The controller goes on until its heap is written, since ending would empty it.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	written := make(chan error, 1)
	context.AfterFunc(ctx, func() {
		written <- writeHeapProfile(filepath.Join(profiles, "heap.pprof"))
		stop()
	})
	err = controller.Run(running, config, log, nil)
	pprof.StopCPUProfile()
	return errors.Join(err, file.Close(), <-written)
}

func writeHeapProfile(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	runtime.GC()
	return errors.Join(pprof.WriteHeapProfile(file), file.Close())
}
