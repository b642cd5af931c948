"""The package of the control plane from this checkout's templates, around a made-up program."""

import re
import subprocess
from collections.abc import Iterator
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


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Layout]:
    """A checkout with the real templates and units, whose program needs no Go."""
    root = tmp_path_factory.mktemp("control-checkout")
    (root / "control").mkdir(parents=True)
    (root / "patches").mkdir()
    (root / "build").mkdir()
    for name in ("control", "packaging"):
        (root / "build" / name).symlink_to(ROOT / "build" / name)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SOURCE_DATE_EPOCH", "1700000000")
        patched.setattr(control_plane, "compile_program", write_program)
        patched.setattr(control_plane, "lint", lambda packages: None)
        yield Layout.find(root)


def write_program(layout: Layout, program: Path, epoch: int, version: str) -> Path:
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return program


@pytest.fixture(scope="module")
def package(layout: Layout) -> Path:
    """The package, built where earlier builds have left theirs."""
    work = layout.work / "control"
    work.mkdir(parents=True)
    # One of several: which of them a folder names first is chance.
    for second in range(20):
        (work / f"sluice-control_0.1.0+sluice202310010000{second:02}_amd64.deb").touch()
    return build_control_package(layout)


def script(package: Path, folder: Path, name: str) -> str:
    """The maintainer script NAME of PACKAGE."""
    subprocess.run(["dpkg-deb", "--control", package, folder], check=True)
    return (folder / name).read_text()


def test_a_package_that_was_never_published_is_not_taken_for_the_new_one(
    layout: Layout, package: Path
):
    assert package.name.startswith("sluice-control_0.1.0+sluice20231114221320_")
    assert package.stat().st_size
    assert not list((layout.work / "control").glob("*.deb"))


def test_what_it_runs_ends_when_it_is_removed_and_not_when_it_is_upgraded(
    package: Path, tmp_path: Path
):
    text = script(package, tmp_path / "control", "prerm")
    stops = re.findall(r"^    deb-systemd-invoke stop (.*) \|\| true$", text, re.MULTILINE)
    # What is written to a mount goes through the agent.
    assert stops == [
        "'sluice-pool-mount@*.service'",
        "sluice-agent.service sluice-controller.service",
    ]
    assert text.index('if [ "$1" = remove ] && [ -d /run/systemd/system ]') < text.index(stops[0])


def test_systemd_reads_what_an_upgrade_has_changed(package: Path, tmp_path: Path):
    text = script(package, tmp_path / "control", "postinst")
    assert "systemctl --system daemon-reload" in text
    assert "dh_installsystemd" in text
