"""The developer's worktrees: made by `checkout`, read by `export`, not overwritten by accident."""

from pathlib import Path

from sluice_dist.archive import temporary_folder
from sluice_dist.errors import DistError
from sluice_dist.git import GitFailure, git
from sluice_dist.release import Release
from sluice_dist.upstream_git import UpstreamRepository, write_series


def check_out(release: Release, discard: bool = False) -> Path:
    """Give RELEASE's worktree with one commit per patch.

    Raises DistError if that would lose work, unless DISCARD.
    """
    repository = UpstreamRepository(release.layout, release.store)
    commit = repository.series_commit(release)
    if repository.has(release.worktree):
        _finish_or_refuse(release, discard)
    repository.place_worktree(release.worktree, commit, f"{release.variant}/{release.version}")
    if discard:
        git(release.worktree, "clean", "--quiet", "-d", "--force")
    mark_exported(release)
    return release.worktree


def export(release: Release) -> list[Path]:
    """Write the commits of RELEASE's worktree back as its series; gives the files that changed.

    Raises DistError if the worktree holds what cannot be written: changes that are not committed,
    a merge, or a history that does not start at the pinned source.
    """
    if not (release.worktree / ".git").exists():
        raise DistError(
            f"there is no worktree {release.worktree}",
            f"run `sluice-dist checkout {release.store}/{release.version}`",
        )
    _refuse_unfinished(release)
    _refuse_changes(release, "commit them (or `git stash` them), and export again")
    base = UpstreamRepository(release.layout, release.store).base(release)
    _refuse_other_history(release, base)
    with temporary_folder(release.layout) as folder:
        written = write_series(release.worktree, base, Path(folder))
        changed = _replace_series(release, written)
    mark_exported(release)
    return changed


def mark_exported(release: Release) -> None:
    """Remember that the series holds what the worktree holds now."""
    git(release.worktree, "update-ref", _exported(release), "HEAD")


def _exported(release: Release) -> str:
    return f"refs/sluice/exported/{release.label}"


def _replace_series(release: Release, written: list[Path]) -> list[Path]:
    new = {release.folder / patch.name: patch.read_bytes() for patch in written}
    gone = [patch for patch in release.patch_files if patch not in new]
    changed = [
        patch
        for patch, content in new.items()
        if not patch.exists() or patch.read_bytes() != content
    ]
    for patch in gone:
        patch.unlink()
    for patch in changed:
        patch.write_bytes(new[patch])
    return sorted([*gone, *changed])


def _finish_or_refuse(release: Release, discard: bool) -> None:
    if discard:
        _abandon_unfinished(release.worktree)
        return
    _refuse_unfinished(release)
    again = "commit and export, or `checkout --discard` to lose them"
    _refuse_changes(release, again)
    if git(release.worktree, "rev-parse", "HEAD") != _last_exported(release):
        raise DistError(
            f"{release.worktree} holds commits that are not exported",
            f"run `sluice-dist export {release.store}/{release.version}`, "
            "or `checkout --discard` to lose them",
        )


def _last_exported(release: Release) -> str:
    try:
        return git(release.worktree, "rev-parse", "--verify", "--quiet", _exported(release))
    except GitFailure:
        return ""


def _refuse_changes(release: Release, advice: str) -> None:
    changes = git(release.worktree, "status", "--porcelain").splitlines()
    if changes:
        shown = "".join(f"\n  {line}" for line in changes[:10])
        raise DistError(f"{release.worktree} has changes that are not committed:{shown}", advice)


def _unfinished(worktree: Path) -> list[Path]:
    folder = Path(git(worktree, "rev-parse", "--absolute-git-dir"))
    return [folder / name for name in ("rebase-apply", "rebase-merge") if (folder / name).exists()]


def _refuse_unfinished(release: Release) -> None:
    if _unfinished(release.worktree):
        raise DistError(
            f"{release.worktree} is in the middle of a rebase",
            "finish it there: resolve, `git add`, then `git am --continue` or "
            "`git rebase --continue` (`git status` says which)",
        )


def _abandon_unfinished(worktree: Path) -> None:
    for folder in _unfinished(worktree):
        command = "rebase" if (folder / "head-name").exists() else "am"
        git(worktree, command, "--quit")


def _refuse_other_history(release: Release, base: str) -> None:
    advice = f"rebase it onto the tag upstream/{release.version}, one commit per patch"
    try:
        git(release.worktree, "merge-base", "--is-ancestor", base, "HEAD")
    except GitFailure:
        raise DistError(
            f"the commits of {release.worktree} do not start at the pinned source", advice
        ) from None
    merges = git(release.worktree, "rev-list", "--merges", f"{base}..HEAD")
    if merges:
        raise DistError(f"{release.worktree} holds a merge: {merges.split()[0]}", advice)
