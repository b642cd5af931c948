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


def yielding(processor: int) -> list[str]:
    """Keeps a program on one processor, where waking up does not interrupt what runs."""
    return [*pinned(processor), "chrt", "--batch", "0"]
