"""Tables and Raft logs of a node of Ignite in a pool: a volume of the node and the run.

The databases of RocksDB are in the pool, at the paths that Ignite opens them with. What else Ignite
has there it reads and writes on the node, and before it opens a database it looks on the node which
families that has: so the node has two of its files, too.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# By which a database is known, and what tells its families.
CURRENT = "CURRENT"
TELLING = (CURRENT, "MANIFEST-")
# Files that a database makes anew, and the one that it holds while it is open.
NOT_RESTORED = ("LOG", "LOCK")


def pool(*words: str) -> None:
    """Run a command about the pool; an error ends this program with what it said."""
    done = subprocess.run(["sluice", "pool", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"sluice pool {' '.join(words)}: {done.stderr.strip()}")


def put(volume: str, copy: Path, target: Path) -> None:
    """Make a volume with the databases of `copy`, at `target`; the rest comes onto the node."""
    pool("create-volume", volume)
    for folder in [*reversed(target.parents), target][1:]:
        pool("make-directory", volume, str(folder))
    subprocess.run(["cp", "-a", copy, target], check=True)
    for folder in sorted(path for path in copy.rglob("*") if path.is_dir()):
        there = target / folder.relative_to(copy)
        if holds_database(folder):
            pool("make-directory", volume, str(there))
            move_into_pool(volume, folder, there)
        elif any(holds_database(below) for below in folder.rglob("*")):
            pool("make-directory", volume, str(there))


def holds_database(folder: Path) -> bool:
    """Whether a folder is that of a database."""
    return (folder / CURRENT).is_file()


def move_into_pool(volume: str, folder: Path, there: Path) -> None:
    """Put the files of a database into the pool, and leave the node what tells its families."""
    for path in sorted(folder.iterdir()):
        if not path.name.startswith(NOT_RESTORED):
            pool("put", volume, str(path), str(there / path.name))
        if not path.name.startswith(TELLING):
            (there / path.name).unlink()


def leave(volume: str) -> None:
    """Remove a volume; where the agents have failed it stays, and the next run has another one."""
    try:
        pool("remove", "--recursive", volume, "/")
        pool("remove-volume", volume)
    except SystemExit as refusal:
        print(f"volume {volume} stays: {refusal}", file=sys.stderr)
