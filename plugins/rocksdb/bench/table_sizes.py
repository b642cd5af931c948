"""What a database has written to its tables, by the sizes of their files.

Nothing of the store is asked for it: the file system knows the size of a table after each system
call that writes to it.
"""

from __future__ import annotations

import bisect
import os
from dataclasses import dataclass, field
from pathlib import Path

from sluice_evaluation.bench.traces import Trace

TABLE = ".sst"


@dataclass
class TableSizes:
    """Tables of a folder that come, grow and go: one that is gone counts with what it had."""

    folder: Path
    bytes_by_name: dict[str, int] = field(default_factory=dict)

    def written_bytes(self) -> int:
        """Bytes of all tables that were there at any look so far."""
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name.endswith(TABLE):
                    self._note(entry)
        return sum(self.bytes_by_name.values())

    def _note(self, entry: os.DirEntry[str]) -> None:
        try:
            size = entry.stat().st_size
        except FileNotFoundError:
            return  # removed since the folder was read
        self.bytes_by_name[entry.name] = max(size, self.bytes_by_name.get(entry.name, 0))


def growth_seconds(trace: Trace) -> list[float]:
    """Times of the looks that saw more than the look before."""
    before = trace.bytes_done[0]
    seen = []
    for seconds, done in zip(trace.seconds[1:], trace.bytes_done[1:], strict=True):
        if done > before:
            seen.append(seconds)
        before = done
    return seen


def seconds_to_stop(trace: Trace, within_seconds: float) -> float:
    """When the last bytes came within so long after an order at 0; 0 when none came.

    No effect is as long as that.
    """
    return max((each for each in growth_seconds(trace) if 0 < each <= within_seconds), default=0.0)


def seconds_to_go_on(trace: Trace) -> float:
    """When the first bytes came after an order at 0.

    The end of the trace means that there was no effect.
    """
    end = max(trace.seconds)
    return min((seconds for seconds in growth_seconds(trace) if seconds > 0), default=end)


def bytes_at(trace: Trace, moment: float) -> int:
    """What the last look until a moment has seen; ValueError when there was none."""
    looks = bisect.bisect_right(trace.seconds, moment)
    if looks == 0:
        raise ValueError(f"nobody has looked until {moment:g} s")
    return trace.bytes_done[looks - 1]


def share_beside(lower: Trace, higher: Trace, since: float) -> float:
    """What a lower rank wrote beside a higher one, over what the higher one wrote.

    That is from a moment to the last write of the higher one, which began after 0. ValueError when
    it has written nothing.
    """
    its = [seconds for seconds in growth_seconds(higher) if seconds > 0]
    if not its:
        raise ValueError("the compaction of a higher rank has written nothing")
    beside = bytes_at(lower, max(its[-1], since)) - bytes_at(lower, since)
    return beside / (higher.bytes_done[-1] - bytes_at(higher, 0))
