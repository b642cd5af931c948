"""The files of a DataNode, as the machine sees them."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

# Dropping has what is dirty written, and reads wait behind it: rare looks make large bursts.
DROP_SECONDS = 0.05
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
    """Drop the clean pages of all blocks from the page cache; how many blocks there were."""
    dropped = 0
    for path in folder.rglob(BLOCKS):
        with contextlib.suppress(FileNotFoundError), path.open("rb") as block:
            os.posix_fadvise(block.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            dropped += 1
    return dropped


@contextlib.contextmanager
def dropped_from_memory(folder: Path) -> Iterator[None]:
    """Keep blocks out of the page cache: all of a measurement's data would fit into it."""
    over = threading.Event()

    def drop_again_and_again() -> None:
        while not over.wait(DROP_SECONDS):
            drop_from_memory(folder)

    thread = threading.Thread(target=drop_again_and_again)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
