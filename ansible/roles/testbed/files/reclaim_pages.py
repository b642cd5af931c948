#!/usr/bin/python3
"""Frees page cache of a control group of version 1 before the group is full.

A process whose group is full frees pages itself, and waits for those that are being written: for
tens of milliseconds on a slow disk, with all that it does (case 3 of shrink_folio_list in Linux's
mm/vmscan.c, which version 2 does not have). A machine has a thread of the kernel that frees pages
before; a group has this. Argument: the group's FOLDER. It ends when the group is removed.
"""

from __future__ import annotations

import errno
import sys
import time
from pathlib import Path

INTERVAL_SECONDS = 0.05
# What a disk of 200 MB/s reads in an interval, with some to spare.
MOST_RESERVED_BYTES = 16 << 20


def kept_bytes(limit_bytes: int) -> int:
    """How much of its bound a group is let keep."""
    return limit_bytes - min(MOST_RESERVED_BYTES, limit_bytes // 4)


def reclaim(folder: Path, limit_bytes: int) -> None:
    """Free what is beyond the kept bytes; FileNotFoundError when there is no such group."""
    most = kept_bytes(limit_bytes)
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


def main() -> None:
    """Free pages from time to time, as long as there is the group."""
    folder = Path(sys.argv[1])
    try:
        limit_bytes = int((folder / "memory.limit_in_bytes").read_text())
        while True:
            reclaim(folder, limit_bytes)
            time.sleep(INTERVAL_SECONDS)
    except FileNotFoundError:
        return


if __name__ == "__main__":
    main()
