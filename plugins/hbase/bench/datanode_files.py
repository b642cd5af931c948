"""The files of a DataNode, as the machine sees them."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

BLOCKS = "blk_*"


def datanode_bytes(folder: Path) -> int:
    """Size of all blocks, finished or not."""
    total = 0
    for path in folder.rglob(BLOCKS):
        # A block may be gone, or have moved, since it was listed.
        with contextlib.suppress(FileNotFoundError):
            total += path.stat().st_size
    return total


def drop_from_memory(folder: Path) -> int:
    """Drop the pages of all blocks from the page cache; how many blocks there were."""
    dropped = 0
    for path in folder.rglob(BLOCKS):
        with contextlib.suppress(FileNotFoundError), path.open("rb") as block:
            os.posix_fadvise(block.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            dropped += 1
    return dropped
