"""Make the Debian packages of a release, and check them with lintian.

What is not compiled, or has changed since, is compiled first. The packages install below
/opt/sluice, beside any other version or variant, with a systemd unit for instances. They go to
.work/packages/, where they replace earlier builds of the same names; the same input gives the
same bytes.

  sluice-dist package postgres
  sluice-dist package postgres --variant stock
  sluice-dist package postgres -o json        names and files for scripts
"""

import argparse

from sluice_dist.commands._arguments import add_output, add_release, named_release, print_json
from sluice_dist.compilation import Compilation
from sluice_dist.layout import Layout
from sluice_dist.packages.debian import build_packages


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_release(parser, variant=True)
    parser.add_argument("--rebuild", action="store_true", help="even if nothing changed")
    add_output(parser)


def run(arguments: argparse.Namespace, layout: Layout) -> int:
    """Build the packages and print their paths."""
    release = named_release(arguments, layout)
    Compilation(release).run()
    packages = build_packages(release, arguments.rebuild)
    if arguments.output == "json":
        print_json([{"name": p.name.partition("_")[0], "file": str(p)} for p in packages])
    else:
        print("\n".join(map(str, packages)))
    return 0
