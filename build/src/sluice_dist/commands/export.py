"""Write the commits of the worktree back as the series, one patch per commit.

The same commits give the same bytes on every machine: nothing of git's settings, version or commit
names goes into a patch. Author and date are the commit's; the committer is not kept.
"""

import argparse

from sluice_dist.commands._arguments import add_release, named_release
from sluice_dist.layout import Layout
from sluice_dist.worktrees import export


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_release(parser)


def run(arguments: argparse.Namespace, layout: Layout) -> int:
    """Export and print what changed."""
    release = named_release(arguments, layout)
    for patch in export(release):
        print(("wrote " if patch.exists() else "removed ") + str(patch.relative_to(layout.root)))
    print(f"{release.store}/{release.version}: {len(release.patch_files)} patches")
    return 0
