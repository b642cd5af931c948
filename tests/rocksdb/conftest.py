"""Staged trees of RocksDB, and the jar as its publisher made it."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from sluice_dist.layout import Layout
from sluice_dist.reproducible import file_sha256
from sluice_dist.sources import maven
from sluice_dist.upstream import SourceArchive

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Staged:
    """A staged tree of one variant."""

    version: str
    prefix: Path

    @property
    def library(self) -> Path:
        return self.prefix / "lib" / f"librocksdb.so.{self.version}"


def staged(variant: str) -> Staged:
    """Give the staged tree of VARIANT, which has to be compiled."""
    command = ["sluice-dist", "--root", str(ROOT), "show", "rocksdb", "--variant", variant]
    shown = subprocess.run([*command, "-o", "json"], check=True, capture_output=True, text=True)
    facts = json.loads(shown.stdout)
    tree = Staged(facts["version"], Path(facts["staged_prefix"]))
    assert tree.library.exists(), f"make it: sluice-dist compile rocksdb --variant {variant}"
    return tree


@pytest.fixture(scope="session")
def patched() -> Staged:
    return staged("patched")


@pytest.fixture(scope="session")
def stock() -> Staged:
    return staged("stock")


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
