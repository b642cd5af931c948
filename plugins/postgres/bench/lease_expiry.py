"""Measures when a held checkpoint goes on after its lease has expired, and at what pace.

Each round holds a checkpoint with a lease of one second and looks when it is no longer held. The
pace after the last expiry is compared with upstream's catch-up, for which a lease on `stock` ends
a hold of the same length.
"""

from __future__ import annotations

import statistics
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
TIME_TO_LIVE_SECONDS = 1.0
WATCH_SECONDS = 3.0

# Upstream's schedule would have ended a checkpoint of this length within the hold.
SETTINGS = {**SLUICE_SETTINGS, "checkpoint_timeout": "30s", "checkpoint_completion_target": "0.1"}


def start_checkpoint(session: psycopg.Connection) -> None:
    """A checkpoint with much to do, hardly begun."""
    dirty_buffers(session, 24_000)
    session.execute(
        "SELECT sluice.start_checkpoint(%s, '5 min', 1000000, replace => true)", (OWNER,)
    )
    wait_until(lambda: progress(session, "phase") == ("write",), "the write phase")


def hold(session: psycopg.Connection, time_to_live_seconds: float) -> None:
    """Hold until the lease ends."""
    session.execute(
        "SELECT sluice.set_checkpoint_pace('hold', %s, make_interval(secs => %s))",
        (OWNER, time_to_live_seconds),
    )


def seconds_past_expiry(session: psycopg.Connection) -> float:
    """From the end of the lease to the first look that finds the checkpoint going on."""
    start = time.monotonic()
    hold(session, TIME_TO_LIVE_SECONDS)
    wait_until(lambda: progress(session, "state") == ("held",), "the hold")
    while progress(session, "state") == ("held",):
        pass
    return time.monotonic() - start - TIME_TO_LIVE_SECONDS


def bytes_per_second(session: psycopg.Connection) -> float:
    """What is written in a while from now on, over the time that takes."""
    elapsed, before = progress(session, "elapsed_seconds", "bytes_written")
    deadline = time.monotonic() + WATCH_SECONDS
    later, after = elapsed, before
    while time.monotonic() < deadline:
        now, written = progress(session, "elapsed_seconds", "bytes_written")
        if written is None:
            break
        later, after = now, written
    return (after - before) / (later - elapsed) if later > elapsed else float("inf")


def measure(session: psycopg.Connection, rounds: int) -> list[Figure]:
    """Times past the expiry, and the pace afterwards beside upstream's."""
    start_checkpoint(session)
    late = [seconds_past_expiry(session) for _ in range(rounds)]
    glide = bytes_per_second(session)
    session.execute("CHECKPOINT")

    start_checkpoint(session)
    hold(session, 60)
    time.sleep(rounds * TIME_TO_LIVE_SECONDS)
    session.execute("SELECT sluice.set_checkpoint_pace('stock', %s, '1 min')", (OWNER,))
    what = f"from expiry to a checkpoint that goes on, {rounds} leases"
    return [
        Figure(f"{what}, p50", "s", statistics.median(late)),
        Figure(f"{what}, maximum", "s", max(late), expected={"max": 0.2}, values=late),
        Figure("pace of the glide after a hold", "bytes/s", glide),
        Figure("pace of upstream's catch-up after a hold", "bytes/s", bytes_per_second(session)),
    ]


def main() -> None:
    """Command line."""
    parser = measurement_parser(STORE, __doc__)
    parser.add_argument("--rounds", type=int, default=20, help="(default: %(default)s)")
    args = parser.parse_args()
    prefix = staged_prefix(args.version, "patched")
    with temporary_cluster(prefix, SETTINGS) as cluster, cluster.connect() as session:
        session.execute("CREATE EXTENSION sluice")
        figures = measure(session, args.rounds)
    report(args, "lease-expiry", "Expiry of a lease on a held checkpoint", figures)


if __name__ == "__main__":
    main()
