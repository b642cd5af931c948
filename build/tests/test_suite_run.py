"""Runs of upstream's suites that share a build."""

import fcntl

import pytest
from conftest import Project
from sluice_dist import suite_run
from sluice_dist.compilation import Compilation
from sluice_dist.suite_run import SuiteRun


def test_files_change_hands_while_no_suite_runs(
    series: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a suite makes and removes meanwhile would be a file that chown does not find."""
    run = recipe_run(series, monkeypatch)
    seen = []

    def held(self: SuiteRun) -> None:
        with (self.release.build / "test.lock").open("w") as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        seen.append(self)

    monkeypatch.setattr(SuiteRun, "_hand_over", held)
    run.prepare()
    assert seen == [run]


def recipe_run(series: Project, monkeypatch: pytest.MonkeyPatch) -> SuiteRun:
    """A run, as root, of a store that is compiled already."""
    recipe = series.layout.recipe("toy") / "recipe.toml"
    recipe.write_text('[compile]\nscript = "compile.sh"\n\n[test]\nscript = "test.sh"\n')
    monkeypatch.setattr(Compilation, "run", lambda self: self.release.build.mkdir(parents=True))
    monkeypatch.setattr(suite_run.os, "geteuid", lambda: 0)
    return SuiteRun(series.release())
