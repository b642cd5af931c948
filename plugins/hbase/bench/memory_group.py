"""Processes that have little memory between them, the page cache of what they read included.

By cgroup v1's controller of memory: pages leave as they do on a machine whose data is larger than
its memory, the longest unused first, so that what was read ahead is there when it is wanted.
A process whose group is full frees pages itself, and waits there for those that are being written
(Linux, case 3 of shrink_folio_list in mm/vmscan.c), which it does not on a machine: here a thread
frees some before.
"""

from __future__ import annotations

import contextlib
import errno
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import control_groups

RECLAIM_INTERVAL_SECONDS = 0.05
# What a disk of 200 MB/s reads in an interval, with some to spare.
RESERVED_BYTES = 16 << 20


@dataclass(frozen=True)
class MemoryGroup:
    """A control group."""

    folder: Path

    @property
    def under(self) -> list[str]:
        """Words before those of a command that is to run in it."""
        enter = f'echo $$ > "{self.folder / "cgroup.procs"}" && exec "$@"'
        return ["sh", "-c", enter, "sh"]


def reclaim(folder: Path, limit_bytes: int) -> None:
    """Free the reserved bytes, by a lower limit for a moment."""
    most = limit_bytes - RESERVED_BYTES
    if int((folder / "memory.usage_in_bytes").read_text()) <= most:
        return
    limit = folder / "memory.limit_in_bytes"
    try:
        # Until so much is free this does not return, and the old limit is in force.
        limit.write_text(str(most))
    except OSError as error:
        # Nothing more can be freed now.
        if error.errno != errno.EBUSY:
            raise
    finally:
        limit.write_text(str(limit_bytes))


def _reclaim_until(ended: threading.Event, folder: Path, limit_bytes: int) -> None:
    while not ended.wait(RECLAIM_INTERVAL_SECONDS):
        reclaim(folder, limit_bytes)


@contextlib.contextmanager
def _reclaimed(folder: Path, limit_bytes: int) -> Iterator[None]:
    ended = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        reclaiming = pool.submit(_reclaim_until, ended, folder, limit_bytes)
        try:
            yield
        finally:
            ended.set()
        reclaiming.result()


@contextlib.contextmanager
def memory_group(limit_bytes: int) -> Iterator[MemoryGroup]:
    """A group without processes, removed afterwards, when none is left in it."""
    parent = control_groups.folder("memory")
    folder = Path(tempfile.mkdtemp(prefix="sluice-", dir=parent))
    try:
        (folder / "memory.limit_in_bytes").write_text(str(limit_bytes))
        with _reclaimed(folder, limit_bytes):
            yield MemoryGroup(folder)
    finally:
        folder.rmdir()
