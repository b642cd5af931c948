"""List the stores and versions that have a series."""

import argparse

from sluice_dist.commands._arguments import add_output, print_json
from sluice_dist.layout import Layout
from sluice_dist.release import find_release, stores, versions


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_output(parser)


def run(arguments: argparse.Namespace, layout: Layout) -> int:
    """Print one line per release; `*` marks the default version of its store."""
    rows = [
        _row(layout, store, version)
        for store in stores(layout)
        for version in versions(layout, store)
    ]
    if arguments.output == "json":
        print_json(rows)
        return 0
    for row in rows:
        mark = "*" if row["default"] else " "
        print(f"{mark} {row['store']}/{row['version']}  {row['patches']} patches")
    return 0


def _row(layout: Layout, store: str, version: str) -> dict[str, object]:
    release = find_release(layout, f"{store}/{version}")
    return {
        "store": store,
        "version": version,
        "default": find_release(layout, store).version == version,
        "patches": len(release.patch_files),
    }
