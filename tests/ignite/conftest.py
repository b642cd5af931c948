"""The staged distribution of Ignite, the patched library, and the program `sluice`."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agents import build_program
from ignite_node import IgniteNode, free_ports, staged_ignite
from rocksdb_stage import Staged, staged


@pytest.fixture(scope="session")
def ignite() -> Path:
    return staged_ignite()


@pytest.fixture(scope="session")
def patched() -> Staged:
    return staged("patched")


@pytest.fixture(scope="session")
def sluice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_program(tmp_path_factory.mktemp("bin"))


@pytest.fixture
def sockets() -> Iterator[Path]:
    """Folder for sockets, whose paths are short."""
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        (Path(folder) / "rocksdb").mkdir()
        yield Path(folder)


@pytest.fixture
def preloaded(patched: Staged, sockets: Path) -> Callable[[str], dict[str, str]]:
    """Give the environment by which a node, of that name, uses the library and its plug-in."""

    def variables(instance: str) -> dict[str, str]:
        plugin = f"{{id=sluice;instance={instance};socket_directory={sockets}}}"
        return {
            "LD_PRELOAD": str(patched.preload),
            "ROCKSDB_DB_OPTIONS_OVERRIDE": f"compaction_service={plugin}",
        }

    return variables


@pytest.fixture
def make_nodes(ignite: Path, tmp_path: Path) -> Iterator[Callable[[int], list[IgniteNode]]]:
    """Give nodes of one cluster, not started yet; those that run in the end are stopped."""
    made: list[IgniteNode] = []

    def make(count: int) -> list[IgniteNode]:
        members = [free_ports() for _ in range(count)]
        made.extend(
            IgniteNode(ignite, tmp_path / f"n{number}", f"n{number}", ports, members)
            for number, ports in enumerate(members, start=1)
        )
        return made

    yield make
    for node in made:
        node.stop()
