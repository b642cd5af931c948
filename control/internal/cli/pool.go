package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/agent"
	"sluice.dev/control/internal/cli/listing"
	"sluice.dev/control/internal/pool/files"
	"sluice.dev/control/internal/pool/metadata/entry"
	"sluice.dev/control/internal/pool/stripe"
	"sluice.dev/control/internal/store"
)

const (
	defaultAgentConfig = "/etc/sluice/agent/agent.yml"
	// poolLeaseTime is how long others wait for a command that was killed.
	poolLeaseTime = 10 * time.Second
	copyBytes     = 1 << 20
)

const poolLong = `Look at the files of a pool, and put some there, from a node whose agent has pool.client in its
configuration: the commands use the agent's certificate, and so need the rights to read its key.

What changes files takes the lease on the whole volume meanwhile, and is refused while a store has it.
docs/pool.md explains pools.`

// poolUse is a pool that a command is connected to.
type poolUse struct {
	environment Environment
	path        string
}

func newPool(environment Environment) *cobra.Command {
	use := &poolUse{environment: environment}
	command := group(&cobra.Command{
		Use:   "pool",
		Short: "Look at files of a pool, and put some there",
		Long:  poolLong,
		Example: `  sluice pool create-volume backups
  sluice pool put backups dump.sql /dump.sql
  sluice pool list backups /`,
	},
		use.newStatus(), use.newVolumes(), use.newCreateVolume(), use.newRemoveVolume(),
		use.newList(), use.newMakeDirectory(), use.newPut(), use.newGet(), use.newRemove(),
		newPoolMount(environment),
	)
	command.PersistentFlags().StringVar(&use.path, "config", defaultAgentConfig, "configuration `FILE` of the agent")
	return command
}

// with connects to the pool for as long as something is done.
func (u *poolUse) with(do func(access *agent.PoolAccess) error) error {
	config, err := agent.Load(u.path)
	if err != nil {
		return store.Invalidf("%w", err).WithHint("docs/agent.md explains the keys.")
	}
	access, err := agent.OpenPool(config, u.logger())
	if err != nil {
		return store.Invalidf("%s: %w", u.path, err)
	}
	return errors.Join(do(access), access.Close())
}

func (u *poolUse) logger() *slog.Logger {
	return u.environment.logger(slog.LevelWarn)
}

func (u *poolUse) view(access *agent.PoolAccess, volume string) files.View {
	return files.View{
		Volume: volume, Metadata: access.Metadata, Services: access.Servers.Service,
		Options: stripe.DefaultOptions(), Suspects: stripe.NewSuspects(time.Now), Logger: u.logger(),
	}
}

// attached holds the lease on a volume while something is done.
func (u *poolUse) attached(ctx context.Context, volume string, do func(session *files.Session) error) error {
	return u.with(func(access *agent.PoolAccess) error {
		host, err := os.Hostname()
		if err != nil {
			return err
		}
		session, err := files.Attach(ctx, files.Config{
			Volume: volume, Path: entry.Root, Holder: fmt.Sprintf("sluice pool, process %d of %s", os.Getpid(), host),
			TimeToLive: poolLeaseTime, Servers: access.Servers.Names(), Copies: access.Copies, BlockBytes: access.BlockBytes,
			Options: stripe.DefaultOptions(), Suspects: stripe.NewSuspects(time.Now),
		}, access.Metadata, access.Servers.Service, u.logger())
		if err != nil {
			return err
		}
		return errors.Join(do(session), session.Detach(context.WithoutCancel(ctx)))
	})
}

func (u *poolUse) newVolumes() *cobra.Command {
	command := &cobra.Command{
		Use: "volumes", Short: "List the volumes of the pool", Args: positional(),
		Long:    "List the volumes of the pool in the order of their names.",
		Example: "  sluice pool volumes -o json",
	}
	output := registerOutput(command, u.environment, formTable, formJSON, formYAML)
	command.RunE = func(command *cobra.Command, _ []string) error {
		return u.with(func(access *agent.PoolAccess) error {
			names, err := allVolumes(command.Context(), access)
			if err != nil {
				return err
			}
			if output.isDocument() {
				return output.document(map[string]any{"volumes": names})
			}
			table := listing.Table{Header: []string{"VOLUME"}}
			for _, name := range names {
				table.Rows = append(table.Rows, textCells([]string{name}))
			}
			return output.table(table)
		})
	}
	return command
}

func allVolumes(ctx context.Context, access *agent.PoolAccess) ([]string, error) {
	page := entry.Page[string]{Limit: entry.MaxPageEntries}
	all := []string{}
	for {
		names, more, err := access.Metadata.Volumes(ctx, page)
		if err != nil {
			return nil, err
		}
		all = append(all, names...)
		if !more || len(names) == 0 {
			return all, nil
		}
		page.After = names[len(names)-1]
	}
}

func (u *poolUse) newCreateVolume() *cobra.Command {
	return &cobra.Command{
		Use: "create-volume VOLUME", Short: "Make an empty volume", Args: positional("VOLUME"),
		Long:    "Make an empty volume: a name space of files, for one store or use.",
		Example: "  sluice pool create-volume backups",
		RunE: func(command *cobra.Command, arguments []string) error {
			return u.with(func(access *agent.PoolAccess) error {
				return access.Metadata.CreateVolume(command.Context(), arguments[0])
			})
		},
	}
}

func (u *poolUse) newRemoveVolume() *cobra.Command {
	return &cobra.Command{
		Use: "remove-volume VOLUME", Short: "Remove an empty volume", Args: positional("VOLUME"),
		Long:    "Remove a volume that has no files, no directories and no leases.",
		Example: "  sluice pool remove-volume backups",
		RunE: func(command *cobra.Command, arguments []string) error {
			return u.with(func(access *agent.PoolAccess) error {
				return access.Metadata.RemoveVolume(command.Context(), arguments[0])
			})
		},
	}
}

func (u *poolUse) newMakeDirectory() *cobra.Command {
	return &cobra.Command{
		Use: "make-directory VOLUME PATH", Short: "Make a directory", Args: positional("VOLUME", "PATH"),
		Long:    "Make a directory, unless there is one. The one that it is in must be there.",
		Example: "  sluice pool make-directory backups /2026",
		RunE: func(command *cobra.Command, arguments []string) error {
			return u.attached(command.Context(), arguments[0], func(session *files.Session) error {
				return session.MakeDirectory(command.Context(), arguments[1])
			})
		},
	}
}

func (u *poolUse) newPut() *cobra.Command {
	return &cobra.Command{
		Use: "put VOLUME FILE PATH", Short: "Copy a file of this host into the pool", Args: positional("VOLUME", "FILE", "PATH"),
		Long: "Copy a file of this host into the pool, in place of a file that has the path. It is on the disks of all its\n" +
			"servers when the command is done.",
		Example: "  sluice pool put backups dump.sql /dump.sql",
		RunE: func(command *cobra.Command, arguments []string) error {
			from, err := os.Open(arguments[1])
			if err != nil {
				return store.Invalidf("%w", err)
			}
			defer from.Close()
			return u.attached(command.Context(), arguments[0], func(session *files.Session) error {
				return putFile(command.Context(), session, arguments[2], from)
			})
		},
	}
}

// putFile writes beside the path first, so that what has the path stays until all of the new file is there.
func putFile(ctx context.Context, session *files.Session, path string, from io.Reader) error {
	beside := fmt.Sprintf("%s.put-%d", path, os.Getpid())
	if err := writeFile(ctx, session, beside, from); err != nil {
		removeErr := session.Remove(context.WithoutCancel(ctx), beside)
		if entry.ReasonOf(removeErr) == entry.NotFound {
			removeErr = nil
		}
		return errors.Join(err, removeErr)
	}
	return session.Rename(ctx, beside, path)
}

func writeFile(ctx context.Context, session *files.Session, path string, from io.Reader) error {
	writer, err := session.Create(ctx, path)
	if err != nil {
		return err
	}
	defer writer.Close()
	part := make([]byte, copyBytes)
	for {
		n, err := from.Read(part)
		if appendErr := writer.Append(part[:n]); appendErr != nil {
			return appendErr
		}
		if errors.Is(err, io.EOF) {
			return writer.Seal(ctx)
		}
		if err != nil {
			return err
		}
	}
}

func (u *poolUse) newGet() *cobra.Command {
	return &cobra.Command{
		Use: "get VOLUME PATH FILE", Short: "Copy a file of the pool to this host", Args: positional("VOLUME", "PATH", "FILE"),
		Long:    "Copy a file of the pool to a new file of this host. Of one that is being written, it copies what is on the disks.",
		Example: "  sluice pool get backups /dump.sql dump.sql",
		RunE: func(command *cobra.Command, arguments []string) error {
			return u.with(func(access *agent.PoolAccess) error {
				return getFile(command.Context(), u.view(access, arguments[0]), arguments[1], arguments[2])
			})
		},
	}
}

func getFile(ctx context.Context, view files.View, path, target string) error {
	reader, err := view.Open(ctx, path)
	if err != nil {
		return err
	}
	const readable = 0o644
	to, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, readable)
	if err != nil {
		return store.Invalidf("%w", err)
	}
	scanner := stripe.NewScanner(ctx, reader.Reader, 0)
	defer scanner.Close()
	_, err = io.Copy(to, scanner)
	if err = errors.Join(err, to.Close()); err != nil {
		return errors.Join(err, os.Remove(target))
	}
	return nil
}
