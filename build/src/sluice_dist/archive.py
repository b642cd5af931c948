"""Gets the pinned archives into the cache, and unpacks them."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from sluice_dist.errors import DistError
from sluice_dist.layout import Layout
from sluice_dist.lock import only_one
from sluice_dist.maven_module import lay_out
from sluice_dist.reproducible import file_sha256
from sluice_dist.sources import Unavailable, kind_of, place_faults
from sluice_dist.upstream import SourceArchive, Upstream


def fetch_archives(upstream: Upstream, layout: Layout) -> list[Path]:
    """Give the archives in the cache, each from the first place that has it.

    Raises DistError for a file that is not the pinned one, and if no place has it.
    """
    return [_fetch(archive, layout) for archive in upstream.archives]


def unpack_source(upstream: Upstream, layout: Layout, destination: Path) -> Path:
    """Fetch and unpack UPSTREAM below DESTINATION; gives the folder that holds the source."""
    destination.mkdir(parents=True, exist_ok=True)
    folder = destination
    for archive, file in zip(upstream.archives, fetch_archives(upstream, layout), strict=True):
        if archive.module:
            lay_out(file, archive, destination)
        else:
            folder = _unpack(file, archive, destination)
    return folder


def _fetch(archive: SourceArchive, layout: Layout) -> Path:
    file = layout.archives / archive.name
    layout.archives.mkdir(parents=True, exist_ok=True)
    # Checkouts share the cache: who comes second finds what the first one fetched.
    with only_one(layout.cache / "fetch.lock"):
        if not file.exists():
            return _fetch_from_any(archive, layout, file)
    _check(file, archive, str(file), f"delete {file} and fetch again")
    return file


def _fetch_from_any(archive: SourceArchive, layout: Layout, file: Path) -> Path:
    failures = []
    for place in archive.sources:
        faults = place_faults(place)
        if faults:
            raise DistError("; ".join(faults), "correct upstream.toml; see docs/sluice-dist.md")
        name = kind_of(place).describe(place)
        print(f"fetching {archive.name} from {name}", file=sys.stderr)
        try:
            return _fetch_from(place, archive, layout, file)
        except Unavailable as error:
            print(f"  not to be had there: {error}", file=sys.stderr)
            failures.append(f"\n  {name}: {error}")
    other = "let Maven's settings name a repository that has it"
    other = other if archive.module else "add a [[source]] to upstream.toml"
    raise DistError(
        f"no place has {archive.name} (sha256 {archive.sha256}):{''.join(failures)}",
        f"put the file there yourself, as {file}, or {other}",
    )


def _fetch_from(place: dict, archive: SourceArchive, layout: Layout, file: Path) -> Path:
    kind = kind_of(place)
    part = layout.archives / f".{archive.name}.{os.getpid()}.part"
    try:
        kind.fetch(place, archive, part, layout)
        advice = (
            "if upstream replaced the file, look at what changed and pin the new sha256; "
            f"else get the right file from elsewhere and put it there as {file}"
        )
        _check(part, archive, f"{archive.name} from {kind.describe(place)}", advice)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    return file


def _check(file: Path, archive: SourceArchive, name: str, advice: str) -> None:
    sha256 = file_sha256(file)
    if sha256 != archive.sha256:
        raise DistError(
            f"{name} is not the pinned file:\n  sha256 expected {archive.sha256}\n"
            f"  sha256 got      {sha256}",
            advice,
        )


def _unpack(file: Path, archive: SourceArchive, destination: Path) -> Path:
    if file.suffix in (".zip", ".jar"):
        shutil.unpack_archive(file, destination, "zip")
    else:
        command = ["tar", "--extract", "--no-same-owner", "--file", str(file)]
        subprocess.run([*command, "--directory", str(destination)], check=True)
    if archive.root:
        return destination / archive.root
    folders = list(destination.iterdir())
    if len(folders) != 1 or not folders[0].is_dir():
        names = ", ".join(sorted(folder.name for folder in folders)) or "nothing"
        raise DistError(
            f"{file.name} holds more than one thing: {names}",
            "name the folder of the source as 'root' in upstream.toml ('.' for the archive itself)",
        )
    return folders[0]


def temporary_folder(layout: Layout) -> tempfile.TemporaryDirectory:
    """Make a folder in the checkout's state, so that a rename out of it stays on one disk."""
    layout.work.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=layout.work, prefix="tmp-")
