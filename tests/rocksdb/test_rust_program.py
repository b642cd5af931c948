"""The crate of Rust as published, linked with the staged library: the plug-in by option string."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from embedding_program import describe, end, start
from rocksdb_stage import Staged

PACKAGE = Path(__file__).with_name("rust")
OLDEST_COMPILER = (1, 88)
"""What the crate asks for."""


def compiler_version() -> tuple[int, int]:
    try:
        shown = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        return (0, 0)
    major, minor = re.match(r"rustc (\d+)\.(\d+)", shown.stdout).groups()
    return int(major), int(minor)


@pytest.fixture(scope="module")
def program(patched: Staged, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if compiler_version() < OLDEST_COMPILER:
        pytest.skip("needs a rustc of 1.88 or newer, which Debian 12 does not have")
    target = tmp_path_factory.mktemp("rust")
    places = {
        "ROCKSDB_LIB_DIR": str(patched.prefix / "lib"),
        "ROCKSDB_INCLUDE_DIR": str(patched.prefix / "include"),
        "CARGO_TARGET_DIR": str(target),
    }
    command = ["cargo", "build", "--locked", "--quiet"]
    subprocess.run(command, cwd=PACKAGE, env=os.environ | places, check=True)
    return target / "debug" / "option-string"


@pytest.fixture
def library(patched: Staged) -> dict[str, str]:
    return {"LD_LIBRARY_PATH": str(patched.prefix / "lib")}


def test_an_option_string_brings_the_plugin(
    program: Path, library: dict[str, str], sockets: Path, tmp_path: Path
) -> None:
    service = f"{{id=sluice;instance=rust;socket_directory={sockets};remote=false}}"
    options = f"max_background_jobs=4;compaction_service={service}"
    with start(program, tmp_path / "db", options, **library) as running:
        assert running.stdout.readline() == "OK\n"
        said = describe(sockets / "rocksdb" / "rust.sock")
        end(running)
    assert (said["store"], said["instance"]) == ("rocksdb", "rust")
    assert running.returncode == 0


def test_the_environment_brings_it_too(
    program: Path, library: dict[str, str], sockets: Path, tmp_path: Path
) -> None:
    service = f"{{id=sluice;instance=rust;socket_directory={sockets};remote=false}}"
    override = {"ROCKSDB_DB_OPTIONS_OVERRIDE": f"compaction_service={service}"}
    options = "max_background_jobs=4"
    with start(program, tmp_path / "db", options, **library, **override) as running:
        assert running.stdout.readline() == "OK\n"
        assert describe(sockets / "rocksdb" / "rust.sock")["store"] == "rocksdb"
        end(running)


def test_a_mistake_is_an_error(program: Path, library: dict[str, str], tmp_path: Path) -> None:
    with start(program, tmp_path / "db", "colour=red", **library) as running:
        assert end(running) == ""
    assert running.returncode == 1
