"""Find a container runtime that works on this machine, and say which.

Tries podman with each OCI runtime, with and without default resource limits, by running a
container with CPU and memory limits, and writes the first configuration that works to
.work/containers/. Call podman and buildah with the variables under "environment" of -o json:

  sluice-dist runtime                 what works here, and what was tried before it
  sluice-dist runtime -o json         the same for scripts
  sluice-dist runtime --detect        try again, after the machine changed
"""

import argparse

from sluice_dist.commands._arguments import add_output, print_json
from sluice_dist.container_runtime import ContainerRuntime, detect, load_or_detect
from sluice_dist.layout import Layout


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--detect", action="store_true", help="do not trust an earlier result")
    add_output(parser)


def run(arguments: argparse.Namespace, layout: Layout) -> int:
    """Print the runtime."""
    find = detect if arguments.detect else load_or_detect
    found = find(layout.containers)
    if arguments.output == "json":
        print_json(found.described())
    else:
        print(_describe(found))
    return 0


def _describe(found: ContainerRuntime) -> str:
    conf = found.containers_conf or "the machine's own"
    lines = [
        f"runtime: podman {found.podman_version} with {found.oci_runtime}",
        f"configuration: {conf}",
    ]
    lines += [f"rejected: {entry['candidate']}: {entry['error']}" for entry in found.rejected]
    return "\n".join(lines)
