"""Staged trees of RocksDB, stock and patched."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Staged:
    """A staged tree of one variant."""

    version: str
    prefix: Path
    build: Path
    testing: bool

    @property
    def preload(self) -> Path:
        return self.prefix / "lib" / f"librocksdb-preload.so.{self.version}"

    @property
    def library(self) -> Path:
        return self.prefix / "lib" / f"librocksdb.so.{self.version}"


def staged(variant: str, testing: bool = False) -> Staged:
    """Give the staged tree of VARIANT, which has to be compiled."""
    asked = ["rocksdb", "--variant", variant, *(["--testing"] if testing else [])]
    command = ["sluice-dist", "--root", str(ROOT), "show", *asked, "-o", "json"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True)
    facts = json.loads(shown.stdout)
    paths = Path(facts["staged_prefix"]), Path(facts["build"])
    tree = Staged(facts["version"], *paths, facts["testing"])
    assert tree.library.exists(), f"make it: sluice-dist compile {' '.join(asked)}"
    return tree
