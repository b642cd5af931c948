"""Get the pinned source archives into the cache, each from the first place that has it.

The places are the [[source]] entries of upstream.toml, in order; for a [[module]] it is Maven. What
is in the cache already is only checked. Only the pinned content will do: a different file is an
error, whatever its version.
"""

import argparse

from sluice_dist.archive import fetch_archives
from sluice_dist.commands._arguments import add_output, add_release, named_release, print_json
from sluice_dist.layout import Layout


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_release(parser)
    add_output(parser)


def run(arguments: argparse.Namespace, layout: Layout) -> int:
    """Fetch and print where the archives are."""
    upstream = named_release(arguments, layout).upstream
    files = fetch_archives(upstream, layout)
    if arguments.output == "json":
        pairs = zip(files, upstream.archives, strict=True)
        print_json([{"archive": str(file), "sha256": pin.sha256} for file, pin in pairs])
    else:
        print(*files, sep="\n")
    return 0
