package cli

import (
	"context"
	"path"

	"github.com/spf13/cobra"

	"sluice.dev/control/internal/pool/files"
	"sluice.dev/control/internal/pool/metadata/entry"
)

const removeLong = `Remove a file or an empty directory. Blocks of files that no path has any more are removed soon after.

With --recursive a directory goes with all that is in it, and of / all goes that the volume has.`

func (u *poolUse) newRemove() *cobra.Command {
	var recursive bool
	command := &cobra.Command{
		Use: "remove VOLUME PATH", Short: "Remove a file or a directory", Args: positional("VOLUME", "PATH"),
		Long: removeLong,
		Example: `  sluice pool remove backups /dump.sql
  sluice pool remove --recursive backups /2026`,
		RunE: func(command *cobra.Command, arguments []string) error {
			return u.attached(command.Context(), arguments[0], func(session *files.Session) error {
				if recursive {
					return removeTree(command.Context(), session, arguments[1])
				}
				return removeOne(command.Context(), session, arguments[1])
			})
		},
	}
	command.Flags().BoolVarP(&recursive, "recursive", "r", false, "remove a directory with all that is in it")
	return command
}

func removeOne(ctx context.Context, session *files.Session, name string) error {
	file, err := session.Stat(ctx, name)
	if err != nil {
		return err
	}
	if file == nil {
		return session.RemoveDirectory(ctx, name)
	}
	return session.Remove(ctx, name)
}

func removeTree(ctx context.Context, session *files.Session, name string) error {
	file, err := session.Stat(ctx, name)
	if err != nil {
		return err
	}
	if file != nil {
		return session.Remove(ctx, name)
	}
	entries, err := session.List(ctx, name)
	if err != nil {
		return err
	}
	for _, found := range entries {
		if err := removeTree(ctx, session, path.Join(name, found.Name)); err != nil {
			return err
		}
	}
	if name == entry.Root {
		return nil
	}
	return session.RemoveDirectory(ctx, name)
}
