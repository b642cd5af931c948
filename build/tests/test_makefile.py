"""Targets of the Makefile that a checkout begins and ends with."""

import os
import re
import shutil
import subprocess

import pytest
from conftest import HOOKED_GREETING, Project, commit, user_git
from images import ROOT


def lines_of(*words: str) -> str:
    """What make would do."""
    command = ["make", "--dry-run", *words]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def test_images_are_made_of_packages_that_are_made_before():
    lines = lines_of("image", "STORES=toy")
    assert 0 < lines.find("sluice-dist package") < lines.find("sluice-dist image")


def test_images_are_made_of_the_stores_that_have_one():
    loop = re.compile(r"for store in (.*); do for variant .*\n\s*sluice-dist image")
    recipes = ROOT.glob("build/stores/*/image/recipe.toml")
    stores = {recipe.parents[1].name for recipe in recipes}
    assert set(loop.search(lines_of("image"))[1].split()) == stores
    chosen = loop.search(lines_of("image", "STORES=postgres ignite"))
    assert chosen[1].split() == ["postgres"]


@pytest.fixture
def checked_out(series: Project) -> Project:
    """A checkout with a worktree whose commits are all exported."""
    shutil.copy2(ROOT / "build" / "clean", series.root / "build" / "clean")
    shutil.copy2(ROOT / "Makefile", series.root / "Makefile")
    assert series.run("checkout", "toy") == 0
    return series


def clean(project: Project, *settings: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "--no-print-directory", "clean", *settings]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(command, cwd=project.root, env=kept, capture_output=True, text=True)


def refused(project: Project, named: str) -> bool:
    done = clean(project)
    return done.returncode != 0 and named in done.stderr and project.layout.work.is_dir()


def test_what_can_be_made_again_is_removed(checked_out: Project):
    done = clean(checked_out)
    assert done.returncode == 0, done.stderr
    assert not checked_out.layout.work.exists()
    assert clean(checked_out).returncode == 0


def test_changes_and_commits_that_are_not_exported_are_kept(checked_out: Project):
    worktree = checked_out.release().worktree
    (worktree / "src" / "greeting.c").write_text(HOOKED_GREETING.replace("hello", "good day"))
    assert refused(checked_out, str(worktree))
    commit(worktree, "another greeting")
    assert refused(checked_out, str(worktree))
    assert checked_out.run("export", "toy") == 0
    assert clean(checked_out).returncode == 0


def test_what_was_stashed_is_kept(checked_out: Project):
    """As `sluice-dist export` says to do with changes that are not for the series."""
    worktree = checked_out.release().worktree
    (worktree / "src" / "greeting.c").write_text(HOOKED_GREETING.replace("hello", "good day"))
    user_git(worktree, "stash")
    assert refused(checked_out, "refs/stash")
    user_git(worktree, "stash", "drop")
    assert clean(checked_out).returncode == 0


def test_commits_of_another_branch_are_kept(checked_out: Project):
    worktree = checked_out.release().worktree
    user_git(worktree, "checkout", "--quiet", "-b", "later")
    (worktree / "src" / "greeting.c").write_text(HOOKED_GREETING.replace("hello", "good day"))
    commit(worktree, "another greeting")
    user_git(worktree, "checkout", "--quiet", "patched/1.0")
    assert refused(checked_out, "refs/heads/later")


def test_what_git_cannot_read_is_kept(checked_out: Project):
    shutil.rmtree(checked_out.layout.upstream("toy") / "repository.git")
    assert refused(checked_out, str(checked_out.release().worktree))


def test_the_keys_of_a_test_bed_are_kept_unless_forced(checked_out: Project):
    keys = checked_out.layout.work / "testbed" / "local"
    keys.mkdir(parents=True)
    assert refused(checked_out, str(keys))
    assert clean(checked_out, "FORCE=1").returncode == 0
    assert not checked_out.layout.work.exists()
