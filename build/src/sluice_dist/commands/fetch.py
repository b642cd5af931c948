"""Get the pinned source archive into the cache, from the first place that has it.

The places are the [[source]] entries of upstream.toml, in order. What is in the cache already is
only checked. Only the pinned content will do: a different file is an error, whatever its version.
"""

import argparse

from sluice_dist.archive import fetch_archive
from sluice_dist.commands._arguments import add_output, add_release, named_release, print_json
from sluice_dist.layout import Layout


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_release(parser)
    add_output(parser)


def run(arguments: argparse.Namespace, layout: Layout) -> int:
    """Fetch and print where the archive is."""
    upstream = named_release(arguments, layout).upstream
    archive = fetch_archive(upstream, layout)
    if arguments.output == "json":
        print_json({"archive": str(archive), "sha256": upstream.sha256})
    else:
        print(archive)
    return 0
