"""Make the node image.

The node image is Debian with systemd, sshd (keys only) and Python. It is made from this machine's
own apt sources, needs no container registry, and goes to podman's local storage. Its bill of
materials (SPDX) is in the image under /usr/share/sluice/sbom and beside it in .work/images/.

  sluice-dist image node              localhost/sluice/node, unless its recipe is unchanged
  sluice-dist image node --rebuild    again, with what Debian has today
"""

import argparse

from sluice_dist.commands._arguments import add_output, print_json
from sluice_dist.container_runtime import load_or_detect
from sluice_dist.images.buildah import labels_of
from sluice_dist.images.node import NodeRecipe, build_node_image
from sluice_dist.layout import Layout
from sluice_dist.reproducible import source_date_epoch


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("target", choices=["node"], help="which image")
    parser.add_argument("--rebuild", action="store_true", help="even if the recipe is unchanged")
    add_output(parser)


def run(arguments: argparse.Namespace, layout: Layout) -> int:
    """Build the image and print its name."""
    runtime = load_or_detect(layout.containers)
    recipe = NodeRecipe.load(layout.node_recipe)
    epoch = source_date_epoch(layout.root, layout.node_recipe)
    reference = build_node_image(recipe, runtime, layout.images, epoch, arguments.rebuild)
    if arguments.output == "json":
        print_json({"reference": reference, "labels": labels_of(runtime, reference)})
    else:
        print(reference)
    return 0
