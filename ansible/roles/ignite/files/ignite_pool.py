"""Tables and Raft logs of a node of Ignite in a pool: a volume of the node and the run.

The databases of RocksDB are in the pool, at the paths that Ignite opens them with. What else Ignite
has there it reads and writes on the node, and before it opens a database it looks on the node which
families that has: so the node has two of its files, too.
"""

from __future__ import annotations

from pathlib import Path

import evaluation_program

# By which a database is known, and what tells its families.
CURRENT = "CURRENT"
TELLING = (CURRENT, "MANIFEST-")
# Files that a database makes anew, and the one that it holds while it is open.
NOT_RESTORED = ("LOG", "LOCK")


def put(volume: str, copy: Path, target: Path) -> None:
    """Make a volume with the databases of `copy`, at `target`; the rest comes onto the node."""
    evaluation_program.pool("create-volume", volume)
    for folder in [*reversed(target.parents), target][1:]:
        evaluation_program.pool("make-directory", volume, str(folder))
    evaluation_program.copy(copy, target)
    for folder in sorted(path for path in copy.rglob("*") if path.is_dir()):
        there = target / folder.relative_to(copy)
        if holds_database(folder):
            evaluation_program.pool("make-directory", volume, str(there))
            move_into_pool(volume, folder, there)
        elif any(holds_database(below) for below in folder.rglob("*")):
            evaluation_program.pool("make-directory", volume, str(there))


def holds_database(folder: Path) -> bool:
    """Whether a folder is that of a database."""
    return (folder / CURRENT).is_file()


def move_into_pool(volume: str, folder: Path, there: Path) -> None:
    """Put the files of a database into the pool, and leave the node what tells its families."""
    for path in sorted(folder.iterdir()):
        if not path.name.startswith(NOT_RESTORED):
            evaluation_program.pool("put", volume, str(path), str(there / path.name))
        if not path.name.startswith(TELLING):
            (there / path.name).unlink()
