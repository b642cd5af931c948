// Package mount has a directory of a pool be a folder of this host, whose files can be overwritten: package overwrite on
// top of files that the agent gives, served to the kernel by FUSE.
package mount

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"sluice.dev/control/internal/pool/gateway/client"
	"sluice.dev/control/internal/pool/overwrite"
	"sluice.dev/control/internal/store"
)

// Config says what is mounted where.
type Config struct {
	client.Config
	// Folder is an empty folder of this host.
	Folder  string
	Options overwrite.Options
}

// Run mounts until the context ends, or somebody else unmounts. Ready is called when the mount can be used. What was
// written is on the disks when it returns without an error.
func Run(ctx context.Context, config Config, logger *slog.Logger, ready func() error) error {
	if err := prepare(config.Folder, logger); err != nil {
		return err
	}
	files, err := attach(ctx, config.Config)
	if err != nil {
		return err
	}
	defer files.session.End()
	opened, err := overwrite.Open(ctx, files, config.Options)
	if errors.Is(err, overwrite.ErrCorrupt) {
		return store.Errorf(store.CodeUnavailable, "%s of volume %s: %w", config.Path, config.Volume, err).
			WithHint("Nothing was changed. Look at sluice pool status: bring back servers that are silent; else restore a backup.")
	}
	if err != nil {
		return err
	}
	free := func() int64 { return files.freeBytes(context.WithoutCancel(ctx)) }
	return errors.Join(serve(ctx, config, newFileSystem(opened, free, logger), ready), opened.Close())
}

// prepare wants an empty folder. What a process has left mounted that was killed is unmounted.
func prepare(folder string, logger *slog.Logger) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, unix.ENOTCONN) {
		logger.Info("a mount is taken away whose process is gone", "folder", folder)
		if err := detach(folder); err != nil {
			return fmt.Errorf("unmount %s: %w", folder, err)
		}
		entries, err = os.ReadDir(folder)
	}
	if err != nil {
		return store.Invalidf("%w", err).WithHint("Make the folder, or name another one.")
	}
	if len(entries) > 0 {
		return store.Invalidf("%s is not empty: %s is there, which the mount would hide", folder, entries[0].Name()).
			WithHint("Name an empty folder.")
	}
	return nil
}

// serve answers the kernel.
func serve(ctx context.Context, config Config, asked *fileSystem, ready func() error) error {
	server, err := fuse.NewServer(asked, config.Folder, mountOptions(config, asked.logger))
	if err != nil {
		return store.Errorf(store.CodeUnavailable, "mount %s: %w", config.Folder, err).
			WithHint("Run it as root, or install fuse3 and have the rights to the folder; the kernel needs /dev/fuse.")
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		server.Serve()
	}()
	err = server.WaitMount()
	if err == nil {
		readAhead(config.Folder, asked.logger)
		err = ready()
	}
	if err != nil {
		return errors.Join(err, server.Unmount())
	}
	asked.logger.Info("mounted", "folder", config.Folder, "volume", config.Volume, "directory", config.Path)
	select {
	case <-served:
		return nil
	case <-asked.of.Lost():
		return errors.Join(asked.of.Err(), detach(config.Folder))
	case <-ctx.Done():
		return unmount(server, config.Folder, asked.logger)
	}
}

// readAhead has the kernel ask for several megabytes ahead of who reads from begin to end: each request goes to servers
// of the pool, and by itself FUSE asks for 128 KiB. Root alone may do it, and nothing depends on it.
func readAhead(folder string, logger *slog.Logger) {
	const kibibytes, writable = "4096", 0o644
	var found unix.Stat_t
	err := unix.Stat(folder, &found)
	if err == nil {
		path := fmt.Sprintf("/sys/class/bdi/%d:%d/read_ahead_kb", unix.Major(found.Dev), unix.Minor(found.Dev))
		err = os.WriteFile(path, []byte(kibibytes), writable)
	}
	if err != nil {
		logger.Info("the kernel reads little ahead", "error", err)
	}
}

func mountOptions(config Config, logger *slog.Logger) *fuse.MountOptions {
	const mostBackground = 64
	isRoot := os.Geteuid() == 0
	return &fuse.MountOptions{
		AllowOther: isRoot, DirectMountStrict: isRoot, Options: []string{"default_permissions"},
		FsName: "sluice-pool:" + config.Volume + config.Path, Name: "sluice-pool",
		// Nobody else writes: pages that the kernel has are right until it changes them itself.
		ExplicitDataCacheControl: true, DisableXAttrs: true,
		// What is read is in memory: pipes have no part in it.
		DisableSplice: true, Logger: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
		MaxWrite: config.Options.RecordBytes, MaxReadAhead: config.Options.RecordBytes, MaxBackground: mostBackground,
	}
}

// unmount does not wait for those that have files open: what they have written is on the disks, and they are told.
func unmount(server *fuse.Server, folder string, logger *slog.Logger) error {
	if err := server.Unmount(); err == nil {
		return nil
	}
	logger.Warn("files of the mount are open: it is taken away from those that have them", "folder", folder)
	return detach(folder)
}

// detach takes a mount away even if it is used.
func detach(folder string) error {
	if os.Geteuid() == 0 {
		return unix.Unmount(folder, unix.MNT_DETACH)
	}
	output, err := exec.Command("fusermount3", "-u", "-z", folder).CombinedOutput()
	if err != nil {
		return fmt.Errorf("fusermount3: %w: %s", err, output)
	}
	return nil
}
