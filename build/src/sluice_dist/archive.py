"""Gets a pinned archive into the cache, and unpacks it."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from sluice_dist.errors import DistError
from sluice_dist.layout import Layout
from sluice_dist.lock import only_one
from sluice_dist.sources import Unavailable, kind_of, place_faults
from sluice_dist.upstream import Upstream


def fetch_archive(upstream: Upstream, layout: Layout) -> Path:
    """Give the archive in the cache, from the first place that has it.

    Raises DistError for a file that is not the pinned one, and if no place has it.
    """
    archive = layout.archives / upstream.archive
    layout.archives.mkdir(parents=True, exist_ok=True)
    # Checkouts share the cache: who comes second finds what the first one fetched.
    with only_one(layout.cache / "fetch.lock"):
        if not archive.exists():
            return _fetch_from_any(upstream, layout, archive)
    _check(archive, upstream, str(archive), f"delete {archive} and fetch again")
    return archive


def _fetch_from_any(upstream: Upstream, layout: Layout, archive: Path) -> Path:
    failures = []
    for place in upstream.sources:
        faults = place_faults(place)
        if faults:
            raise DistError("; ".join(faults), "correct upstream.toml; see docs/sluice-dist.md")
        name = kind_of(place).describe(place)
        print(f"fetching {upstream.archive} from {name}", file=sys.stderr)
        try:
            return _fetch_from(place, upstream, layout, archive)
        except Unavailable as error:
            print(f"  not to be had there: {error}", file=sys.stderr)
            failures.append(f"\n  {name}: {error}")
    raise DistError(
        f"no place has {upstream.archive} (sha256 {upstream.sha256}):{''.join(failures)}",
        f"put the file there yourself, as {archive}, or add a [[source]] to upstream.toml",
    )


def _fetch_from(place: dict, upstream: Upstream, layout: Layout, archive: Path) -> Path:
    kind = kind_of(place)
    part = layout.archives / f".{upstream.archive}.{os.getpid()}.part"
    try:
        kind.fetch(place, upstream, part, layout)
        advice = (
            "if upstream replaced the file, look at what changed and pin the new sha256; "
            f"else get the right file from elsewhere and put it there as {archive}"
        )
        _check(part, upstream, f"{upstream.archive} from {kind.describe(place)}", advice)
        part.replace(archive)
    finally:
        part.unlink(missing_ok=True)
    return archive


def _check(file: Path, upstream: Upstream, name: str, advice: str) -> None:
    with file.open("rb") as content:
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
    if sha256 != upstream.sha256:
        raise DistError(
            f"{name} is not the pinned file:\n  sha256 expected {upstream.sha256}\n"
            f"  sha256 got      {sha256}",
            advice,
        )


def unpack(archive: Path, upstream: Upstream, destination: Path) -> Path:
    """Unpack ARCHIVE below DESTINATION and give the folder that holds the source."""
    destination.mkdir(parents=True, exist_ok=True)
    if archive.suffix in (".zip", ".jar"):
        shutil.unpack_archive(archive, destination, "zip")
    else:
        command = ["tar", "--extract", "--no-same-owner", "--file", str(archive)]
        subprocess.run([*command, "--directory", str(destination)], check=True)
    if upstream.root:
        return destination / upstream.root
    folders = list(destination.iterdir())
    if len(folders) != 1 or not folders[0].is_dir():
        names = ", ".join(sorted(folder.name for folder in folders)) or "nothing"
        raise DistError(
            f"{archive.name} holds more than one thing: {names}",
            "name the folder of the source as 'root' in upstream.toml ('.' for the archive itself)",
        )
    return folders[0]


def temporary_folder(layout: Layout) -> tempfile.TemporaryDirectory:
    """Make a folder in the checkout's state, so that a rename out of it stays on one disk."""
    layout.work.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=layout.work, prefix="tmp-")
