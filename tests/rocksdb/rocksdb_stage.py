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

    @property
    def preload(self) -> Path:
        return self.prefix / "lib" / f"librocksdb-preload.so.{self.version}"

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
