"""PostgreSQL's compile script around a made-up source, whose configure may be broken off."""

import os
import subprocess
from pathlib import Path

import pytest
from images import ROOT

# Writes what PostgreSQL's does, config.status before the makefiles that come of it.
CONFIGURE = """\
#!/bin/sh
echo run >>configured-times
echo "$@" >configured-with
touch config.status
[ ! -e "$SRC/broken" ] || exit 1
touch Makefile.global
"""
MAKE = """\
#!/bin/sh
[ -e Makefile.global ] || exit 1
makefile=$DESTDIR$PREFIX/lib/pgxs/src/Makefile.global
mkdir -p "${makefile%/*}"
cp Makefile.global "$makefile"
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What the script finds in its environment, with a make of its own."""
    for name, text in (("source/configure", CONFIGURE), ("bin/make", MAKE)):
        file = tmp_path / name
        file.parent.mkdir()
        file.write_text(text)
        file.chmod(0o755)
    (tmp_path / "objects").mkdir()
    return os.environ | {
        "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin",
        "SRC": str(tmp_path / "source"),
        "BUILD": str(tmp_path / "objects"),
        "PREFIX": "/opt/toy",
        "DESTDIR": str(tmp_path / "stage"),
        "TESTING": "0",
        "JOBS": "1",
    }


def compile_it(environment: dict[str, str]) -> int:
    script = ROOT / "build" / "stores" / "postgres" / "compile.sh"
    return subprocess.run([script], env=environment, capture_output=True, check=False).returncode


def test_a_configure_that_was_broken_off_is_run_again(environment: dict[str, str]):
    broken = Path(environment["SRC"]) / "broken"
    broken.touch()
    assert compile_it(environment) == 1
    broken.unlink()
    assert compile_it(environment) == 0


def test_objects_follow_the_headers_that_they_include(environment: dict[str, str]):
    assert compile_it(environment) == 0
    options = Path(environment["BUILD"]) / "configured-with"
    assert "--enable-depend" in options.read_text().split()


def test_what_is_configured_stays_so(environment: dict[str, str]):
    assert compile_it(environment) == 0
    assert compile_it(environment) == 0
    times = Path(environment["BUILD"]) / "configured-times"
    assert times.read_text().split() == ["run"]
