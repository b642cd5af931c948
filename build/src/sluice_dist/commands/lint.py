"""Check series: format, justification, fields, size, and that they apply exactly and round-trip.

Each finding names its rule, the file and what to do. The exit status is 1 if there are any.
The rules applies-exactly and round-trip need the upstream source, and fetch it.
"""

import argparse
from dataclasses import asdict

from sluice_dist.commands._arguments import add_output, print_json
from sluice_dist.layout import Layout
from sluice_dist.lint_rules import RULES, Finding, findings
from sluice_dist.lint_source import source_findings
from sluice_dist.release import Release, find_release, stores, versions


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "releases", nargs="*", metavar="STORE[/VERSION]", help="what to check (default: all)"
    )
    add_output(parser)


def run(arguments: argparse.Namespace, layout: Layout) -> int:
    """Check and print the findings."""
    names = arguments.releases or [
        f"{store}/{version}" for store in stores(layout) for version in versions(layout, store)
    ]
    releases = [find_release(layout, name) for name in names]
    found = [finding for release in releases for finding in lint(release)]
    if arguments.output == "json":
        print_json([{**asdict(finding), "file": str(finding.file)} for finding in found])
        return 1 if found else 0
    for finding in found:
        print(f"{finding.file.relative_to(layout.root)}: {finding.rule}: {finding.message}")
    for release in releases:
        print(f"{release.store}/{release.version}: {len(release.patch_files)} patches checked")
    return 1 if found else 0


def lint(release: Release) -> list[Finding]:
    """Give all findings of one release; a bad upstream.toml ends it before the source is needed."""
    found = findings(release, RULES)
    if any(finding.rule == "upstream-complete" for finding in found):
        return found
    return found + source_findings(release)
