"""An artifact of a Maven repository, through the machine's own Maven and its settings."""

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

KEYS = ("artifact",)
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
# Plain text also on a terminal, as the reason is taken from it.
_COMMAND = ("mvn", "--batch-mode", "--strict-checksums", "-Dstyle.color=never", f"{PLUGIN}:copy")


def describe(place: dict[str, Any]) -> str:
    """Name the place."""
    return f"Maven artifact {place['artifact']}"


def fetch(place: dict[str, Any], archive: SourceArchive, destination: Path, layout: Layout) -> None:
    """Let Maven resolve the artifact, and put it at DESTINATION."""
    _copy(place, destination)


def find_sha256(place: dict[str, Any], layout: Layout) -> str:
    """Give the sha256 of the artifact, which Maven compares with the repository's checksum."""
    layout.work.mkdir(parents=True, exist_ok=True)
    print(f"  resolving {place['artifact']}", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=layout.work, prefix="tmp-") as folder:
        found = Path(folder) / "artifact"
        _copy(place, found)
        return file_sha256(found)


def _copy(place: dict[str, Any], destination: Path) -> None:
    with tempfile.TemporaryDirectory(dir=destination.parent, prefix=".maven-") as folder:
        options = [f"-Dartifact={place['artifact']}", f"-DoutputDirectory={folder}/copied"]
        try:
            # In a folder without a project: the pom.xml of another one would be read.
            done = subprocess.run(
                [*_COMMAND, *options],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
        except FileNotFoundError:
            raise Unavailable("there is no mvn here; build/bootstrap installs it") from None
        if done.returncode != 0:
            raise Unavailable(_reason(done.stdout + done.stderr))
        copied = list((Path(folder) / "copied").iterdir())
        if len(copied) != 1:
            raise Unavailable(f"Maven copied {len(copied)} files instead of one")
        shutil.move(copied[0], destination)


def _reason(output: str) -> str:
    """Give Maven's first error without the advice that comes with it."""
    for line in output.splitlines():
        if match := re.match(r"\[ERROR\] (.+)", line):
            return re.split(r" -> \[Help", match[1])[0].strip()
    return "Maven failed: " + (output.strip().splitlines() or ["it said nothing"])[-1]
