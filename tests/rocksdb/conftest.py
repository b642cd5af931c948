"""Staged trees of RocksDB, and the jar as its publisher made it."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from rocksdb_stage import ROOT, Staged, staged
from sluice_dist.layout import Layout
from sluice_dist.reproducible import file_sha256
from sluice_dist.sources import maven
from sluice_dist.upstream import SourceArchive


@pytest.fixture(scope="session")
def patched() -> Staged:
    return staged("patched")


@pytest.fixture(scope="session")
def stock() -> Staged:
    return staged("stock")


@pytest.fixture
def sockets() -> Iterator[Path]:
    """Folder for sockets, whose paths are short."""
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def jar(patched: Staged, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """RocksDB for Java of the same version, unmodified."""
    pinned = SourceArchive(
        f"rocksdbjni-{patched.version}.jar",
        "628ed387887f4a431df480857954df2a28b4389bfe24858ccdec611cabf65dbf",
        (),
    )
    fetched = tmp_path_factory.mktemp("jar") / pinned.name
    place = {"artifact": f"org.rocksdb:rocksdbjni:{patched.version}:jar"}
    maven.fetch(place, pinned, fetched, Layout.find(ROOT))
    assert file_sha256(fetched) == pinned.sha256
    return fetched
