"""Make a git worktree of the source with one commit per patch.

The worktree is .work/upstream/STORE/VERSION. Edit, commit, amend and rebase there with plain git
(the pristine source is the tag upstream/VERSION), then write the commits back with `export`.
A worktree that holds work which is not exported is left alone.
"""

import argparse

from sluice_dist.commands._arguments import add_release, named_release
from sluice_dist.layout import Layout
from sluice_dist.worktrees import check_out


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_release(parser, variant=True)
    parser.add_argument(
        "--discard", action="store_true", help="lose what the worktree holds and is not exported"
    )


def run(arguments: argparse.Namespace, layout: Layout) -> int:
    """Check out and print where."""
    print(check_out(named_release(arguments, layout), arguments.discard))
    return 0
