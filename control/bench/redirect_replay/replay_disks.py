"""A fast disk and slow ones in memory, with the rates and delays of the test bed's models."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sluice_evaluation.bench.memory_disks import disk_models, memory_disks

TOP = Path(__file__).resolve().parents[3]
DISK_BYTES = 512 << 20
# As many bytes as the model lets through at once are not slowed: of a large write all would be.
FAST_BURSTINESS_SECONDS = 0.002


@dataclass(frozen=True)
class ReplayDisks:
    """Folders on the disks."""

    fast: Path
    slow: list[Path]


def models(fast_bytes_per_second: int) -> tuple[dict, dict]:
    """Device models of the fast disk and of a slow one."""
    known = disk_models(TOP)
    parameters = known["ssd"]["parameters"] | {"burstiness": FAST_BURSTINESS_SECONDS}
    fast = known["ssd"] | {
        "rate_bytes_per_second": fast_bytes_per_second,
        "parameters": parameters,
    }
    return fast, known["hdd"]


@contextlib.contextmanager
def replay_disks(
    memory: Path | None, fast_bytes_per_second: int, slow_count: int
) -> Iterator[ReplayDisks]:
    """New disks, taken down with their content afterwards; SystemExit where there can be none."""
    fast, slow = models(fast_bytes_per_second)
    slows = [f"slow{number}" for number in range(slow_count)]
    named = {"fast": fast} | dict.fromkeys(slows, slow)
    with memory_disks(TOP, memory, named, DISK_BYTES) as disks:
        yield ReplayDisks(disks["fast"], [disks[name] for name in slows])
