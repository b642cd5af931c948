"""Arguments that several commands share."""

import argparse
import json
from typing import Any

from sluice_dist.layout import Layout
from sluice_dist.release import VARIANTS, Release, find_release


def add_release(parser: argparse.ArgumentParser, variant: bool = False) -> None:
    """Add STORE[/VERSION], and --variant where the command treats the variants apart."""
    parser.add_argument(
        "release",
        metavar="STORE[/VERSION]",
        help="e.g. postgres/17.11; without a version the newest of the oldest major version",
    )
    if variant:
        parser.add_argument(
            "--variant",
            choices=VARIANTS,
            default="patched",
            help="with the series and the plug-in, or as upstream released it (default: patched)",
        )


def add_testing(parser: argparse.ArgumentParser) -> None:
    """Add --testing."""
    parser.add_argument(
        "--testing",
        action="store_true",
        help="the build with upstream's test support, kept apart as VERSION-testing",
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add -o json."""
    parser.add_argument(
        "-o",
        "--output",
        choices=("text", "json"),
        default="text",
        help="json is for scripts (default: text)",
    )


def named_release(arguments: argparse.Namespace, layout: Layout) -> Release:
    """Find the release that the arguments name."""
    return find_release(
        layout,
        arguments.release,
        getattr(arguments, "variant", "patched"),
        getattr(arguments, "testing", False),
    )


def print_json(value: Any) -> None:
    """Print VALUE for scripts."""
    print(json.dumps(value, indent=2))
