"""Clients of several servers that go on in turns of a tenth of a second.

All servers are loaded for as long as a run lasts, and all clients but one server's are stopped: who
may go on changes ten times a second, in an order drawn anew for each turn of all. What else slows
the machine for longer than that slows all alike.
"""

from __future__ import annotations

import math
import random
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

TURN_SECONDS = 0.1
# A client ends by its own clock, which goes on while it is stopped: late enough for all turns.
SLACK_RATIO = 1.2
SLACK_SECONDS = 2
MEMORY = Path("/dev/shm")


def memory_folder() -> Path | None:
    """Where files are in memory, so that no disk is waited for; None if there is no such place."""
    return MEMORY if MEMORY.is_dir() else None


def lasting_seconds(seconds_each: float, clients: int) -> int:
    """How long a client has to last, by its own clock, for so many clients to have their turns."""
    return math.ceil(seconds_each * clients * SLACK_RATIO) + SLACK_SECONDS


class TurnTaker:
    """The process of a client, stopped but in its turns."""

    def __init__(self, process: subprocess.Popen, lasts_seconds: float):
        """Take over a process that has just been started."""
        self._process = process
        self._lasts_seconds = lasts_seconds
        self._going_since = time.monotonic()
        self._over = math.inf
        self.active_seconds = 0.0

    def connected(self, has_worked: bool) -> None:
        """Stop it, as it is connected; its clock started before that.

        The time until now counts as active if it has worked since then, and not only started.
        """
        self.stop()
        if not has_worked:
            self.active_seconds = 0.0
        self._over = time.monotonic() + self._lasts_seconds

    def stop(self) -> None:
        """Stop it until its next turn."""
        self._process.send_signal(signal.SIGSTOP)
        self.active_seconds += time.monotonic() - self._going_since

    def go_on(self) -> None:
        """Let it run."""
        self._going_since = time.monotonic()
        self._process.send_signal(signal.SIGCONT)

    def take_turn(self) -> None:
        """Go on for a tenth of a second; SystemExit when its time is over already."""
        if time.monotonic() > self._over - SLACK_SECONDS / 2:
            raise SystemExit("the turns took too long: measure on an idle machine")
        self.go_on()
        time.sleep(TURN_SECONDS)
        self.stop()

    def wait_for_its_clock(self) -> None:
        """Wait until its time is over, then let it finish what it has begun."""
        time.sleep(max(0.0, self._over - time.monotonic()))
        self._process.send_signal(signal.SIGCONT)


def take_turns(takers: Mapping[str, TurnTaker], seconds_each: float, order: random.Random) -> None:
    """Give each so many seconds, a turn at a time."""
    for _ in range(round(seconds_each / TURN_SECONDS)):
        for name in order.sample(sorted(takers), len(takers)):
            takers[name].take_turn()
