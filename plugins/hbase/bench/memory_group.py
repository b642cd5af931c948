"""Processes that have little memory between them, the page cache of what they read included.

By cgroup v1's controller of memory: pages leave as they do on a machine whose data is larger than
its memory, the longest unused first, so that what was read ahead is there when it is wanted.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import control_groups


@dataclass(frozen=True)
class MemoryGroup:
    """A control group."""

    folder: Path

    @property
    def under(self) -> list[str]:
        """Words before those of a command that is to run in it."""
        enter = f'echo $$ > "{self.folder / "cgroup.procs"}" && exec "$@"'
        return ["sh", "-c", enter, "sh"]


@contextlib.contextmanager
def memory_group(limit_bytes: int) -> Iterator[MemoryGroup]:
    """A group without processes, removed afterwards, when none is left in it."""
    parent = control_groups.folder("memory")
    folder = Path(tempfile.mkdtemp(prefix="sluice-", dir=parent))
    try:
        (folder / "memory.limit_in_bytes").write_text(str(limit_bytes))
        yield MemoryGroup(folder)
    finally:
        folder.rmdir()
