"""Command line that the measurements share: the version to measure, and text or JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable


def measurement_parser(description: str | None) -> argparse.ArgumentParser:
    """A parser with --version and --output, to which a measurement adds its own options."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--version", default="17.11", help="of PostgreSQL (default: %(default)s)")
    parser.add_argument(
        "-o", "--output", choices=["text", "json"], default="text", help="(default: %(default)s)"
    )
    return parser


def at_least(minimum: int) -> Callable[[str], int]:
    """Type of an option: a whole number that is not below the minimum."""

    def whole_number(text: str) -> int:
        if int(text) < minimum:
            raise argparse.ArgumentTypeError(f"give at least {minimum}, not {text}")
        return int(text)

    return whole_number


def print_figures(output: str, figures: dict, print_text: Callable[[dict], None]) -> None:
    """Print figures as --output asks for."""
    if output == "json":
        print(json.dumps(figures, indent=2))
    else:
        print_text(figures)
