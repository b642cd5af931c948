"""Moves a series to a new upstream version by three-way merges."""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

from sluice_dist.errors import DistError
from sluice_dist.git import GitFailure, git
from sluice_dist.layout import Layout
from sluice_dist.release import Release
from sluice_dist.sources import Unavailable, kind_of
from sluice_dist.upstream import MAXIMUM_CHANGED_LINES, SourceArchive, archives_of
from sluice_dist.upstream_git import UpstreamRepository

# Whoever finishes the rebase with plain git is the committer; patches do not keep either.
_COMMITTER = {
    "GIT_COMMITTER_NAME": "sluice-dist rebase",
    "GIT_COMMITTER_EMAIL": "rebase@sluice.invalid",
}
_UNKNOWN_SHA256 = "0" * 64


@dataclass(frozen=True)
class PatchOutcome:
    """How one patch fared: clean, merged, conflicts or pending; conflicts by file."""

    patch: str
    state: str
    conflicts: dict[str, int] = field(default_factory=dict)
    message: str = ""


def pin(release: Release, version: str, sha256: str | None) -> Release:
    """Write upstream.toml of VERSION for RELEASE's store; gives the new release.

    Without SHA256 it is taken from an index of the places. One that is there already stays.
    Raises DistError if the version has a series, if it is pinned by another hash, or if no index
    has the archive.
    """
    new = Release(release.layout, release.store, version)
    if new.patch_files:
        raise DistError(
            f"{new.folder} has a series already",
            f"change that one by `sluice-dist checkout {release.store}/{version}`",
        )
    if (new.folder / "upstream.toml").exists():
        _refuse_other_hash(new, sha256)
        return new
    template = _template(release)
    hashes = {"sha256": sha256} if sha256 else _find_hashes(template, version, release.layout)
    text = _render(template, version, hashes)
    if release.upstream.maximum_changed_lines < MAXIMUM_CHANGED_LINES:
        limit = f"maximum_changed_lines = {release.upstream.maximum_changed_lines}\n"
        text = re.sub(r"^(?=\n\[\[)", limit, text, count=1, flags=re.MULTILINE)
    new.folder.mkdir(parents=True, exist_ok=True)
    (new.folder / "upstream.toml").write_text(text)
    return new


def _refuse_other_hash(new: Release, sha256: str | None) -> None:
    if sha256 in (None, new.upstream.sha256):
        return
    file = new.folder / "upstream.toml"
    raise DistError(
        f"{file} has sha256 {new.upstream.sha256}, and not {sha256}",
        f"leave --sha256 out, or remove {file} and its worktree, if there is one, and try again",
    )


def apply_series(release: Release, new: Release) -> list[PatchOutcome]:
    """Apply RELEASE's series to NEW's source in NEW's worktree, up to the first conflict.

    A conflict stays in the worktree, as `git am` leaves it.
    """
    if (new.worktree / ".git").exists():
        raise DistError(
            f"there is a worktree {new.worktree} already",
            f"finish there and run `sluice-dist export {new.store}/{new.version}`, or remove it: "
            f"git -C {new.worktree} worktree remove --force .",
        )
    repository = UpstreamRepository(release.layout, release.store)
    repository.base(release)  # the blobs that a three-way merge needs
    base = repository.base(new)
    repository.place_worktree(new.worktree, base, f"patched/{new.version}")
    patches = [str(patch) for patch in release.patch_files]
    command = ("am", "--3way", "--keep-cr", "--no-scissors", "--no-message-id")
    try:
        said = git(new.worktree, *command, *patches, messages=True, **_COMMITTER)
    except GitFailure as failure:
        said = failure.output
    applied = int(git(new.worktree, "rev-list", "--count", f"{base}..HEAD"))
    return _outcomes(release, new.worktree, applied, said)


def _outcomes(release: Release, worktree: Path, applied: int, said: str) -> list[PatchOutcome]:
    steps = re.split(r"^Applying: .*$", said, flags=re.MULTILINE)[1:]
    outcomes = []
    for number, patch in enumerate(release.patch_files):
        if number < applied:
            state = "merged" if "3-way" in steps[number] else "clean"
            outcomes.append(PatchOutcome(patch.name, state))
        elif number == applied:
            conflicts = _conflicts(worktree)
            message = "" if conflicts else said.strip()
            outcomes.append(PatchOutcome(patch.name, "conflicts", conflicts, message))
        else:
            outcomes.append(PatchOutcome(patch.name, "pending"))
    return outcomes


def _conflicts(worktree: Path) -> dict[str, int]:
    """Give the number of conflicting hunks of each file that has some."""
    files = git(worktree, "diff", "--name-only", "--diff-filter=U").splitlines()
    return {file: _conflicting_hunks(worktree / file) for file in files}


def _conflicting_hunks(file: Path) -> int:
    marks = re.findall(rb"^<<<<<<< ", file.read_bytes(), re.MULTILINE) if file.is_file() else []
    # A file that one side deleted has no marks, and is one question.
    return len(marks) or 1


def _template(release: Release) -> str:
    file = release.layout.recipe(release.store) / "upstream.toml.in"
    try:
        return file.read_text()
    except FileNotFoundError:
        advice = "write it: an upstream.toml with ${version}, ${major} and ${sha256}"
        raise DistError(f"{file} is missing", advice) from None


def _render(template: str, version: str, hashes: dict[str, str]) -> str:
    major = version.partition(".")[0]
    try:
        return Template(template).substitute(hashes, version=version, major=major)
    except KeyError as error:
        raise DistError(
            f"upstream.toml.in asks for {error}, which is not known",
            "there is one of each archive: leave --sha256 out, and Maven finds them"
            if str(error).startswith("'sha256")
            else "use ${version}, ${major} and ${sha256}",
        ) from None


class _UnknownHashes(dict):
    def __missing__(self, name: str) -> str:
        return _UNKNOWN_SHA256


def _find_hashes(template: str, version: str, layout: Layout) -> dict[str, str]:
    """Give the hash of each archive, by its name in the template.

    That is sha256; of several modules sha256_ and the module's folder, with _ for what a name may
    not have.
    """
    archives = archives_of(tomllib.loads(_render(template, version, _UnknownHashes())))
    if len(archives) == 1:
        return {"sha256": _find_sha256(archives[0], layout)}
    return {
        "sha256_" + re.sub(r"\W", "_", archive.module): _find_sha256(archive, layout)
        for archive in archives
    }


def _find_sha256(archive: SourceArchive, layout: Layout) -> str:
    reasons = []
    for place in archive.sources:
        kind = kind_of(place)
        if not hasattr(kind, "find_sha256"):
            continue
        try:
            return kind.find_sha256(place, layout)
        except Unavailable as error:
            reasons.append(f"\n  {kind.describe(place)}: {error}")
    raise DistError(
        f"no source index has {archive.name}:{''.join(reasons)}",
        "give the sha256 that upstream publishes with --sha256",
    )
