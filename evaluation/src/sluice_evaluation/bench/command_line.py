"""Command line that measurements share: the version to measure, and text, JSON or a record."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sluice_evaluation import measurements, records
from sluice_evaluation.bench.staged import staged_labels
from sluice_evaluation.measurements import Figure
from sluice_evaluation.probes.fingerprint import fingerprint


@dataclass(frozen=True)
class Store:
    """The store that is measured: its folder's name, its own name, the version unless told."""

    name: str
    title: str
    default_version: str


def measurement_parser(store: Store, description: str | None) -> argparse.ArgumentParser:
    """A parser with the options of all measurements, to which a measurement adds its own."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--version",
        default=store.default_version,
        help=f"of {store.title} (default: %(default)s)",
    )
    parser.add_argument(
        "-o", "--output", choices=["text", "json"], default="text", help="(default: %(default)s)"
    )
    parser.add_argument(
        "--record",
        type=Path,
        metavar="RESULTS",
        help="also keep the figures below this folder of results, for the report",
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 when a figure is out of bounds"
    )
    parser.set_defaults(store=store, started_at=records.utc(time.time()))
    return parser


def at_least(minimum: int) -> Callable[[str], int]:
    """Type of an option: a whole number that is not below the minimum."""

    def whole_number(text: str) -> int:
        if int(text) < minimum:
            raise argparse.ArgumentTypeError(f"give at least {minimum}, not {text}")
        return int(text)

    return whole_number


def report(
    args: argparse.Namespace,
    name: str,
    title: str,
    figures: Sequence[Figure],
    labels: dict[str, str] | None = None,
) -> None:
    """Print the figures beside their bounds, and keep them when --record asks for it.

    Labels are those of the store's staged build, unless something else was measured. SystemExit
    when --strict is given and one is out of bounds.
    """
    document = _document(args, name, title, figures, labels)
    if args.output == "json":
        print(json.dumps(document, indent=2))
    else:
        print(f"{title}, {args.store.title} {args.version}")
        _print_table(figures)
    if args.record:
        print(measurements.write(args.record, document), file=sys.stderr)
    outside = [figure.quantity for figure in figures if figure.is_outside]
    if args.strict and outside:
        raise SystemExit(f"out of bounds: {'; '.join(outside)}")


def _print_table(figures: Sequence[Figure]) -> None:
    width = max(len(figure.quantity) for figure in figures)
    for figure in figures:
        bound = f"   {figure.status}: {figure.expected_text}" if figure.status else ""
        print(f"  {figure.quantity:{width}}  {figure.value_text}{bound}")


def _document(
    args: argparse.Namespace,
    name: str,
    title: str,
    figures: Sequence[Figure],
    labels: dict[str, str] | None,
) -> dict[str, object]:
    return {
        "schema_version": 1,
        "store": args.store.name,
        "version": args.version,
        "name": name,
        "title": title,
        "command": _command(),
        "started_at": args.started_at,
        "ended_at": records.utc(time.time()),
        "environment": fingerprint(),
        "software": {"labels": labels or staged_labels(f"{args.store.name}/{args.version}")},
        "figures": measurements.figures_document(figures),
    }


def _command() -> str:
    """This command, from the top of the checkout."""
    program = Path(sys.argv[0]).resolve()
    top = next(folder for folder in program.parents if (folder / "plugins").is_dir())
    return shlex.join(["python", str(program.relative_to(top)), *sys.argv[1:]])
