#!/usr/bin/python3
"""Keeps the page cache from holding the blocks of a DataNode, until it is ended.

All of an experiment's data would fit into it, and nothing would be read from the measured disk.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

PERIOD_SECONDS = 0.25


def drop(directory: Path) -> int:
    """Drop the clean pages of all blocks below a folder; how many blocks there were."""
    dropped = 0
    for path in directory.rglob("blk_*"):
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
        drop(Path(sys.argv[1]))
        time.sleep(PERIOD_SECONDS)


if __name__ == "__main__":
    main()
