"""Compiles a release and its plug-in, out of tree, and stages them; does nothing if unchanged."""

import contextlib
import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

from sluice_dist.distribution import Distribution
from sluice_dist.git import GitFailure, git
from sluice_dist.lock import only_one
from sluice_dist.recipe import Recipe
from sluice_dist.release import Release, files_sha256, source_files
from sluice_dist.script import run_script
from sluice_dist.stamp import read_stamp, write_stamp
from sluice_dist.toolchain import (
    build_environment,
    compiler_version,
    toolchain_sha256,
    write_wrappers,
)
from sluice_dist.upstream_git import UpstreamRepository

_OBJECTS_DEPEND_ON = ("recipe", "compiler", "toolchain", "build")


class Compilation:
    """One build of RELEASE in its build folder; `source` and `objects` are below that."""

    def __init__(self, release: Release, jobs: int | None = None):
        self.release = release
        self.recipe = Recipe.load(release)
        self.source = release.build / "source"
        self.objects = release.build / "objects"
        self.wrappers = release.build / "toolchain"
        self.distribution = self._distribution()
        self.jobs = jobs or len(os.sched_getaffinity(0))

    def run(self) -> Path:
        """Bring the staged tree up to date; gives the staged prefix."""
        self.release.build.mkdir(parents=True, exist_ok=True)
        with only_one(self.release.build / "lock"):
            repository = UpstreamRepository(self.release.layout, self.release.store)
            commit = repository.series_commit(self.release)
            store = {
                "commit": commit,
                "recipe": self.recipe.build_sha256(),
                "compiler": compiler_version(self.recipe.compiler),
                "toolchain": toolchain_sha256(),
                "build": str(self.release.build),
            }
            if self.distribution:
                store["distribution"] = self.distribution.sha256()
            if self._is_current("store", store, self.release.stage):
                self._say("unchanged")
            else:
                self._bring_source(repository, commit)
                self._compile_store(store)
            if self._has_plugin():
                self._bring_plugin(store)
            write_stamp(self.release.staged_labels_file, self.release.labels())
        return self.release.staged_prefix

    def environment(self) -> dict[str, str]:
        """Give what every script of the recipe finds in its environment."""
        release = self.release
        date = git(self.source, "show", "--no-patch", "--format=%ct", "HEAD")
        return build_environment(release, self.wrappers) | {
            "STORE": release.store,
            "VERSION": release.version,
            "VARIANT": release.variant,
            "TESTING": "1" if release.testing else "0",
            "SRC": str(self.source),
            "BUILD": str(self.objects),
            "PREFIX": str(release.prefix),
            "STAGED_PREFIX": str(release.staged_prefix),
            "JOBS": str(self.jobs),
            "SOURCE_DATE_EPOCH": date,
        }

    def _has_plugin(self) -> bool:
        release = self.release
        named = bool(self.recipe.plugin_script)
        return named and release.variant == "patched" and release.plugin.is_dir()

    def _distribution(self) -> Distribution | None:
        folder = self.recipe.distribution_folder
        # Upstream's tests bring their own artifacts.
        if not folder or self.release.testing:
            return None
        return Distribution(self.release, self.recipe.folder / folder)

    def _bring_source(self, repository: UpstreamRepository, commit: str) -> None:
        # One in which git was killed keeps git's locks, and is made anew: nobody works in it.
        with contextlib.suppress(GitFailure):
            if repository.has(self.source):
                repository.place_worktree(self.source, commit)
                return
        shutil.rmtree(self.source, ignore_errors=True)
        repository.place_worktree(self.source, commit)

    def _compile_store(self, inputs: dict[str, str]) -> None:
        before = self._stamp("objects")
        if any(before.get(key) != inputs[key] for key in _OBJECTS_DEPEND_ON):
            shutil.rmtree(self.objects, ignore_errors=True)
        self._remove_stamps("store", "plugin")
        self._write_stamp("objects", inputs)
        write_wrappers(self.release, self.wrappers)
        self.objects.mkdir(exist_ok=True)
        new = _empty_folder(_beside(self.release.stage))
        if self.recipe.compile_script:
            script = self.recipe.folder / self.recipe.compile_script
            self._run(script, "compile", {"DESTDIR": str(new)})
        if self.distribution:
            self.distribution.assemble(new)
        _replace(self.release.stage, new)
        self._write_stamp("store", inputs)

    def _bring_plugin(self, store: dict[str, str]) -> None:
        release = self.release
        # Its tests too: they run from the copy.
        files = [file for part in release.plugin_parts for file in source_files(part)]
        inputs = {"store": _sha256(store), "plugin": files_sha256(release.plugin, files)}
        if self._is_current("plugin", inputs, release.plugin_stage):
            self._say("plug-in unchanged")
            return
        self._remove_stamps("plugin")
        copy = _empty_folder(release.build / "plugin")
        for file in files:
            target = copy / file.relative_to(release.plugin.parent)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
        write_wrappers(release, self.wrappers)
        new = _empty_folder(_beside(release.plugin_stage))
        script = self.recipe.folder / self.recipe.plugin_script
        self._run(script, "plugin", {"DESTDIR": str(new), "PLUGIN_SRC": str(release.plugin_copy)})
        # What the last one brought, and links in the way of what this one brings.
        _remove_files(release.stage, release.plugin_stage)
        _remove_files(release.stage, new)
        _replace(release.plugin_stage, new)
        shutil.copytree(release.plugin_stage, release.stage, symlinks=True, dirs_exist_ok=True)
        self._write_stamp("plugin", inputs)

    def _run(self, script: Path, step: str, more: dict[str, str]) -> None:
        log = self.release.build / f"{step}.log"
        run_script(script, f"{step} {self._name()}", log, self.environment() | more)

    def _is_current(self, name: str, inputs: dict[str, str], result: Path) -> bool:
        return result.is_dir() and self._stamp(name) == inputs

    def _stamp(self, name: str) -> dict[str, str]:
        return read_stamp(self.release.build / f"{name}.stamp") or {}

    def _write_stamp(self, name: str, inputs: dict[str, str]) -> None:
        write_stamp(self.release.build / f"{name}.stamp", inputs)

    def _remove_stamps(self, *names: str) -> None:
        self.release.staged_labels_file.unlink(missing_ok=True)
        for name in names:
            (self.release.build / f"{name}.stamp").unlink(missing_ok=True)

    def _name(self) -> str:
        return f"{self.release.store}/{self.release.build_label}"

    def _say(self, text: str) -> None:
        print(f"compile {self._name()}: {text}", file=sys.stderr)


def _beside(final: Path) -> Path:
    return final.with_name(f"{final.name}.new")


def _empty_folder(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _replace(old: Path, new: Path) -> None:
    shutil.rmtree(old, ignore_errors=True)
    new.rename(old)


def _remove_files(stage: Path, listed: Path) -> None:
    """Remove from STAGE the files that the tree LISTED holds."""
    if not listed.is_dir():
        return
    for file in listed.rglob("*"):
        if not file.is_dir():
            (stage / file.relative_to(listed)).unlink(missing_ok=True)


def _sha256(inputs: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()
