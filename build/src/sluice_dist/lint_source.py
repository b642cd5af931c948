"""The rules that need the upstream source: a series has to apply exactly and to round-trip."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from sluice_dist.errors import DistError
from sluice_dist.git import GitFailure, git
from sluice_dist.lint_rules import Finding
from sluice_dist.release import Release
from sluice_dist.upstream_git import PatchFailure, UpstreamRepository, apply_patch, write_series

_MEND = "make it again with `sluice-dist checkout` and `export`"


def source_findings(release: Release) -> list[Finding]:
    """Apply RELEASE's series to its source; gives what the rules applies-exactly and
    round-trip find wrong.
    """
    repository = UpstreamRepository(release.layout, release.store)
    try:
        base = repository.base(release)
    except DistError as error:
        return [Finding("applies-exactly", release.folder / "upstream.toml", str(error))]
    with repository.scratch(base) as worktree:
        inexact = list(_apply(release, worktree))
        if inexact:
            return [Finding("applies-exactly", patch, message) for patch, message in inexact]
        return [
            Finding("round-trip", patch, message)
            for patch, message in _differences(release, worktree, base)
        ]


def _apply(release: Release, worktree: Path) -> Iterator[tuple[Path, str]]:
    for patch in release.patch_files:
        yield from ((patch, message) for message in _displaced_hunks(worktree, patch))
        try:
            apply_patch(worktree, patch)
        except PatchFailure as failure:
            yield patch, f"it does not apply ({failure.output.splitlines()[0]}); {_MEND}"
            return


def _displaced_hunks(worktree: Path, patch: Path) -> Iterator[str]:
    with contextlib.suppress(GitFailure):
        told = git(worktree, "apply", "--check", "--verbose", str(patch), messages=True)
        for hunk, line in re.findall(
            r"Hunk #(\d+) succeeded at (\d+ \(offset -?\d+ lines?\))", told
        ):
            yield f"hunk {hunk} applies only at line {line}; {_MEND}"


def _differences(release: Release, worktree: Path, base: str) -> Iterator[tuple[Path, str]]:
    # Beside the worktree, so that it goes with it.
    series = write_series(worktree, base, worktree.parent / "series")
    written = {patch.name: patch for patch in series}
    for patch in release.patch_files:
        again = written.get(patch.name)
        if not again:
            yield patch, f"export would give it another name; {_MEND}"
        elif again.read_bytes() != patch.read_bytes():
            yield patch, f"export would write it differently; {_MEND}"
