package cli

import (
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/pool/gateway/client"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/mount"
	"sluice.dev/control/internal/pool/overwrite"
	"sluice.dev/control/internal/systemd"
)

const (
	defaultPoolSocket = "/run/sluice/agent/pool.sock"
	// defaultMountWait is more than a lease and an election take.
	defaultMountWait = positiveDuration(30 * time.Second)
)

const poolMountLong = `Mount a directory of a volume on an empty folder of this host, for stores that overwrite files, cut and rename
them. The command runs until it is told to end by SIGTERM or interrupted; then everything is on the disks of the
pool, and the folder is empty again. In a unit of systemd, Type=notify, it says when the mount can be used.

It speaks to the agent of this node, which has pool.client.socket in its configuration, and holds the lease on the
directory: it is mounted in one place at a time, and nothing else may be in it. As root, all users of the host may
use the mount as the modes of its files say; else the one who mounts. The log is on the standard error, one JSON
object a line. docs/pool-mount.md says what holds when something fails.`

// poolMount is where something is mounted from.
type poolMount struct {
	environment               Environment
	socket, directory, holder string
	wait                      positiveDuration
}

func newPoolMount(environment Environment) *cobra.Command {
	use := &poolMount{environment: environment, wait: defaultMountWait}
	command := &cobra.Command{
		Use: "mount VOLUME FOLDER", Short: "Mount a directory of the pool, for stores that overwrite files",
		Args: positional("VOLUME", "FOLDER"), Long: poolMountLong,
		Example: `  sluice pool mount orders /srv/orders
  sluice pool mount orders /srv/orders --pool-directory /main --holder orders-main`,
		Annotations: map[string]string{serviceAnnotation: ""},
		RunE: func(command *cobra.Command, arguments []string) error {
			return use.run(command, arguments[0], arguments[1])
		},
	}
	flags := command.Flags()
	flags.StringVar(&use.directory, "pool-directory", entry.Root, "`DIRECTORY` of the volume, which must be there")
	flags.StringVar(&use.socket, "socket", defaultPoolSocket, "`SOCKET` of this node's agent, its pool.client.socket")
	flags.StringVar(&use.holder, "holder", "mount", "`NAME` that others are told who want the directory")
	flags.Var(&use.wait, "wait", "how long an agent that is gone, or a lease that another one has, is waited for")
	return command
}

func (u *poolMount) run(command *cobra.Command, volume, folder string) error {
	logger := u.environment.logger(slog.LevelInfo)
	options := overwrite.Defaults(logger)
	options.UID, options.GID = uint32(os.Geteuid()), uint32(os.Getegid())
	config := mount.Config{
		Config: client.Config{Socket: u.socket, Volume: volume, Path: u.directory, Holder: u.holder, Wait: time.Duration(u.wait)},
		Folder: folder, Options: options,
	}
	return mount.Run(command.Context(), config, logger, func() error { return systemd.Notify(systemd.Ready) })
}
