"""The staged distribution of Cassandra, nodes of it, and the program `sluice`."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from agents import build_program
from cassandra_node import CassandraNode, free_ports, staged_cassandra


@pytest.fixture(scope="session")
def cassandra() -> Path:
    return staged_cassandra()


@pytest.fixture(scope="session")
def sluice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_program(tmp_path_factory.mktemp("bin"))


@pytest.fixture(scope="module")
def sockets() -> Iterator[Path]:
    """Folder for sockets, whose paths are short."""
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def node(
    cassandra: Path, sockets: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CassandraNode]:
    """A node with the plug-in, started; its tests leave it running."""
    made = CassandraNode(cassandra, tmp_path_factory.mktemp("node") / "n1", sockets, free_ports())
    try:
        made.start()
        yield made
    finally:
        made.kill()
