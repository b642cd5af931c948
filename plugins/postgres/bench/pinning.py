"""Tools that decide on which processor a program runs, and when."""

from __future__ import annotations

import os


def processors() -> tuple[int, int]:
    """One for servers and one for clients; the same if there is only one."""
    usable = sorted(os.sched_getaffinity(0))
    return usable[0], usable[-1]


def pinned(processor: int) -> list[str]:
    """Keeps a program on one processor."""
    return ["taskset", "--cpu-list", str(processor)]


def when_idle(processor: int) -> list[str]:
    """Keeps a program on one processor, where it runs only while nothing else does."""
    return [*pinned(processor), "chrt", "--idle", "0"]
