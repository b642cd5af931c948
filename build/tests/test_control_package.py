"""The package of the control plane, as it was built by `sluice-dist control`."""

import hashlib
import subprocess
from pathlib import Path

import pytest
from sluice_dist.control_plane import build_control_package
from sluice_dist.layout import Layout

pytestmark = pytest.mark.image

TOP = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def package() -> Path:
    return build_control_package(Layout.find(TOP))


def files(package: Path) -> set[str]:
    listed = subprocess.run(["dpkg-deb", "--contents", package], check=True, capture_output=True)
    return {line.split()[5] for line in listed.stdout.decode().splitlines()}


def test_it_holds_program_units_manuals_and_completions(package):
    assert {
        "./usr/bin/sluice",
        "./lib/systemd/system/sluice-agent.service",
        "./lib/systemd/system/sluice-controller.service",
        "./lib/systemd/system/sluice-pool-mount@.service",
        "./usr/share/man/man1/sluice-agent.1.gz",
        "./usr/share/man/man1/sluice-controller.1.gz",
        "./usr/share/bash-completion/completions/sluice",
        "./usr/share/zsh/vendor-completions/_sluice",
        "./usr/share/fish/vendor_completions.d/sluice.fish",
        "./usr/lib/sysusers.d/sluice-control.conf",
    } <= files(package)


def test_it_starts_nothing(package, tmp_path):
    subprocess.run(["dpkg-deb", "--control", package, tmp_path], check=True)
    scripts = [file.read_text() for file in tmp_path.iterdir() if file.name.endswith("inst")]
    assert scripts
    assert not [text for text in scripts if "deb-systemd-invoke" in text]


def test_nothing_is_built_again_when_nothing_changed(package):
    changed = package.stat().st_mtime_ns
    assert build_control_package(Layout.find(TOP)) == package
    assert package.stat().st_mtime_ns == changed


def test_the_same_source_gives_the_same_bytes(package):
    first = hashlib.sha256(package.read_bytes()).hexdigest()
    again = build_control_package(Layout.find(TOP), rebuild=True)
    assert hashlib.sha256(again.read_bytes()).hexdigest() == first


def test_the_program_knows_its_version(package):
    program = Layout.find(TOP).work / "control" / "stage" / "usr" / "bin" / "sluice"
    said = subprocess.run([program, "version"], check=True, capture_output=True, text=True).stdout
    assert package.name.split("_")[1] in said
