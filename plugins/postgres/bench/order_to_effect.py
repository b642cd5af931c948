"""Measures how long an order to a running checkpoint takes to have its effect.

A checkpoint is held and released in turn. The effect of a hold is the first look at the progress
that says `held`; that of a rate is the first buffer written after the order. Then each rate is
kept for five seconds and compared with what was written, and a hold is watched for four.
"""

from __future__ import annotations

import time

import psycopg
from cluster import (
    SLUICE_SETTINGS,
    STORE,
    dirty_buffers,
    progress,
    staged_prefix,
    temporary_cluster,
)
from sluice_evaluation.bench.command_line import measurement_parser, report
from sluice_evaluation.bench.waiting import wait_until
from sluice_evaluation.measurements import Figure

OWNER = "bench"
RATES_BYTES_PER_SECOND = (2_000_000, 20_000_000)
RATE_SECONDS = 5.0
HOLD_SECONDS = 4.0


def set_pace(session: psycopg.Connection, mode: str, rate: int | None = None) -> None:
    """Order a pace for ten minutes."""
    session.execute(
        "SELECT sluice.set_checkpoint_pace(%s, %s, '10 min', rate_bytes_per_second => %s)",
        (mode, OWNER, rate),
    )


def seconds_until(condition) -> float:
    """Time until a condition holds, looked at without a pause."""
    start = time.monotonic()
    while not condition():
        if time.monotonic() - start > 10:
            raise TimeoutError("an order had no effect within 10 s")
    return time.monotonic() - start


def one_cycle(session: psycopg.Connection) -> tuple[float, float]:
    """Seconds from a hold, and from a rate, to the effect."""
    start = time.monotonic()
    set_pace(session, "hold")
    seconds_until(lambda: progress(session, "state") == ("held",))
    held = time.monotonic() - start

    (before,) = progress(session, "buffers_done")
    start = time.monotonic()
    set_pace(session, "rate", RATES_BYTES_PER_SECOND[0])
    seconds_until(lambda: progress(session, "buffers_done") > (before,))
    return held, time.monotonic() - start


def rate_error(session: psycopg.Connection, rate: int) -> float:
    """Relative error of what was written in five seconds."""
    set_pace(session, "rate", rate)
    elapsed, written = progress(session, "elapsed_seconds", "bytes_written")
    time.sleep(RATE_SECONDS)
    later, more = progress(session, "elapsed_seconds", "bytes_written")
    return (more - written) / ((later - elapsed) * rate) - 1


def held_buffers(session: psycopg.Connection) -> int:
    """Buffers written during a hold of four seconds."""
    set_pace(session, "hold")
    seconds_until(lambda: progress(session, "state") == ("held",))
    (before,) = progress(session, "buffers_done")
    time.sleep(HOLD_SECONDS)
    return progress(session, "buffers_done")[0] - before


def measure(session: psycopg.Connection, orders: int) -> list[Figure]:
    """Times to the effect, errors of rates, and what a hold lets through."""
    dirty_buffers(session, 24_000)
    session.execute("SELECT sluice.start_checkpoint(%s, '10 min', 2000000)", (OWNER,))
    wait_until(lambda: progress(session, "phase") == ("write",), "the write phase")
    times = [t for _ in range(orders // 2) for t in one_cycle(session)]
    ordered = sorted(times)
    what = f"time to effect of {len(times)} orders"
    return [
        Figure(f"{what}, p50", "s", ordered[len(times) // 2]),
        Figure(
            f"{what}, p99",
            "s",
            ordered[int(len(times) * 0.99)],
            expected={"max": 0.050},
            values=times,
        ),
        Figure(f"{what}, maximum", "s", ordered[-1]),
        *(
            Figure(
                f"bytes written in {RATE_SECONDS:g} s over those of {rate / 1e6:g} MB/s",
                "1",
                1 + rate_error(session, rate),
                expected={"min": 0.98, "max": 1.02},
            )
            for rate in RATES_BYTES_PER_SECOND
        ),
        Figure(
            f"buffers written in a hold of {HOLD_SECONDS:g} s",
            "1",
            held_buffers(session),
            expected={"max": 0},
        ),
    ]


def main() -> None:
    """Command line."""
    parser = measurement_parser(STORE, __doc__)
    parser.add_argument("--orders", type=int, default=200, help="(default: %(default)s)")
    args = parser.parse_args()
    prefix = staged_prefix(args.version, "patched")
    with temporary_cluster(prefix, SLUICE_SETTINGS) as cluster, cluster.connect() as session:
        session.execute("CREATE EXTENSION sluice")
        figures = measure(session, args.orders)
    report(args, "order-to-effect", "Orders to a running checkpoint", figures)


if __name__ == "__main__":
    main()
