"""Make the Debian package of the control plane, and check it with lintian.

The package holds the program `sluice` (agent, controller, command line), units for agent and
controller, manual pages and completions. It goes to .work/packages/. The same input gives the same
bytes; nothing is done if nothing changed.

  sluice-dist control
  sluice-dist control -o json         name and file for scripts
"""

import argparse

from sluice_dist.commands._arguments import add_output, print_json
from sluice_dist.control_plane import NAME, build_control_package
from sluice_dist.layout import Layout


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--rebuild", action="store_true", help="even if nothing changed")
    add_output(parser)


def run(arguments: argparse.Namespace, layout: Layout) -> int:
    """Build the package and print its path."""
    package = build_control_package(layout, arguments.rebuild)
    if arguments.output == "json":
        print_json([{"name": NAME, "file": str(package)}])
    else:
        print(package)
    return 0
