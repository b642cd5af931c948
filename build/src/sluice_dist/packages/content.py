"""What goes into a store's packages: the staged tree, parted into store and plug-in."""

import json
import shutil
import tarfile
import zipfile
from fnmatch import fnmatch
from pathlib import Path

from sluice_dist.archive import fetch_archives
from sluice_dist.errors import DistError
from sluice_dist.release import Release

PROVENANCE = "provenance.json"
EXCLUDE = "exclude"


def lay_out(release: Release, target: Path, with_plugin: bool) -> None:
    """Copy the stage to `target`/store and, if there is a plug-in, its files to `target`/plugin.

    The store's tree gets provenance.json, the labels that images carry. Raises DistError if the
    release or its plug-in is not compiled.
    """
    if not release.staged_prefix.is_dir():
        raise DistError(
            f"{release.store}/{release.label} is not compiled: there is no {release.staged_prefix}",
            f"run `sluice-dist compile {release.store}/{release.version} "
            f"--variant {release.variant}`",
        )
    plugin_files = files_below(release.plugin_stage) if with_plugin else set()
    if with_plugin and not plugin_files:
        raise DistError(
            f"the plug-in of {release.store}/{release.label} is not compiled",
            f"run `sluice-dist compile {release.store}/{release.version}`",
        )
    prefix = release.prefix.relative_to("/")
    left_out = {prefix / path for path in excluded(release, files_below(release.staged_prefix))}
    store_files = files_below(release.stage) - plugin_files - left_out
    copy_tree(release.stage, target / "store", store_files)
    copy_tree(release.plugin_stage, target / "plugin", plugin_files)
    written = target / "store" / prefix / PROVENANCE
    written.write_text(json.dumps(provenance(release), indent=2) + "\n")


def excluded(release: Release, files: set[Path]) -> set[Path]:
    """Those of `files` (below the prefix) that the store's debian/exclude leaves out.

    Raises DistError for a pattern that matches nothing: what it was for is gone.
    """
    file = release.layout.recipe(release.store) / "debian" / EXCLUDE
    lines = file.read_text().splitlines() if file.exists() else []
    patterns = [line for line in lines if line and not line.startswith("#")]
    found = set()
    for pattern in patterns:
        matching = {path for path in files if fnmatch(str(path), pattern)}
        if not matching:
            raise DistError(f"{file}: nothing matches {pattern}", "remove or correct that line")
        found |= matching
    return found


def provenance(release: Release) -> dict[str, str]:
    """The labels of the release, and which variant it is."""
    return {"store": release.store, "variant": release.variant, **release.labels()}


def files_below(folder: Path) -> set[Path]:
    """Relative paths of files and links."""
    if not folder.is_dir():
        return set()
    found = folder.rglob("*")
    return {path.relative_to(folder) for path in found if path.is_symlink() or path.is_file()}


def copy_tree(source: Path, target: Path, files: set[Path]) -> None:
    """Copy the named files and links; modes follow the executable bit alone, times are now."""
    target.mkdir(parents=True, exist_ok=True)
    for relative in sorted(files):
        copied = target / relative
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / relative, copied, follow_symlinks=False)
        if not copied.is_symlink():
            copied.chmod(0o755 if copied.stat().st_mode & 0o100 else 0o644)


def source_file(release: Release, path: str) -> str:
    """Text of a file of the pinned archives; `path` is below the archive's source folder.

    Raises DistError if none has such a file.
    """
    for archive in fetch_archives(release.upstream, release.layout):
        read = _from_zip if zipfile.is_zipfile(archive) else _from_tar
        content = read(archive, path)
        if content is not None:
            return content.decode()
    raise DistError(
        f"{release.upstream.archive} has no file {path}",
        "correct the SOURCE_FILE placeholder of the store's debian/ templates",
    )


def _from_tar(archive: Path, path: str) -> bytes | None:
    with tarfile.open(archive) as opened:
        for member in opened:
            if member.isfile() and _names(member.name, path):
                return opened.extractfile(member).read()
    return None


def _from_zip(archive: Path, path: str) -> bytes | None:
    with zipfile.ZipFile(archive) as opened:
        name = next((name for name in opened.namelist() if _names(name, path)), None)
        return opened.read(name) if name else None


def _names(member: str, path: str) -> bool:
    """Whether the member is `path`, as it is or below the archive's one top folder."""
    plain = member.removeprefix("./")
    return plain == path or plain.partition("/")[2] == path
