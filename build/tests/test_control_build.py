"""The package of the control plane from this checkout's templates, around a made-up program."""

from pathlib import Path

import pytest
from images import ROOT
from sluice_dist import control_plane
from sluice_dist.control_plane import build_control_package
from sluice_dist.layout import Layout

PROGRAM = """\
#!/bin/sh
[ "$1" = docs ] || exec echo "complete -C sluice sluice"
printf '.TH SLUICE-AGENT 1\\n.SH NAME\\nsluice-agent \\\\- agent\\n' >"$3/sluice-agent.1"
"""


@pytest.fixture
def layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """A checkout with the real templates and units, whose program needs no Go."""
    root = tmp_path / "control-checkout"
    (root / "control").mkdir(parents=True)
    (root / "patches").mkdir()
    (root / "build").mkdir()
    for name in ("control", "packaging"):
        (root / "build" / name).symlink_to(ROOT / "build" / name)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.setattr(control_plane, "compile_program", write_program)
    monkeypatch.setattr(control_plane, "lint", lambda packages: None)
    return Layout.find(root)


def write_program(layout: Layout, program: Path, epoch: int) -> Path:
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return program


def test_a_package_that_was_never_published_is_not_taken_for_the_new_one(layout: Layout):
    work = layout.work / "control"
    work.mkdir(parents=True)
    # One of several: which of them a folder names first is chance.
    for second in range(20):
        (work / f"sluice-control_0.1.0+sluice202310010000{second:02}_amd64.deb").touch()
    package = build_control_package(layout)
    assert package.name.startswith("sluice-control_0.1.0+sluice20231114221320_")
    assert package.stat().st_size
    assert not list(work.glob("*.deb"))
