#!/usr/bin/python3
"""Keeps the page cache from holding the blocks of a DataNode, until it is ended.

All of an experiment's data would fit into it, and nothing would be read from the measured disk.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

# Dropping has what is dirty written, and reads wait behind it: rare drops make large bursts.
DROP_SECONDS = 0.05
DROPS_PER_LISTING = 5


def blocks(directory: Path) -> list[Path]:
    """The files of all blocks below a folder."""
    return list(directory.rglob("blk_*"))


def drop(paths: Iterable[Path]) -> int:
    """Drop the pages of these files; how many files there were."""
    dropped = 0
    for path in paths:
        # A block may be gone, or have moved, since it was listed.
        with contextlib.suppress(FileNotFoundError), path.open("rb") as block:
            os.posix_fadvise(block.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            dropped += 1
    return dropped


def main() -> None:
    """Drop them again and again."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: drop_page_cache.py DIRECTORY")
    while True:
        paths = blocks(Path(sys.argv[1]))
        for _ in range(DROPS_PER_LISTING):
            drop(paths)
            time.sleep(DROP_SECONDS)


if __name__ == "__main__":
    main()
