"""The programs of the documentation are compiled as it says, and run with the staged library."""

import json
import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from blocks import Block
from pages import BLOCKS, of_kind
from rocksdb_stage import Staged

PROGRAMS = [each for each in of_kind("program") if "rocksdb" in each.values[0].names]
PATIENCE_SECONDS = 60


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


@pytest.fixture
def sockets() -> Iterator[Path]:
    # The path of a socket is short.
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        yield Path(folder)


def start(program: Path, options: str) -> subprocess.Popen:
    return subprocess.Popen(
        [program, program.parent / "db", options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,
    )


def describe(path: Path) -> dict[str, object]:
    params = {"protocol_version": {"major": 1, "minor": 1}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "describe", "params": params}
    with socket.socket(socket.AF_UNIX) as plugin:
        plugin.settimeout(PATIENCE_SECONDS)
        plugin.connect(str(path))
        plugin.sendall(json.dumps(request).encode() + b"\n")
        with plugin.makefile() as answers:
            return json.loads(answers.readline())["result"]


def test_its_options_bring_the_plugin(program: Path, sockets: Path) -> None:
    service = f"{{id=sluice;instance=orders;socket_directory={sockets};remote=false}}"
    with start(program, f"max_background_jobs=4;compaction_service={service}") as running:
        assert running.stdout.readline() == "OK\n"
        said = describe(sockets / "rocksdb" / "orders.sock")
        running.communicate(timeout=PATIENCE_SECONDS)
    assert (said["store"], said["instance"]) == ("rocksdb", "orders")
    assert running.returncode == 0
    assert not (sockets / "rocksdb" / "orders.sock").exists()


@pytest.mark.parametrize("options", ["compaction_service={id=nobody}", "colour=red"])
def test_a_mistake_is_said(program: Path, options: str) -> None:
    with start(program, options) as running:
        said, _ = running.communicate(timeout=PATIENCE_SECONDS)
    assert running.returncode == 1
    assert said.strip() not in ("", "OK")
