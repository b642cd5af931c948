"""Make a container image: the node base, or a store's packages on top of it.

The node image is Debian with systemd, sshd (keys only) and Python, made from this machine's own
apt sources. A store's image is that base plus the packages of `sluice-dist package`; it runs as a
node under systemd (`podman run IMAGE /sbin/init`), and on its own by its entry point (`podman run
IMAGE --help`). Images go to podman's local storage; no container registry is needed. The bill of
materials (SPDX) is in the image under /usr/share/sluice/sbom and beside it in .work/images/.

  sluice-dist image node                       localhost/sluice/node
  sluice-dist image postgres                   localhost/sluice/postgres:VERSION
  sluice-dist image postgres --variant stock   localhost/sluice/postgres:VERSION-stock
  sluice-dist image postgres --archive FILE    and an OCI archive of it
  sluice-dist image node --rebuild             again, with what Debian has today
"""

import argparse
from pathlib import Path

from sluice_dist.commands._arguments import add_output, print_json
from sluice_dist.container_runtime import ContainerRuntime, load_or_detect
from sluice_dist.images.buildah import export_archive, labels_of
from sluice_dist.images.node import NodeRecipe, build_node_image
from sluice_dist.images.store import build_store_image, image_epoch
from sluice_dist.layout import Layout
from sluice_dist.lock import only_one
from sluice_dist.release import VARIANTS, find_release
from sluice_dist.reproducible import source_date_epoch

NODE = "node"


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("target", metavar="node|STORE[/VERSION]", help="which image")
    parser.add_argument(
        "--variant", choices=VARIANTS, default="patched", help="of a store (default: patched)"
    )
    parser.add_argument("--rebuild", action="store_true", help="even if nothing changed")
    parser.add_argument("--archive", type=Path, metavar="FILE", help="write an OCI archive too")
    add_output(parser)


def run(arguments: argparse.Namespace, layout: Layout) -> int:
    """Build the image and print its name."""
    runtime = load_or_detect(layout.containers)
    layout.images.mkdir(parents=True, exist_ok=True)
    with only_one(layout.images / "lock"):
        reference = _build(arguments, layout, runtime)
    if arguments.archive:
        export_archive(runtime, reference, arguments.archive)
    if arguments.output == "json":
        print_json({"reference": reference, "labels": labels_of(runtime, reference)})
    else:
        print(reference)
    return 0


def _build(arguments: argparse.Namespace, layout: Layout, runtime: ContainerRuntime) -> str:
    """Build the node image, or a store's on a node image that is rebuilt only if it changed."""
    is_node = arguments.target == NODE
    release = None if is_node else find_release(layout, arguments.target, arguments.variant)
    node = NodeRecipe.load(layout.node_recipe)
    epoch = source_date_epoch(layout.root, layout.node_recipe)
    base = build_node_image(node, runtime, layout.images, epoch, arguments.rebuild and is_node)
    if release is None:
        return base
    return build_store_image(release, base, runtime, image_epoch(release), arguments.rebuild)
