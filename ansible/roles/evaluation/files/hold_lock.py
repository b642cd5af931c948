#!/usr/bin/env python3
"""Holds a lock for as long as a process lives: `hold_lock.py --file FILE --process NUMBER`.

It ends with 0 once the lock is held, by a process in the background that ends together with the
one of that number, however that ends; so nothing that has died holds it. It ends with 1 and says
who holds it when another process of this or another host does. It needs nothing but the standard
library.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import platform
import select
import sys
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

# Until a lock whose owner has died is free, and one that is being taken says by whom.
MOST_WAIT_SECONDS = 60.0
POLL_SECONDS = 0.05


class HeldError(Exception):
    """Another one holds the lock; the message says who."""


@dataclass(frozen=True)
class Owner:
    """The process that a lock is held for."""

    host: str
    process: int
    since: str

    def is_same(self, other: Owner) -> bool:
        """Whether both are one process."""
        return (self.host, self.process) == (other.host, other.process)

    def may_live(self) -> bool:
        """Whether it runs; of other hosts nobody can tell."""
        if self.host != platform.node():
            return True
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            told = Path(f"/proc/{self.process}/stat").read_text(errors="replace")
            # A dead one stays until whoever started it looks.
            return told.rpartition(")")[2].split()[0] not in ("Z", "X")
        return False


def take(lock: TextIO, owner: Owner) -> bool:
    """Take the lock; whether it was free, and not the owner's already. HeldError when it is not."""
    deadline = time.monotonic() + MOST_WAIT_SECONDS
    while not _is_free(lock):
        held_for = holder(Path(lock.name))
        if held_for and held_for.is_same(owner):
            return False
        if time.monotonic() > deadline or (held_for and held_for.may_live()):
            raise HeldError(_refusal(lock.name, held_for))
        time.sleep(POLL_SECONDS)
    lock.truncate(0)
    lock.write(json.dumps(asdict(owner)) + "\n")
    lock.flush()
    return True


def _is_free(lock: TextIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def holder(file: Path) -> Owner | None:
    """Who had the lock last, unless that is being written."""
    with contextlib.suppress(json.JSONDecodeError, TypeError):
        return Owner(**json.loads(file.read_text()))
    return None


def _refusal(name: str, held_for: Owner | None) -> str:
    who = "a process that has not said which it is"
    if held_for:
        who = f"process {held_for.process} on {held_for.host}, since {held_for.since}"
    return (
        f"an evaluation of this inventory is under way, or site.yml after one: {who} ({name}). "
        "Wait for its end, or end it there, and run this again; one that has died holds nothing"
    )


def keep(process: int) -> None:
    """Have a process in the background keep what is locked until that one has ended."""
    ending = os.pidfd_open(process)
    if os.fork():
        return
    # Neither an interrupt from the keyboard nor the end of the terminal ends it, and nobody waits
    # for its output.
    os.setsid()
    os.chdir("/")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    select.select([ending], [], [])
    os._exit(0)


def main() -> int:
    """1 when another one holds the lock."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--file", type=Path, required=True)
    parser.add_argument("--process", type=int, required=True, metavar="NUMBER")
    options = parser.parse_args()
    since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    options.file.parent.mkdir(parents=True, exist_ok=True)
    with options.file.open("a") as lock:
        try:
            if take(lock, Owner(platform.node(), options.process, since)):
                keep(options.process)
        except HeldError as refusal:
            print(refusal, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
