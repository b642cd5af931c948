"""One pool and one database for all faults: what one of them leaves behind shows after the next."""

import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from agents import build_program
from database_program import compiled_program
from pooled_nodes import PooledNodes, pooled_nodes
from rocksdb_stage import Staged

ROUNDS = int(os.environ.get("SLUICE_CRASH_ROUNDS", "1"))
SOURCE = Path(__file__).parent.with_name("acknowledged_rows.cc")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "crash_round" in metafunc.fixturenames:
        metafunc.parametrize("crash_round", range(1, ROUNDS + 1), ids="round {}".format)


@pytest.fixture(scope="session")
def program(patched: Staged, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled_program(patched.prefix, tmp_path_factory.mktemp("program"), SOURCE)


@pytest.fixture(scope="session")
def nodes(patched: Staged, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PooledNodes]:
    folder = tmp_path_factory.mktemp("pool")
    with (
        tempfile.TemporaryDirectory(prefix="sluice-") as sockets,
        pooled_nodes(build_program(folder), patched, folder, Path(sockets)) as started,
    ):
        yield started


@pytest.fixture
def dice(request: pytest.FixtureRequest) -> random.Random:
    """Numbers that are the same whenever a test is run again."""
    return random.Random(request.node.name)
