"""When compactions ran, as the region server's own log says: the same for stock and patched."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sluice_evaluation.bench.waiting import wait_until

LINE = re.compile(
    r"^(?P<time>\S+) .* regionserver\.HStore: (?P<what>Starting|Completed major) compaction of ",
    re.MULTILINE,
)
TIME = "%Y-%m-%dT%H:%M:%S,%f"
LONGEST_SECONDS = 600


@dataclass(frozen=True)
class Compactions:
    """Begin of the first and end of the last one, in seconds since 1970, and how many ended."""

    first_begin: float
    last_end: float
    ended: int


def compactions_in(log: str, since: float = 0.0) -> Compactions | None:
    """Major compactions since a moment of which a log tells; None when none has begun."""
    begins, ends = [], []
    for line in LINE.finditer(log):
        # Logs have the time of this machine, without a zone.
        seconds = datetime.strptime(line["time"], TIME).timestamp()
        if seconds >= since:
            (begins if line["what"] == "Starting" else ends).append(seconds)
    return Compactions(min(begins), max(ends, default=0.0), len(ends)) if begins else None


def wait_for_compactions(log: Callable[[], str], count: int, since: float) -> Compactions:
    """Those since a moment, when so many have ended; TimeoutError when they do not end."""

    def ended() -> bool:
        return (now := compactions_in(log(), since)) is not None and now.ended >= count

    wait_until(ended, f"the end of {count} compactions", 0.5, LONGEST_SECONDS)
    return compactions_in(log(), since)
