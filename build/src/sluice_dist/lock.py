"""Lets one process at a time work in a folder."""

import contextlib
import fcntl
import sys
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def only_one(lock: Path) -> Iterator[None]:
    """Hold the file LOCK; waits, and says so, while another process holds it."""
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting for another process that works in {lock.parent}", file=sys.stderr)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
