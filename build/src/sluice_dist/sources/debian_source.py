"""A file of a Debian source package, through the machine's own apt configuration.

The suite that holds the file is found by its name and sha256: first the machine's own suites, then
the others of the same archives. The system's apt lists are neither needed nor touched.
"""

import sys
from pathlib import Path
from typing import Any

from sluice_dist.apt_entries import Archive, machine_archives
from sluice_dist.layout import Layout
from sluice_dist.private_apt import AptFailure, PrivateApt, SourceFile
from sluice_dist.sources import Unavailable
from sluice_dist.upstream import SourceArchive

KEYS = ("package", "file")
# The names that move come first, as they outlive this list; mirrors without them have the others.
SUITES = ("stable", "testing", "unstable", "oldstable", "trixie", "forky", "sid", "bookworm")


def describe(place: dict[str, Any]) -> str:
    """Name the place."""
    return f"Debian source package {place['package']}, file {place['file']}"


def fetch(place: dict[str, Any], archive: SourceArchive, destination: Path, layout: Layout) -> None:
    """Download the file of that name and sha256 to DESTINATION."""
    apt, found = _find(place, archive.sha256, layout)
    try:
        apt.download(found, destination)
    except AptFailure as failure:
        raise Unavailable(str(failure)) from None


def find_sha256(place: dict[str, Any], layout: Layout) -> str:
    """Give the sha256 that Debian's signed source index has for the file; raises Unavailable."""
    _, found = _find(place, None, layout)
    return found.sha256


def _find(
    place: dict[str, Any], sha256: str | None, layout: Layout
) -> tuple[PrivateApt, SourceFile]:
    """Look through suites until one holds the file; without SHA256 any content will do."""
    archives = machine_archives()
    if not archives:
        raise Unavailable("apt on this machine is configured with no Debian archive")
    reasons = []
    indexed: set[tuple[str, str]] = set()
    for archive, suite in candidates(archives):
        if (archive.uri, suite) in indexed:
            continue
        apt = PrivateApt(layout.apt, archive, suite)
        print(f"  reading source index of Debian {suite} at {archive.uri}", file=sys.stderr)
        try:
            names = apt.update()
        except AptFailure as failure:
            reasons.append(f"{suite}: {failure}")
            continue
        indexed |= {(archive.uri, name) for name in names}
        found = [file for file in apt.files(place["package"]) if file.name == place["file"]]
        for file in found:
            if sha256 in (None, file.sha256):
                return apt, file
        reasons.append(f"{suite}: " + (f"sha256 {found[0].sha256}" if found else "not there"))
    raise Unavailable("not in any suite tried (" + "; ".join(reasons) + ")")


def candidates(archives: list[Archive]) -> list[tuple[Archive, str]]:
    """Order what to try: the machine's own suites, then the other suites of the same archives."""
    own = [(archive, suite) for archive in archives for suite in archive.suites]
    others = [
        (archive, suite + suffix)
        for suite in SUITES
        for archive in archives
        for suffix in archive.suffixes()
    ]
    return list(dict.fromkeys(own + others))
