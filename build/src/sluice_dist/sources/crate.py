"""A crate of the registry that the machine's own cargo is configured with."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from sluice_dist.layout import Layout
from sluice_dist.reproducible import file_sha256
from sluice_dist.sources import Unavailable
from sluice_dist.upstream import SourceArchive

KEYS = ("crate", "version")


def describe(place: dict[str, Any]) -> str:
    """Name the place."""
    return f"crate {place['crate']} {place['version']}"


def fetch(place: dict[str, Any], archive: SourceArchive, destination: Path, layout: Layout) -> None:
    """Let cargo download the crate, and copy it to DESTINATION."""
    shutil.copyfile(_downloaded(place, destination.parent), destination)


def find_sha256(place: dict[str, Any], layout: Layout) -> str:
    """Give the sha256 of the crate, which cargo compares with the registry's index."""
    layout.work.mkdir(parents=True, exist_ok=True)
    print(f"  resolving {describe(place)}", file=sys.stderr)
    return file_sha256(_downloaded(place, layout.work))


def _downloaded(place: dict[str, Any], beside: Path) -> Path:
    """Give the crate in cargo's cache; unlike `fetch`, `info` gets none of those that it needs."""
    with tempfile.TemporaryDirectory(dir=beside, prefix=".cargo-") as folder:
        command = ["cargo", "info", "--color=never", f"{place['crate']}@{place['version']}"]
        try:
            # In a folder without a project: the crate of another one would be shown.
            done = subprocess.run(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
        except FileNotFoundError:
            raise Unavailable("there is no cargo here; build/bootstrap installs it") from None
    if done.returncode != 0:
        raise Unavailable(_reason(done.stderr))
    return _cached(f"{place['crate']}-{place['version']}.crate")


def _cached(name: str) -> Path:
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    found = sorted(home.glob(f"registry/cache/*/{name}"), key=lambda file: file.stat().st_mtime)
    if not found:
        raise Unavailable(f"cargo knows it, and has no {name} below {home}/registry/cache")
    return found[-1]


def _reason(output: str) -> str:
    """Give what cargo says of its first error."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for line in lines:
        if match := re.match(r"error: (.+)", line):
            return match[1]
    return "cargo failed: " + (lines or ["it said nothing"])[-1]
