"""build/bootstrap in a checkout with its own venv, and an apt that may fail."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from images import ROOT

# Knows a package only after an update, if it is told so by the file `stale`.
APT_GET = """\
#!/bin/sh
echo "$1" >>"$MACHINE/calls"
case $1 in
install) echo "$@" >>"$MACHINE/installs" ;;
update) rm -f "$MACHINE/stale" ;;
download) [ ! -e "$MACHINE/stale" ] && cp "$MACHINE"/store_1_all.deb . ;;
esac
"""
CONTROL = "Package: store\nVersion: 1\nArchitecture: all\nMaintainer: Toys\nDescription: store\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose venv is up to date, and which unpacks one package."""
    checkout = tmp_path / "checkout"
    (checkout / "build").mkdir(parents=True)
    shutil.copy2(ROOT / "build" / "bootstrap", checkout / "build" / "bootstrap")
    (checkout / "build" / "requirements.txt").touch()
    (checkout / "build" / "unpacked-packages.txt").write_text("store  stored storectl  # tests\n")
    make_venv(checkout / ".work" / "venv")
    make_machine(tmp_path / "machine")
    return checkout


def make_venv(venv: Path) -> None:
    """What is left of a venv where pip has just installed everything."""
    gofmt = venv / "lib" / "python3.11" / "site-packages" / "go" / "bin" / "gofmt"
    for folder in (venv / "bin", gofmt.parent):
        folder.mkdir(parents=True)
    write_program(gofmt, "#!/bin/sh\n")
    command = ["/usr/bin/python3", "--version"]
    version = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    requirements = hashlib.sha256(b"").hexdigest()
    (venv / "bootstrap-inputs").write_text(f"{venv}\n{version}{requirements}  -\n")


def make_machine(machine: Path) -> None:
    tree = machine / "store"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN" / "control").write_text(CONTROL)
    (tree / "usr" / "bin").mkdir(parents=True)
    for name in ("stored", "storectl"):
        write_program(tree / "usr" / "bin" / name, "#!/bin/sh\necho stored\n")
    command = ["dpkg-deb", "--root-owner-group", "--build", tree, machine / "store_1_all.deb"]
    subprocess.run(command, check=True, capture_output=True)
    (machine / "bin").mkdir()
    write_program(machine / "bin" / "apt-get", APT_GET)
    write_program(machine / "bin" / "sudo", '#!/bin/sh\nexec "$@"\n')


def write_program(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o755)


def bootstrap(checkout: Path) -> subprocess.CompletedProcess[str]:
    machine = checkout.parent / "machine"
    path = f"{machine / 'bin'}:/usr/bin:/bin"
    environment = os.environ | {"MACHINE": str(machine), "PATH": path}
    command = [checkout / "build" / "bootstrap"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def calls(checkout: Path) -> list[str]:
    return (checkout.parent / "machine" / "calls").read_text().split()


def test_programs_are_linked_into_a_venv_that_is_made_anew(checkout: Path):
    assert bootstrap(checkout).returncode == 0
    venv = checkout / ".work" / "venv"
    shutil.rmtree(venv)
    make_venv(venv)
    done = bootstrap(checkout)
    assert "unpacked packages: up to date" in done.stdout
    for name in ("stored", "storectl"):
        assert subprocess.run([venv / "bin" / name], capture_output=True).stdout == b"stored\n"
    assert calls(checkout) == ["download"]


def test_another_installation_on_the_machine_is_waited_for(checkout: Path):
    (checkout / "build" / "debian-packages.txt").write_text("no-such-package\n")
    # This apt installs nothing, which is seen.
    assert "could not install: no-such-package" in bootstrap(checkout).stderr
    for install in (checkout.parent / "machine" / "installs").read_text().splitlines():
        assert "--option DPkg::Lock::Timeout=900" in install


def test_what_apt_does_not_know_is_asked_for_again_with_fresh_lists(checkout: Path):
    (checkout.parent / "machine" / "stale").touch()
    done = bootstrap(checkout)
    assert done.returncode == 0, done.stderr
    assert calls(checkout) == ["download", "update", "download"]


def test_a_package_that_is_not_to_be_had_is_named(checkout: Path):
    (checkout.parent / "machine" / "store_1_all.deb").unlink()
    done = bootstrap(checkout)
    assert done.returncode == 1
    assert "could not download store" in done.stderr
    assert calls(checkout) == ["download", "update", "download"]
