"""A release of a store: its pin, its series, its paths and the labels that name it."""

import hashlib
import os
import re
import subprocess
import tomllib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from sluice_dist.errors import DistError
from sluice_dist.layout import Layout
from sluice_dist.stamp import read_stamp
from sluice_dist.upstream import Upstream

VARIANTS = ("patched", "stock")


@dataclass(frozen=True)
class Release:
    """One store at one upstream version, patched or stock, for use or for upstream's tests."""

    layout: Layout
    store: str
    version: str
    variant: str = "patched"
    testing: bool = False

    @property
    def folder(self) -> Path:
        """Folder of upstream.toml and the series."""
        return self.layout.patches / self.store / self.version

    @cached_property
    def upstream(self) -> Upstream:
        """The pinned source."""
        return Upstream.load(self.folder / "upstream.toml")

    @property
    def patch_files(self) -> list[Path]:
        """The patches of the series in order, whatever the variant."""
        return sorted(self.folder.glob("[0-9]*.patch"))

    @property
    def series(self) -> list[Path]:
        """The patches that this variant applies: none for stock."""
        return self.patch_files if self.variant == "patched" else []

    @property
    def series_sha256(self) -> str:
        """Hash over the content of the applied patches in order; of nothing for stock."""
        return hashlib.sha256(b"".join(patch.read_bytes() for patch in self.series)).hexdigest()

    @property
    def label(self) -> str:
        """Version as installed: 17.11 or 17.11-stock."""
        return self.version if self.variant == "patched" else f"{self.version}-{self.variant}"

    @property
    def build_label(self) -> str:
        """Version as built: the label, with -testing for a build with upstream's test support."""
        return f"{self.label}-testing" if self.testing else self.label

    @property
    def worktree(self) -> Path:
        """Where `checkout` puts the source with one commit per patch."""
        return self.layout.upstream(self.store) / self.label

    @property
    def build(self) -> Path:
        """Where `compile` works, out of the source tree."""
        return self.layout.work / "build" / self.store / self.build_label

    @property
    def prefix(self) -> Path:
        """Where a package installs it."""
        return Path("/opt/sluice") / self.store / self.build_label

    @property
    def stage(self) -> Path:
        """The DESTDIR of `compile`: store and plug-in."""
        return self.layout.work / "stage" / self.store / self.build_label

    @property
    def staged_prefix(self) -> Path:
        """The prefix inside the stage; runs in place."""
        return self.stage / self.prefix.relative_to("/")

    @property
    def plugin_stage(self) -> Path:
        """A DESTDIR that holds the plug-in's files alone."""
        return self.stage.with_name(f"{self.build_label}-plugin")

    @property
    def plugin(self) -> Path:
        """Source folder of the store's plug-in."""
        return self.layout.root / "plugins" / self.store

    @cached_property
    def plugin_parts(self) -> list[Path]:
        """Folders and files that the plug-in is built from: its own, then those that it shares.

        Raises DistError if the recipe names one that is not there.
        """
        recipe = self.layout.recipe(self.store) / "recipe.toml"
        shared = [self.plugin.parent / name for name in _shared_parts(recipe)]
        for part in shared:
            if not part.exists():
                raise DistError(f"{recipe} names {part}, which is missing", "correct `shared`")
        return [self.plugin, *shared]

    @property
    def plugin_copy(self) -> Path:
        """Copy of the plug-in's folder that it is built in, with what it shares beside it."""
        return self.build / "plugin" / self.store

    @property
    def plugin_sources(self) -> list[Path]:
        """What the plug-in is built from, tests and benchmarks left out; nothing for stock."""
        if self.variant != "patched":
            return []
        return [file for part in self.plugin_parts for file in exported_files(part)]

    @cached_property
    def plugin_sha256(self) -> str:
        """Hash over path and content of what the plug-in is built from."""
        return files_sha256(self.plugin, self.plugin_sources)

    def labels(self) -> dict[str, str]:
        """What images carry and every run record repeats."""
        return {
            "dev.sluice.upstream.version": self.version,
            "dev.sluice.source.sha256": self.upstream.sha256,
            "dev.sluice.series.sha256": self.series_sha256,
            "dev.sluice.plugin.sha256": self.plugin_sha256,
        }

    @property
    def staged_labels_file(self) -> Path:
        """Where a compilation notes the labels of what it has staged."""
        return self.build / "staged-labels.json"

    def staged_labels(self) -> dict[str, str] | None:
        """The labels of what is staged, which the checkout may have left behind; None without."""
        return read_stamp(self.staged_labels_file)

    def with_testing(self) -> "Release":
        """Give the same release built with upstream's test support."""
        return replace(self, testing=True)


def stores(layout: Layout) -> list[str]:
    """Stores that have at least one series."""
    return sorted({file.parent.parent.name for file in layout.patches.glob("*/*/upstream.toml")})


def versions(layout: Layout, store: str) -> list[str]:
    """Versions of STORE from oldest to newest."""
    found = [file.parent.name for file in (layout.patches / store).glob("*/upstream.toml")]
    return sorted(found, key=version_key)


def version_key(version: str) -> list[int]:
    """Order versions by their numbers: 17.9 before 17.11."""
    return [int(number) for number in re.findall(r"\d+", version)]


def find_release(layout: Layout, name: str, variant: str = "patched", testing: bool = False):
    """Find the release called STORE or STORE/VERSION.

    Without a version: the newest one of the oldest major version that has a series, so that adding
    a new major version does not change what a command means. Raises DistError if there is none.
    """
    store, _, version = name.partition("/")
    known = versions(layout, store)
    if not known:
        raise DistError(
            f"there is no series for store '{store}'",
            f"choose one of: {', '.join(stores(layout)) or 'none yet'}",
        )
    if version and version not in known:
        raise DistError(f"{store} has no version '{version}'", f"choose one of: {', '.join(known)}")
    major = version_key(known[0])[:1]
    default = [candidate for candidate in known if version_key(candidate)[:1] == major][-1]
    return Release(layout, store, version or default, variant, testing)


def source_files(folder: Path) -> list[Path]:
    """Files of FOLDER that are source: what git tracks or would, if it were asked to.

    A file in its place is the only one of its own.
    """
    if not folder.is_dir():
        return [folder] if folder.is_file() else []
    # Also where the checkout belongs to another user, as in a container: nothing is run from it.
    command = ["git", "-c", "safe.directory=*", "-C", str(folder), "ls-files", "-z", "-co"]
    command += ["--exclude-standard", "."]
    listed = subprocess.run(command, capture_output=True, check=False)
    if listed.returncode != 0:
        return sorted(file for file in folder.rglob("*") if file.is_file())
    names = {name for name in listed.stdout.decode().split("\0") if name}
    return sorted(folder / name for name in names if (folder / name).is_file())


def exported_files(folder: Path) -> list[Path]:
    """Source files of FOLDER without those that have git's attribute export-ignore."""
    files = source_files(folder)
    if not folder.is_dir():
        return files
    command = ["git", "-c", "safe.directory=*", "-C", str(folder), "check-attr", "-z", "--stdin"]
    names = "\0".join(str(file.relative_to(folder)) for file in files)
    asked = subprocess.run(
        [*command, "export-ignore"], input=names, capture_output=True, text=True, check=False
    )
    if asked.returncode != 0:
        return files
    # Name, attribute and value of each file in turn.
    fields = asked.stdout.split("\0")
    ignored = {
        name for name, value in zip(fields[::3], fields[2::3], strict=False) if value == "set"
    }
    return [file for file in files if str(file.relative_to(folder)) not in ignored]


def files_sha256(folder: Path, files: list[Path]) -> str:
    """Hash over the path from FOLDER and the content of each of FILES."""
    total = hashlib.sha256()
    for file in files:
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        total.update(f"{content}  {os.path.relpath(file, folder)}\n".encode())
    return total.hexdigest()


def _shared_parts(recipe: Path) -> list[str]:
    """What the recipe says that plug-ins share, as paths below plugins/."""
    try:
        content = tomllib.loads(recipe.read_text())
    except (FileNotFoundError, tomllib.TOMLDecodeError):
        # Whoever needs the recipe says what is wrong with it.
        return []
    return content.get("plugin", {}).get("shared", [])
