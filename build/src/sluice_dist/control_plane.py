"""The control plane's program, its Debian package, and nothing of any store."""

import hashlib
import os
import shutil
import subprocess
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

from sluice_dist.errors import DistError
from sluice_dist.layout import Layout
from sluice_dist.lock import only_one
from sluice_dist.packages.debhelper import MAINTAINER, build_tree, dated_version, lint, publish
from sluice_dist.packages.templates import render_folder
from sluice_dist.reproducible import folder_sha256, source_date_epoch, uncommitted_sha256

NAME = "sluice-control"
VERSION = "0.1.0"
SHELLS = {
    "bash": "usr/share/bash-completion/completions/sluice",
    "zsh": "usr/share/zsh/vendor-completions/_sluice",
    "fish": "usr/share/fish/vendor_completions.d/sluice.fish",
}


def build_control_package(layout: Layout, rebuild: bool = False) -> Path:
    """Build and check the package unless nothing changed; gives its file.

    Raises DistError if Go is missing, or the build or lintian fails.
    """
    work = layout.work / "control"
    work.mkdir(parents=True, exist_ok=True)
    with only_one(work / "package.lock"):
        return _bring(layout, work, rebuild)


def control_plane_sources(layout: Layout) -> list[Path]:
    """Folders of the checkout that decide what is in the package."""
    return [layout.root / "control", _units(layout), *_templates(layout)]


def _bring(layout: Layout, work: Path, rebuild: bool) -> Path:
    epoch = source_date_epoch(layout.root, *control_plane_sources(layout))
    stamp = work / "inputs.sha256"
    uncommitted = uncommitted_sha256(layout.root, *control_plane_sources(layout))
    version = dated_version(VERSION, epoch, uncommitted)
    program = compile_program(layout, work / "stage" / "usr" / "bin" / "sluice", epoch, version)
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    inputs = f"{digest} {folder_sha256(_units(layout), *_templates(layout))} {version}"
    existing = list(layout.packages.glob(f"{NAME}_*.deb"))
    if not rebuild and len(existing) == 1 and stamp.exists() and stamp.read_text() == inputs:
        return existing[0]
    package = _package(layout, program, work, epoch, version)
    stamp.write_text(inputs)
    return package


def compile_program(layout: Layout, program: Path, epoch: int, version: str) -> Path:
    """Compile the program `sluice`, the same bytes from the same source; gives its path."""
    if not shutil.which("go"):
        raise DistError("there is no Go", "run build/bootstrap, and put .work/venv/bin on the path")
    flags = f"-s -w -buildid= -X sluice.dev/control/internal/version.number={version}"
    command = ["go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags]
    _call([*command, "-o", str(program), "./cmd/sluice"], epoch, layout.root / "control")
    return program


def _package(layout: Layout, program: Path, work: Path, epoch: int, version: str) -> Path:
    tree = work / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    # What an earlier build left that was broken off, or refused, is never published.
    for left in work.glob(f"{NAME}_*"):
        left.unlink()
    _lay_out(program, _units(layout), tree / "files", epoch)
    values = _template_values(epoch, version)
    render_folder(_templates(layout), tree / "debian", values, _no_source_file, False)
    build_tree(tree, epoch, work / "build.log")
    shutil.rmtree(tree)
    built = next(work.glob(f"{NAME}_{version}_*.deb"))
    lint([built])
    return publish(built, layout.packages)


def _lay_out(program: Path, units: Path, files: Path, epoch: int) -> None:
    installed = files / "usr" / "bin" / "sluice"
    installed.parent.mkdir(parents=True)
    shutil.copy2(program, installed)
    shutil.copytree(units, files / "lib" / "systemd" / "system")
    manuals = files / "usr" / "share" / "man" / "man1"
    manuals.mkdir(parents=True)
    _call([str(program), "docs", "man", str(manuals)], epoch)
    for shell, path in SHELLS.items():
        completion = files / path
        completion.parent.mkdir(parents=True)
        completion.write_text(_call([str(program), "completion", shell], epoch))


def _templates(layout: Layout) -> list[Path]:
    build = layout.root / "build"
    return [build / "packaging" / "debian", build / "control" / "debian"]


def _units(layout: Layout) -> Path:
    return layout.root / "build" / "control" / "units"


def _template_values(epoch: int, version: str) -> dict[str, str]:
    return {
        "NAME": NAME,
        "VERSION": VERSION,
        "DEBIAN_VERSION": version,
        "MAINTAINER": MAINTAINER,
        "DATE": format_datetime(datetime.fromtimestamp(epoch, UTC)),
        "TITLE": f"Sluice's control plane {VERSION}.",
        "CHANGES": "  * Built from this project's own source.",
    }


def _no_source_file(path: str) -> str:
    raise DistError(f"there is no upstream archive to take {path} from", "give the text itself")


def _call(command: list[str], epoch: int, folder: Path | None = None) -> str:
    go = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly"}
    environment = {**os.environ, **go, "SOURCE_DATE_EPOCH": str(epoch)}
    done = subprocess.run(
        command, cwd=folder, env=environment, text=True, capture_output=True, check=False
    )
    if done.returncode != 0:
        shown = " ".join(command)
        raise DistError(f"{shown} failed:\n{done.stderr.strip()}", "see its message above")
    return done.stdout
