"""Move a series to a new upstream version, in a worktree to finish with plain git.

Pins the new version in patches/STORE/NEW_VERSION/upstream.toml (its sha256 comes from a source
index, or from --sha256), and applies the series to it with three-way merges. Per patch it says:
  clean      applied as it is (line numbers may have moved)
  merged     applied by a three-way merge; look at it
  conflicts  by file, with the number of hunks; resolve in the worktree
  pending    comes after the conflict; `git am --continue` goes on with it
When all are applied, `sluice-dist export STORE/NEW_VERSION` writes the new series.
"""

import argparse
from dataclasses import asdict

from sluice_dist.commands._arguments import add_output, add_release, named_release, print_json
from sluice_dist.layout import Layout
from sluice_dist.rebasing import PatchOutcome, apply_series, pin
from sluice_dist.release import Release


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_release(parser)
    parser.add_argument("new_version", metavar="NEW_VERSION", help="e.g. 18.6")
    parser.add_argument("--sha256", help="of the new archive, as upstream publishes it")
    add_output(parser)


def run(arguments: argparse.Namespace, layout: Layout) -> int:
    """Rebase and print how each patch fared; the status is 1 if there is a conflict."""
    release = named_release(arguments, layout)
    new = pin(release, arguments.new_version, arguments.sha256)
    outcomes = apply_series(release, new)
    conflict = any(outcome.state == "conflicts" for outcome in outcomes)
    if arguments.output == "json":
        patches = [asdict(outcome) for outcome in outcomes]
        print_json({"worktree": str(new.worktree), "patches": patches})
    else:
        _print(outcomes, new, conflict)
    return 1 if conflict else 0


def _print(outcomes: list[PatchOutcome], new: Release, conflict: bool) -> None:
    for outcome in outcomes:
        print(f"{outcome.state:9}  {outcome.patch}")
        for file, hunks in outcome.conflicts.items():
            print(f"             {file}: {hunks} hunk{'s' if hunks != 1 else ''}")
        if outcome.message:
            print(outcome.message)
    export = f"sluice-dist export {new.store}/{new.version}"
    if conflict:
        print(
            f"resolve in {new.worktree}:\n  edit the files, `git add` them, `git am --continue`,\n"
            f"  then {export}"
        )
    else:
        print(f"look at the commits in {new.worktree}, then {export}")
