"""What a trace of progress shows: how soon an order had its effect, and what rate was kept.

A trace has a time and the bytes that are done by then for each look at the compactions. They grow
in steps, of what a store does at once, so rates are taken from step to step.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

GRID_SECONDS = 0.001


@dataclass
class Progress:
    """Bytes done by tasks that come and go: one that has ended counts with what it had."""

    done_bytes: dict[str, int] = field(default_factory=dict)

    def look(self, tasks: Iterable[Mapping[str, Any]]) -> int:
        """Take note of the tasks, and give the bytes of all so far."""
        for task in tasks:
            before = self.done_bytes.get(task["id"], 0)
            self.done_bytes[task["id"]] = max(before, task["bytes_done"])
        return sum(self.done_bytes.values())


@dataclass
class Trace:
    """Looks at the progress, in their order."""

    seconds: list[float] = field(default_factory=list)
    bytes_done: list[int] = field(default_factory=list)

    def add(self, seconds: float, bytes_done: int) -> None:
        """Note a look."""
        self.seconds.append(seconds)
        self.bytes_done.append(bytes_done)

    def since(self, moment: float) -> Trace:
        """The same looks, with their times counted from a moment: negative before it."""
        return Trace([seconds - moment for seconds in self.seconds], list(self.bytes_done))


def seconds_to_effect(trace: Trace, old_rate: float, new_rate: float) -> float:
    """When the rate went over from the old one to the new one; the order was given at 0.

    That is the breakpoint with which two straight lines of these slopes fit the trace best. The end
    of the trace means that there was no effect. Looks before the order, at negative times, tell
    where the first line lies, and so make the breakpoint certain where steps are long.
    """
    if old_rate == new_rate:
        raise ValueError(f"the rate stays at {old_rate}: that has no effect to be seen")
    seconds = np.asarray(trace.seconds)[:, np.newaxis]
    done = np.asarray(trace.bytes_done, dtype=float)[:, np.newaxis]
    end = float(seconds.max())
    breaks = np.arange(0, end + GRID_SECONDS, GRID_SECONDS)[np.newaxis, :]
    expected = old_rate * np.minimum(seconds, breaks) + new_rate * np.maximum(seconds - breaks, 0)
    residual = done - expected
    residual -= residual.mean(axis=0)
    best = int(np.argmin((residual**2).sum(axis=0)))
    return min(end, best * GRID_SECONDS)


def kept_rate(trace: Trace, start: float, end: float) -> float:
    """Bytes per second between the first and the last step of an interval."""
    looks = zip(trace.seconds, trace.bytes_done, strict=True)
    steps = [
        (seconds, done)
        for (_, done_before), (seconds, done) in itertools.pairwise(looks)
        if done > done_before and start <= seconds <= end
    ]
    if len(steps) < 2:
        raise ValueError(f"no progress to be seen from {start:g} s to {end:g} s")
    (first_seconds, first_done), (last_seconds, last_done) = steps[0], steps[-1]
    return (last_done - first_done) / (last_seconds - first_seconds)


def nearest_rank(values: Sequence[float], share: float) -> float:
    """A percentile by nearest rank: at least so many of the values are not above it."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def furthest_from_one(ratios: Sequence[float]) -> float:
    """The worst of some ratios."""
    return max(ratios, key=lambda ratio: abs(ratio - 1))
