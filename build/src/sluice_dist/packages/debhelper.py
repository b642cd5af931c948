"""Turn a tree with a debian/ folder into packages by debhelper, and check them with lintian."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from sluice_dist.errors import DistError

MAINTAINER = "Sluice maintainers <maintainers@sluice.dev>"


def dated_version(version: str, epoch: int, uncommitted: str = "") -> str:
    """The version and the build's time in UTC: a later build is an upgrade.

    So is one of inputs that differ from that commit's; `uncommitted` is their hash.
    """
    # A hyphen would begin a Debian revision, which packages without a source archive have not.
    dated = f"{version.replace('-', '.')}+sluice{datetime.fromtimestamp(epoch, UTC):%Y%m%d%H%M%S}"
    return f"{dated}+dirty.{uncommitted[:8]}" if uncommitted else dated


def publish(package: Path, folder: Path) -> Path:
    """Move the package to `folder`, where it takes the place of every other build of its name."""
    folder.mkdir(parents=True, exist_ok=True)
    name = package.name.partition("_")[0]
    for earlier in folder.glob(f"{name}_*.deb"):
        earlier.unlink()
    return package.replace(folder / package.name)


def build_tree(tree: Path, epoch: int, log: Path) -> None:
    """Run dpkg-buildpackage on the tree; raises DistError with the end of the log if it fails."""
    command = ["dpkg-buildpackage", "--build=binary", "--no-sign", "--no-check-builddeps"]
    # -j1: what the threads of dh_* write first must not decide the bytes.
    command += ["--jobs=1"]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "LC_ALL": "C.UTF-8"}
    with log.open("w") as output:
        done = subprocess.run(
            command, cwd=tree, env=environment, stdout=output, stderr=output, check=False
        )
    if done.returncode != 0:
        tail = "\n".join(f"  {line}" for line in log.read_text().splitlines()[-15:])
        raise DistError(f"dpkg-buildpackage failed:\n{tail}", f"read {log}")


def lint(packages: list[Path]) -> None:
    """Run lintian; raises DistError with what it says if that is a warning or an error."""
    command = ["lintian", "--fail-on", "error,warning", "--no-tag-display-limit"]
    done = subprocess.run(
        [*command, *map(str, packages)], text=True, capture_output=True, check=False
    )
    if done.returncode != 0:
        raise DistError(
            f"lintian is not content:\n{done.stdout.strip() or done.stderr.strip()}",
            "correct the templates; an override needs its reason as a comment",
        )
