"""Whether the processors are this machine's alone, and how fast they do work of kernel and memory.

Standard library alone, so that a node can run this very file. All processors are kept in half use:
one that slept has to be given back each time, as under a load of requests, which takes long where
other guests of the host are on it. A processor that never sleeps shows less of that.

Guests that use what processors share, as their cache and memory, do not show as stolen time: the
same work takes more processor time. So the use is work of the two kinds that suffer, counted by
the processor time that it takes: a read of 64 bytes from /dev/zero is little but its system call,
and the first write to a page little but the page fault, in which the kernel clears it.

A host can also hold a processor up for tens of milliseconds and count none of it as stolen. The end
of a turn of use is late then, or that of the sleep that follows it.
"""

import argparse
import itertools
import json
import mmap
import multiprocessing
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

DURATION_SECONDS = 20.0
# Where the report warns of it.
MOST_STOLEN_SHARE = 0.01
MOST_SPREAD_RATIO = 1.5
# It is not known yet what a machine that is fit has: docs/evaluation.md.
MOST_PAUSED_SHARE = 1.0
KINDS = ("system_calls", "page_faults")
_TURN_SECONDS = 0.005
# Of one kind, in 0.2 s where nothing else runs: short beside a neighbour that comes and goes.
_WINDOW_TURNS = 10
_CALLS_AT_A_TIME = 1000
_READ_BYTES = 64
# More than a processor's own caches have, less than the ones that several share.
_MAPPED_BYTES = 4 << 20
# User, nice, system, idle, iowait, irq, softirq, steal; what follows is in user already.
_FIELDS = 8

# A turn and its sleep are late by less without a host's doing: by the last work of the turn, and
# by a slice of the scheduler for another process.
_LEAST_PAUSE_SECONDS = 0.01

# How much was done, and in how many seconds of a processor.
Turn = tuple[int, float]


def stolen_share(before: str, after: str) -> float:
    """Stolen of all processor time between two texts of /proc/stat; 0 where no time passed."""
    passed = [b - a for a, b in zip(_ticks(before), _ticks(after), strict=True)]
    return passed[-1] / sum(passed) if sum(passed) > 0 else 0.0


def _ticks(text: str) -> list[int]:
    return [int(field) for field in text.splitlines()[0].split()[1 : 1 + _FIELDS]]


def window_rates(turns: Sequence[Turn]) -> list[float]:
    """Operations per processor second in each window of one processor's turns of a kind, by time.

    Turns that do not fill the last window are left out, unless there is no other.
    """
    begins = range(0, len(turns) - _WINDOW_TURNS + 1, _WINDOW_TURNS)
    windows = [turns[begin : begin + _WINDOW_TURNS] for begin in begins] or [turns]
    return [sum(count for count, _ in w) / sum(seconds for _, seconds in w) for w in windows]


def summary(rates: Iterable[float]) -> dict[str, float]:
    """Median and the ends of the slowest and the fastest tenth, which one odd window cannot move.

    `spread_ratio` is the fastest tenth over the slowest: 1 where nothing changes.
    """
    ordered = sorted(rates)
    slowest, median, fastest = (
        ordered[round(share * (len(ordered) - 1))] for share in (0.1, 0.5, 0.9)
    )
    return {
        "slowest_tenth_per_processor_second": round(slowest, 1),
        "median_per_processor_second": round(median, 1),
        "fastest_tenth_per_processor_second": round(fastest, 1),
        "spread_ratio": round(fastest / slowest, 3),
    }


def pauses(late_seconds: Iterable[float], looked_seconds: float) -> dict[str, float]:
    """The longest pause of a processor, and the share of all pauses of the time looked at."""
    found = [late for late in late_seconds if late >= _LEAST_PAUSE_SECONDS]
    return {
        "longest_pause_seconds": round(max(found, default=0.0), 4),
        "paused_share": round(sum(found) / looked_seconds, 5),
    }


def observe(duration_seconds: float, proc: Path = Path("/proc")) -> dict:
    """Keep all processors in half use, and see what others had of them and how fast they were."""
    begin = time.monotonic()
    count = os.cpu_count() or 1
    before = (proc / "stat").read_text()
    with multiprocessing.Pool(count) as users:
        used = users.map(_use_half, [begin + duration_seconds] * count, chunksize=1)
    after = (proc / "stat").read_text()
    late_seconds = itertools.chain(*(late for _, late in used))
    return {
        "duration_seconds": round(time.monotonic() - begin, 3),
        "stolen_share": round(stolen_share(before, after), 5),
        **pauses(late_seconds, duration_seconds * count),
    } | {
        kind: summary(itertools.chain(*(window_rates(turns[kind]) for turns, _ in used)))
        for kind in KINDS
    }


def _use_half(end: float) -> tuple[dict[str, list[Turn]], list[float]]:
    work = dict(zip(KINDS, (_system_calls(), _page_faults()), strict=True))
    turns: dict[str, list[Turn]] = {kind: [] for kind in KINDS}
    late_seconds = []
    while True:
        for kind in KINDS:
            begin = time.monotonic()
            turns[kind].append(_turn(work[kind]))
            time.sleep(_TURN_SECONDS)
            late_seconds.append(time.monotonic() - begin - 2 * _TURN_SECONDS)
        if time.monotonic() >= end:
            return turns, late_seconds


def _turn(do_some: Callable[[], int]) -> Turn:
    end, processor_begin, count = time.monotonic() + _TURN_SECONDS, time.thread_time(), 0
    while count == 0 or time.monotonic() < end:
        count += do_some()
    return count, time.thread_time() - processor_begin


def _system_calls() -> Callable[[], int]:
    zeros = os.open("/dev/zero", os.O_RDONLY)

    def read() -> int:
        # Without a loop in Python, which would take as long as the calls.
        arguments = (itertools.repeat(x, _CALLS_AT_A_TIME) for x in (zeros, _READ_BYTES, 0))
        deque(map(os.pread, *arguments), maxlen=0)
        return _CALLS_AT_A_TIME

    return read


def _page_faults() -> Callable[[], int]:
    pages = mmap.mmap(-1, _MAPPED_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    # One fault for each page, however the machine is set up.
    pages.madvise(mmap.MADV_NOHUGEPAGE)
    first_bytes = bytes(_MAPPED_BYTES // mmap.PAGESIZE)

    def touch() -> int:
        pages[:: mmap.PAGESIZE] = first_bytes
        pages.madvise(mmap.MADV_DONTNEED)
        return len(first_bytes)

    return touch


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command, wherever it is called from."""
    parser.add_argument(
        "--duration", type=float, default=DURATION_SECONDS, metavar="SECONDS",
        help="default: %(default)g",
    )  # fmt: skip
    parser.add_argument(
        "--most-stolen-share", type=float, default=MOST_STOLEN_SHARE, metavar="SHARE",
        help="fail when others had more than this share of the processors' time; 1 never fails "
        "(default: %(default)g)",
    )  # fmt: skip
    parser.add_argument(
        "--most-spread", type=float, default=MOST_SPREAD_RATIO, metavar="RATIO",
        help="fail when the fastest tenth of the time did more than so many times the work of the "
        "slowest tenth; inf never fails (default: %(default)g)",
    )  # fmt: skip
    parser.add_argument(
        "--most-paused-share", type=float, default=MOST_PAUSED_SHARE, metavar="SHARE",
        help="fail when the processors were held up for more than this share of the time, for "
        f"{_LEAST_PAUSE_SECONDS * 1e3:g} ms or more at a time; 1 never fails "
        "(default: %(default)g)",
    )  # fmt: skip


def complaints(
    seen: dict, most_stolen_share: float, most_spread: float, most_paused_share: float
) -> list[str]:
    """What is wrong with a machine to measure on, each with what to do next."""
    found = []
    if seen["stolen_share"] > most_stolen_share:
        found.append(
            f"other guests of the host had {seen['stolen_share']:.1%} of the processors' time "
            f"(steal in /proc/stat), more than {most_stolen_share:.1%}: what is measured here "
            "would be theirs too; measure on another machine, or when they are gone"
        )
    # Probes of earlier versions say nothing of pauses.
    if seen.get("paused_share", 0.0) > most_paused_share:
        found.append(
            f"processors were held up for {seen['paused_share']:.2%} of the time, for as long as "
            f"{seen['longest_pause_seconds'] * 1e3:.0f} ms, more than {most_paused_share:.2%}: "
            "what is answered in milliseconds is late for that alone; end what else runs here, "
            "and if it is the host's doing, measure on another machine"
        )
    for kind in KINDS:
        if seen[kind]["spread_ratio"] > most_spread:
            found.append(
                f"{kind.replace('_', ' ')} were {seen[kind]['spread_ratio']:.2f} times as quick in "
                f"the fastest tenth of the time as in the slowest, more than {most_spread:g} "
                "times: something else uses the same caches and memory; end what else runs here, "
                "and if it is another guest of the host, measure on another machine or later"
            )
    return found


def run(arguments: argparse.Namespace) -> int:
    """Print what was seen; 1 when it is too much."""
    seen = observe(arguments.duration)
    print(json.dumps(seen))
    found = complaints(
        seen, arguments.most_stolen_share, arguments.most_spread, arguments.most_paused_share
    )
    for text in found:
        print(text, file=sys.stderr)
    return 1 if found else 0


def main(arguments: list[str]) -> int:
    """The command, as a bare file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_arguments(parser)
    return run(parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
