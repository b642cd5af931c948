"""The git repository of a store's upstream: pristine sources, series on top, worktrees."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from sluice_dist.archive import temporary_folder, unpack_source
from sluice_dist.errors import DistError
from sluice_dist.git import GitFailure, git
from sluice_dist.layout import Layout
from sluice_dist.patch_file import PatchFile
from sluice_dist.release import Release

# Upstream's own attributes must change neither what is stored nor the function names in hunks.
_ATTRIBUTES = "* -text -eol -ident -filter -working-tree-encoding !diff\n"
_IMPORTER = ("Upstream release", "upstream@sluice.invalid")

FORMAT_PATCH = (
    "format-patch",
    *("--zero-commit", "--full-index", "--no-signature", "--no-stat", "--no-numbered"),
    *("--subject-prefix=PATCH", "--no-attach", "--no-thread", "--no-cover-letter", "--no-notes"),
    *("--no-base", "--no-to", "--no-cc", "--no-add-header", "--no-renames", "--binary"),
    *("--unified=3", "--inter-hunk-context=0", "--diff-algorithm=myers", "--indent-heuristic"),
    *("--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"),
    *("--encode-email-headers", "--filename-max-length=64", "--quiet"),
)


class PatchFailure(DistError):
    """A patch of a series does not apply; `patch` is its file, `output` what git said."""

    def __init__(self, patch: Path, output: str):
        super().__init__(
            f"{patch.name} does not apply:\n{output}",
            "`sluice-dist rebase` moves a series to another version with a three-way merge; "
            "a patch that was edited by hand has to be made again with checkout and export",
        )
        self.patch = patch
        self.output = output


class UpstreamRepository:
    """Bare git repository below .work/upstream/STORE that all worktrees of the store share."""

    def __init__(self, layout: Layout, store: str):
        self.layout = layout
        self.path = layout.upstream(store) / "repository.git"

    def base(self, release: Release) -> str:
        """Give the commit of RELEASE's pristine source, imported from its archive if need be."""
        self._initialise()
        upstream = release.upstream
        reference = f"refs/sluice/source/{upstream.tree_sha256}"
        known = self._resolve(reference)
        if known:
            return known
        with temporary_folder(self.layout) as folder:
            source = unpack_source(upstream, self.layout, Path(folder) / "source")
            commit = self._import(source, release, Path(folder) / "index")
        git(self.path, "update-ref", reference, commit)
        git(self.path, "tag", "--force", f"upstream/{release.version}", commit)
        return commit

    def series_commit(self, release: Release) -> str:
        """Give the commit of the pristine source with RELEASE's series on top, exactly applied."""
        base = self.base(release)
        reference = f"refs/sluice/series/{base}/{release.series_sha256}"
        known = self._resolve(reference)
        if known:
            return known
        with self.scratch(base) as worktree:
            for patch in release.series:
                apply_patch(worktree, patch)
            commit = git(worktree, "rev-parse", "HEAD")
        git(self.path, "update-ref", reference, commit)
        return commit

    @contextlib.contextmanager
    def scratch(self, commit: str) -> Iterator[Path]:
        """Give a worktree of COMMIT that is gone afterwards."""
        with temporary_folder(self.layout) as folder:
            worktree = Path(folder) / "worktree"
            git(self.path, "worktree", "add", "--detach", str(worktree), commit)
            try:
                yield worktree
            finally:
                git(self.path, "worktree", "remove", "--force", "--force", str(worktree))

    def place_worktree(self, worktree: Path, commit: str, branch: str | None = None) -> None:
        """Make WORKTREE stand at COMMIT, on BRANCH if given; only files that differ are touched."""
        where = ["-B", branch] if branch else ["--detach"]
        if self.has(worktree):
            git(worktree, "checkout", "--quiet", "--force", *where, commit)
            return
        if worktree.exists():
            raise DistError(
                f"{worktree} is no worktree of {self.path}",
                "save what you need of it elsewhere, and delete it",
            )
        git(self.path, "worktree", "prune")
        # Twice: also where git was killed while it made one, and has left it locked.
        git(self.path, "worktree", "add", "--force", "--force", *where, str(worktree), commit)

    def has(self, worktree: Path) -> bool:
        """Whether WORKTREE is there and belongs to this repository."""
        if not (worktree / ".git").exists() or not (self.path / "HEAD").exists():
            return False
        listed = git(self.path, "worktree", "list", "--porcelain").splitlines()
        return f"worktree {worktree}" in listed

    def _initialise(self) -> None:
        if not (self.path / "HEAD").exists():
            self.path.mkdir(parents=True, exist_ok=True)
            git(self.path, "init", "--quiet", "--bare", ".")
        (self.path / "info").mkdir(exist_ok=True)
        (self.path / "info" / "attributes").write_text(_ATTRIBUTES)

    def _resolve(self, reference: str) -> str:
        with contextlib.suppress(GitFailure):
            return git(self.path, "rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}")
        return ""

    def _import(self, source: Path, release: Release, index: Path) -> str:
        upstream = release.upstream
        # Folders have the time at which they were unpacked, if the archive does not list them.
        files = (path for path in source.rglob("*") if path.is_symlink() or not path.is_dir())
        newest = max(int(file.lstat().st_mtime) for file in files)
        here = {"GIT_DIR": str(self.path), "GIT_WORK_TREE": str(source)}
        here["GIT_INDEX_FILE"] = str(index)
        git(source, "add", "--force", "--all", ".", **here)
        tree = git(source, "write-tree", **here)
        name, email = _IMPORTER
        message = f"{upstream.name} {upstream.version}\n\n{upstream.archive}\n{upstream.sha256}"
        return git(
            *(self.path, "commit-tree", "-m", message, tree),
            **_identity("AUTHOR", name, email, f"{newest} +0000"),
            **_identity("COMMITTER", name, email, f"{newest} +0000"),
        )


def apply_patch(worktree: Path, patch: Path) -> None:
    """Commit PATCH on top of WORKTREE, as its author; raises PatchFailure and leaves no trace."""
    author = PatchFile(patch).author
    committer = _identity("COMMITTER", author.name or "Nobody", author.email or "nobody@invalid")
    command = ("am", "--quiet", "--no-3way", "--keep-cr", "--no-scissors", "--no-message-id")
    try:
        git(worktree, *command, "--committer-date-is-author-date", str(patch), **committer)
    except GitFailure as failure:
        with contextlib.suppress(GitFailure):
            git(worktree, "am", "--abort", **committer)
        raise PatchFailure(patch, failure.output) from None


def write_series(worktree: Path, base: str, folder: Path) -> list[Path]:
    """Write the commits of WORKTREE since BASE as patches to FOLDER, the same bytes every time."""
    git(worktree, *FORMAT_PATCH, "--output-directory", str(folder), f"{base}..HEAD")
    return sorted(folder.glob("*.patch"))


def _identity(role: str, name: str, email: str, date: str = "") -> dict[str, str]:
    identity = {f"GIT_{role}_NAME": name, f"GIT_{role}_EMAIL": email}
    return identity | ({f"GIT_{role}_DATE": date} if date else {})
