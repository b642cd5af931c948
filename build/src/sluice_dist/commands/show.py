"""Show the paths, hashes and labels of a release, for scripts that would else guess them."""

import argparse

from sluice_dist.commands._arguments import (
    add_output,
    add_release,
    add_testing,
    named_release,
    print_json,
)
from sluice_dist.layout import Layout
from sluice_dist.release import Release


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_release(parser, variant=True)
    add_testing(parser)
    add_output(parser)


def run(arguments: argparse.Namespace, layout: Layout) -> int:
    """Print the facts of one release."""
    facts = describe(named_release(arguments, layout))
    if arguments.output == "json":
        print_json(facts)
        return 0
    for name, value in facts.items():
        print(f"{name}: {value}")
    return 0


def describe(release: Release) -> dict[str, object]:
    """Give the facts of RELEASE by name; paths are absolute."""
    return {
        "store": release.store,
        "version": release.version,
        "variant": release.variant,
        "testing": release.testing,
        "label": release.label,
        "licence": release.upstream.licence,
        "archives": [
            str(release.layout.archives / archive.name) for archive in release.upstream.archives
        ],
        "source_sha256": release.upstream.sha256,
        "series": [str(patch) for patch in release.series],
        "series_sha256": release.series_sha256,
        "plugin": str(release.plugin),
        "plugin_sha256": release.plugin_sha256,
        "recipe": str(release.layout.recipe(release.store)),
        "worktree": str(release.worktree),
        "build": str(release.build),
        "prefix": str(release.prefix),
        "stage": str(release.stage),
        "staged_prefix": str(release.staged_prefix),
        "plugin_stage": str(release.plugin_stage),
        "labels": release.labels(),
        "staged_labels": release.staged_labels(),
    }
