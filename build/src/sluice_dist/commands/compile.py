"""Build a release and its plug-in out of tree, and stage them; nothing happens if unchanged.

What is built is the series in patches/, not the worktree: `export` first. The staged tree runs in
place, below .work/stage/STORE/. Compiled files are kept by ccache, if it is installed.
"""

import argparse

from sluice_dist.commands._arguments import add_release, add_testing, named_release
from sluice_dist.compilation import Compilation
from sluice_dist.layout import Layout


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_release(parser, variant=True)
    add_testing(parser)
    parser.add_argument("-j", "--jobs", type=int, help="jobs at a time (default: one per core)")


def run(arguments: argparse.Namespace, layout: Layout) -> int:
    """Compile and print the staged prefix."""
    print(Compilation(named_release(arguments, layout), arguments.jobs).run())
    return 0
