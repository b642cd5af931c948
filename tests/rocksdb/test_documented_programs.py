"""The programs of the documentation are compiled as it says, and run with the staged library."""

import subprocess
from pathlib import Path

import pytest
from blocks import Block
from embedding_program import describe, end, start
from pages import BLOCKS, of_kind
from rocksdb_stage import Staged

PROGRAMS = [each for each in of_kind("program") if "rocksdb" in each.values[0].names]


def command_of(page: Path, prefix: Path) -> str:
    """Give the compiler's command of a page, with the staged tree in place of the installed one."""
    (command,) = (
        block.commands
        for block in BLOCKS
        if block.page == page and block.commands.startswith("c++ ")
    )
    installed = "/opt/sluice/rocksdb/" + prefix.name
    assert installed in command, f"{page}: the command names another version than {prefix.name}"
    return command.replace(installed, str(prefix))


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest, patched: Staged, tmp_path: Path) -> Path:
    block: Block = request.param
    (tmp_path / "program.cc").write_text(block.commands)
    subprocess.run(
        ["bash", "-euc", command_of(block.page, patched.prefix)], cwd=tmp_path, check=True
    )
    return tmp_path / "program"


def test_its_options_bring_the_plugin(program: Path, sockets: Path, tmp_path: Path) -> None:
    service = f"{{id=sluice;instance=orders;socket_directory={sockets};remote=false}}"
    options = f"max_background_jobs=4;compaction_service={service}"
    with start(program, tmp_path / "db", options) as running:
        assert running.stdout.readline() == "OK\n"
        said = describe(sockets / "rocksdb" / "orders.sock")
        end(running)
    assert (said["store"], said["instance"]) == ("rocksdb", "orders")
    assert running.returncode == 0
    assert not (sockets / "rocksdb" / "orders.sock").exists()


@pytest.mark.parametrize("options", ["compaction_service={id=nobody}", "colour=red"])
def test_a_mistake_is_said(program: Path, tmp_path: Path, options: str) -> None:
    with start(program, tmp_path / "db", options) as running:
        said = end(running)
    assert running.returncode == 1
    assert said.strip() not in ("", "OK")
