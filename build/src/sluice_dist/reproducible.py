"""The one time stamp of everything that is built, so that same input gives the same bytes."""

import hashlib
import os
import subprocess
from pathlib import Path

from sluice_dist.errors import DistError
from sluice_dist.release import files_sha256, source_files


def source_date_epoch(root: Path, *inputs: Path) -> int:
    """Seconds since 1970: SOURCE_DATE_EPOCH, else the last commit that touched one of `inputs`.

    Before the inputs' first commit the checkout's last commit counts. Raises DistError where the
    variable is no number, or where there is neither variable nor git history.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is not None:
        if not given.isdigit():
            raise DistError(
                f"SOURCE_DATE_EPOCH is '{given}'", "give it seconds since 1970, or unset it"
            )
        return int(given)
    last = _commit_time(root, *inputs) or _commit_time(root)
    if not last:
        raise DistError(
            f"{root} has no git history to take the build's time stamp from",
            "set SOURCE_DATE_EPOCH to seconds since 1970",
        )
    return int(last)


def uncommitted_sha256(root: Path, *inputs: Path) -> str:
    """Hash over the source files of `inputs` where they differ from the last commit.

    Empty where they do not, and where there is no git history.
    """
    if not _git(root, "status", "--porcelain", "--", *map(str, inputs)):
        return ""
    return files_sha256(root, [file for part in inputs for file in source_files(part)])


def folder_sha256(*folders: Path) -> str:
    """Hash of names, executable bits and contents of all files below the folders, in order."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            executable = "x" if path.stat().st_mode & 0o100 else "-"
            digest.update(f"{path.relative_to(folder)}\0{executable}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def file_sha256(file: Path) -> str:
    """Hash of the content of FILE."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _commit_time(root: Path, *inputs: Path) -> str:
    return _git(root, "log", "-1", "--format=%ct", "--", *map(str, inputs))


def _git(root: Path, *command: str) -> str:
    """What git says of the checkout; nothing where there is none."""
    # Also where the checkout belongs to another user, as in a container: nothing is run from it,
    # and nothing is written.
    settings = ["-c", "safe.directory=*", "--no-optional-locks", "-C", str(root)]
    done = subprocess.run(["git", *settings, *command], text=True, capture_output=True, check=False)
    return done.stdout.strip()
