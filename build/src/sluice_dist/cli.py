"""The command line: finds the modules of `sluice_dist.commands` and runs the one asked for."""

import argparse
import importlib
import inspect
import pkgutil
import signal
import sys
from pathlib import Path
from types import ModuleType

from sluice_dist import commands
from sluice_dist.errors import DistError
from sluice_dist.layout import Layout

DESCRIPTION = """\
Carries patch series on pinned upstream sources, and builds, tests and packages the result.

A series lives in patches/STORE/VERSION/: upstream.toml pins the source, NNNN-*.patch are the
patches. To change a series:

  sluice-dist checkout postgres       one commit per patch, in a git worktree
  (edit, commit, amend, rebase there with plain git)
  sluice-dist export postgres         write the commits back as patches
  sluice-dist lint postgres           check them
  sluice-dist compile postgres        build and stage store and plug-in
  sluice-dist test postgres           run upstream's own tests on it
"""

EPILOG = "docs/sluice-dist.md has the patch format and the lint rules."


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 is success, 1 a failure that was reported, 2 wrong usage."""
    _end_by_signals()
    parsed = _parser().parse_args(arguments)
    try:
        return parsed.run(parsed, Layout.find(parsed.root))
    except DistError as error:
        print(f"sluice-dist: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("sluice-dist: interrupted", file=sys.stderr)
        return 130


def _end_by_signals() -> None:
    """Have scripts that run in a process group of their own ended, too."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        # Under `nohup` the end of the terminal is none.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: sys.exit(128 + number))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sluice-dist",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--root", type=Path, help="the checkout to work on (default: this one)")
    added = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, command in _commands().items():
        _add_command(added, name, command)
    return parser


def _commands() -> dict[str, ModuleType]:
    names = [found.name for found in pkgutil.iter_modules(commands.__path__)]
    return {
        name: importlib.import_module(f"{commands.__name__}.{name}")
        for name in names
        if not name.startswith("_")
    }


def _add_command(added, name: str, command: ModuleType) -> None:
    text = inspect.getdoc(command) or ""
    parser = added.add_parser(
        name,
        help=text.partition("\n")[0].rstrip("."),
        description=text,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_parser(parser)
    parser.set_defaults(run=command.run)
