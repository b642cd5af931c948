"""Whether the processors are this machine's alone: what a hypervisor gives to others meanwhile.

Standard library alone, so that a node can run this very file. All processors are kept in half use:
one that slept has to be given back each time, as under a load of requests, which takes long where
other guests of the host are on it. A processor that never sleeps shows less of that.
"""

import argparse
import json
import multiprocessing
import os
import sys
import time
from pathlib import Path

DURATION_SECONDS = 20.0
# Where the report warns of it.
MOST_STOLEN_SHARE = 0.01
_TURN_SECONDS = 0.005
# User, nice, system, idle, iowait, irq, softirq, steal; what follows is in user already.
_FIELDS = 8


def stolen_share(before: str, after: str) -> float:
    """Stolen of all processor time between two texts of /proc/stat; 0 where no time passed."""
    passed = [b - a for a, b in zip(_ticks(before), _ticks(after), strict=True)]
    return passed[-1] / sum(passed) if sum(passed) > 0 else 0.0


def _ticks(text: str) -> list[int]:
    return [int(field) for field in text.splitlines()[0].split()[1 : 1 + _FIELDS]]


def observe(duration_seconds: float, proc: Path = Path("/proc")) -> dict[str, float]:
    """Keep all processors in half use, and see what others had of them."""
    begin = time.monotonic()
    users = [
        multiprocessing.Process(target=_use_half, args=(begin + duration_seconds,), daemon=True)
        for _ in range(os.cpu_count() or 1)
    ]
    before = (proc / "stat").read_text()
    for user in users:
        user.start()
    for user in users:
        user.join()
    after = (proc / "stat").read_text()
    return {
        "duration_seconds": round(time.monotonic() - begin, 3),
        "stolen_share": round(stolen_share(before, after), 5),
    }


def _use_half(end: float) -> None:
    while time.monotonic() < end:
        turn_end = time.monotonic() + _TURN_SECONDS
        while time.monotonic() < turn_end:
            pass
        time.sleep(_TURN_SECONDS)


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


def run(arguments: argparse.Namespace) -> int:
    """Print what was seen; 1 when it is too much."""
    seen = observe(arguments.duration)
    print(json.dumps(seen))
    if seen["stolen_share"] <= arguments.most_stolen_share:
        return 0
    print(
        f"other guests of the host had {seen['stolen_share']:.1%} of the processors' time (steal "
        f"in /proc/stat), more than {arguments.most_stolen_share:.1%}: what is measured here would "
        "be theirs too; measure on another machine, or when they are gone",
        file=sys.stderr,
    )
    return 1


def main(arguments: list[str]) -> int:
    """The command, as a bare file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_arguments(parser)
    return run(parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
