"""Measures requests that need a checkpoint, with and without one being held.

CHECKPOINT, DROP DATABASE, a fast stop, promotion of a standby and a base backup are timed in
turn, in pairs: once while a checkpoint runs at upstream's pace, once while it is held by a lease of
ten minutes.
"""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from cluster import (
    SLUICE_SETTINGS,
    Cluster,
    dirty_buffers,
    progress,
    staged_prefix,
    temporary_cluster,
    wait_until,
)
from command_line import measurement_parser, report
from sluice_evaluation.measurements import Figure

OWNER = "bench"
BUFFERS = 8_000


def start_checkpoint(cluster: Cluster, held: bool) -> None:
    """Leave a checkpoint in its write phase, held or at upstream's pace."""
    with cluster.connect() as session:
        (standby,) = session.execute("SELECT pg_is_in_recovery()").fetchone()
        if not standby:
            dirty_buffers(session, BUFFERS)
        session.execute("SELECT sluice.start_checkpoint(%s, '10 min', 1000000)", (OWNER,))
        wait_until(lambda: progress(session, "phase") == ("write",), "the write phase")
        mode = "hold" if held else "stock"
        session.execute("SELECT sluice.set_checkpoint_pace(%s, %s, '10 min')", (mode, OWNER))
        wait_until(lambda: progress(session, "pace") == (mode,), f"the pace {mode}")


def seconds(action) -> float:
    """Time of an action."""
    start = time.monotonic()
    action()
    return time.monotonic() - start


def sql(cluster: Cluster, statement: str) -> None:
    """Run one statement in a session of its own."""
    with cluster.connect() as session:
        session.execute(statement)


def time_checkpoint(cluster: Cluster, held: bool) -> float:
    """CHECKPOINT."""
    start_checkpoint(cluster, held)
    return seconds(lambda: sql(cluster, "CHECKPOINT"))


def time_drop_database(cluster: Cluster, held: bool) -> float:
    """DROP DATABASE."""
    sql(cluster, "CREATE DATABASE doomed")
    start_checkpoint(cluster, held)
    return seconds(lambda: sql(cluster, "DROP DATABASE doomed"))


def back_up(cluster: Cluster, target: Path, *options: str) -> None:
    """Base backup with a fast checkpoint."""
    cluster.run("pg_basebackup", "-D", target, "--checkpoint=fast", "--no-sync", *options)


def time_base_backup(cluster: Cluster, held: bool) -> float:
    """pg_basebackup --checkpoint=fast."""
    target = cluster.folder / "backup"
    start_checkpoint(cluster, held)
    taken = seconds(lambda: back_up(cluster, target))
    shutil.rmtree(target)
    return taken


def time_fast_stop(cluster: Cluster, held: bool) -> float:
    """pg_ctl stop -m fast."""
    start_checkpoint(cluster, held)
    taken = seconds(lambda: cluster.stop("fast"))
    cluster.start()
    return taken


def make_standby(primary: Cluster, folder: Path) -> Cluster:
    """A started standby in a folder of its own."""
    standby = Cluster(primary.prefix, folder)
    back_up(primary, standby.data, "-R")
    standby.configure({"unix_socket_directories": str(folder)})
    standby.start()
    return standby


def replayed(primary: Cluster, standby: Cluster) -> bool:
    """Whether the standby has replayed all that the primary has written."""
    with primary.connect() as session, standby.connect() as reader:
        (position,) = session.execute("SELECT pg_current_wal_lsn()").fetchone()
        query = "SELECT coalesce(pg_last_wal_replay_lsn() >= %s::pg_lsn, false)"
        return bool(reader.execute(query, (position,)).fetchone()[0])


def time_promotion(cluster: Cluster, held: bool) -> float:
    """pg_promote on a standby whose restartpoint is running."""
    folder = cluster.folder / "standby"
    folder.mkdir(mode=0o700)
    shutil.chown(folder, cluster.folder.owner(), cluster.folder.group())
    standby = make_standby(cluster, folder)
    try:
        with cluster.connect() as session:
            dirty_buffers(session, BUFFERS)
            session.execute("CHECKPOINT")
        wait_until(lambda: replayed(cluster, standby), "replay on the standby")
        start_checkpoint(standby, held)
        return seconds(lambda: sql(standby, "SELECT pg_promote()"))
    finally:
        standby.stop("immediate")
        shutil.rmtree(folder)


REQUESTS = {
    "CHECKPOINT": time_checkpoint,
    "DROP DATABASE": time_drop_database,
    "base backup": time_base_backup,
    "fast stop": time_fast_stop,
    "promotion": time_promotion,
}


def measure(cluster: Cluster, rounds: int) -> Iterator[Figure]:
    """Median seconds of each request, with and without a hold, and the median of the ratios."""
    for name, request in REQUESTS.items():
        pairs = [(request(cluster, False), request(cluster, True)) for _ in range(rounds)]
        free, held = (list(side) for side in zip(*pairs, strict=True))
        ratios = [h / f for f, h in pairs]
        yield Figure(f"{name}, without a hold", "s", statistics.median(free), values=free)
        yield Figure(f"{name}, during a hold", "s", statistics.median(held), values=held)
        yield Figure(
            f"{name}, ratio of both",
            "1",
            statistics.median(ratios),
            expected={"max": 2.0},
            values=ratios,
        )


def main() -> None:
    """Command line."""
    parser = measurement_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="(default: %(default)s)")
    args = parser.parse_args()
    prefix = staged_prefix(args.version, "patched")
    with temporary_cluster(prefix, SLUICE_SETTINGS) as cluster:
        sql(cluster, "CREATE EXTENSION sluice")
        figures = list(measure(cluster, args.rounds))
    report(
        args, "requests-during-hold", "Requests that need a checkpoint, while one is held", figures
    )


if __name__ == "__main__":
    main()
