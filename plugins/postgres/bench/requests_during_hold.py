"""Measures requests that need a checkpoint, with one being held and without the extension.

CHECKPOINT, DROP DATABASE, a fast stop, promotion of a standby and a base backup are timed in
turn, in pairs: once on a server without the extension while a spread checkpoint runs, once on one
with the extension while it is held by a lease of ten minutes.
"""

from __future__ import annotations

import contextlib
import shutil
import statistics
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
from cluster import (
    SLUICE_SETTINGS,
    STORE,
    Cluster,
    dirty_buffers,
    progress,
    staged_prefix,
    temporary_cluster,
)
from sluice_evaluation.bench.command_line import at_least, measurement_parser, report
from sluice_evaluation.bench.ratios import ratio_figure
from sluice_evaluation.bench.waiting import wait_until
from sluice_evaluation.measurements import Figure

OWNER = "bench"
BUFFERS = 8_000
PROMOTION_POLL_SECONDS = 0.001


def hold_checkpoint(session: psycopg.Connection) -> None:
    """Leave a checkpoint held in its write phase."""
    session.execute("SELECT sluice.start_checkpoint(%s, '10 min', 1000000)", (OWNER,))
    wait_until(lambda: progress(session, "phase") == ("write",), "the write phase")
    session.execute("SELECT sluice.set_checkpoint_pace('hold', %s, '10 min')", (OWNER,))
    wait_until(lambda: progress(session, "state") == ("held",), "the hold")


def spread_checkpoint(session: psycopg.Connection) -> None:
    """Leave a checkpoint in its write phase, at upstream's pace: a backup has asked for it."""
    backup = psycopg.connect(session.info.dsn, autocommit=True)
    threading.Thread(target=start_backup, args=(backup,), daemon=True).start()
    query = "SELECT wait_event FROM pg_stat_activity WHERE backend_type = 'checkpointer'"
    naps = ("CheckpointWriteDelay",)
    wait_until(lambda: session.execute(query).fetchone() == naps, "the write phase")


def start_backup(session: psycopg.Connection) -> None:
    """Wait for a spread checkpoint; the request that is measured may end the server meanwhile."""
    with session, contextlib.suppress(psycopg.OperationalError):
        session.execute("SELECT pg_backup_start('bench', fast => false)")


def start_checkpoint(cluster: Cluster) -> None:
    """Leave a checkpoint in its write phase, held if the server has the extension."""
    with cluster.connect() as session:
        (standby,) = session.execute("SELECT pg_is_in_recovery()").fetchone()
        if not standby:
            dirty_buffers(session, BUFFERS)
        if session.execute("SELECT 1 FROM pg_extension WHERE extname = 'sluice'").fetchone():
            hold_checkpoint(session)
        else:
            spread_checkpoint(session)


def seconds(action) -> float:
    """Time of an action."""
    start = time.monotonic()
    action()
    return time.monotonic() - start


def sql(cluster: Cluster, statement: str) -> None:
    """Run one statement in a session of its own."""
    with cluster.connect() as session:
        session.execute(statement)


def time_checkpoint(cluster: Cluster) -> float:
    """CHECKPOINT."""
    start_checkpoint(cluster)
    return seconds(lambda: sql(cluster, "CHECKPOINT"))


def time_drop_database(cluster: Cluster) -> float:
    """DROP DATABASE."""
    sql(cluster, "CREATE DATABASE doomed")
    start_checkpoint(cluster)
    return seconds(lambda: sql(cluster, "DROP DATABASE doomed"))


def back_up(cluster: Cluster, target: Path, *options: str) -> None:
    """Base backup with a fast checkpoint."""
    cluster.run("pg_basebackup", "-D", target, "--checkpoint=fast", "--no-sync", *options)


def time_base_backup(cluster: Cluster) -> float:
    """pg_basebackup --checkpoint=fast."""
    target = cluster.folder / "backup"
    start_checkpoint(cluster)
    taken = seconds(lambda: back_up(cluster, target))
    shutil.rmtree(target)
    return taken


def time_fast_stop(cluster: Cluster) -> float:
    """pg_ctl stop -m fast."""
    start_checkpoint(cluster)
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


def promote(session: psycopg.Connection) -> None:
    """Promote a standby. pg_promote's own wait would round its time up to tenths of a second."""
    session.execute("SELECT pg_promote(wait => false)")
    query = "SELECT NOT pg_is_in_recovery()"
    wait_until(
        lambda: session.execute(query).fetchone() == (True,), "promotion", PROMOTION_POLL_SECONDS
    )


def time_promotion(cluster: Cluster) -> float:
    """Promotion of a standby whose restartpoint is running, until it takes writes."""
    folder = cluster.folder / "standby"
    folder.mkdir(mode=0o700)
    shutil.chown(folder, cluster.folder.owner(), cluster.folder.group())
    standby = make_standby(cluster, folder)
    try:
        with cluster.connect() as session:
            dirty_buffers(session, BUFFERS)
            session.execute("CHECKPOINT")
        wait_until(lambda: replayed(cluster, standby), "replay on the standby")
        start_checkpoint(standby)
        with standby.connect() as session:
            return seconds(lambda: promote(session))
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


def measure(without: Cluster, held: Cluster, rounds: int) -> Iterator[Figure]:
    """Seconds of each request on both servers, and the ratio of the means."""
    for name, request in REQUESTS.items():
        pairs = [(request(without), request(held)) for _ in range(rounds)]
        free, during = (list(side) for side in zip(*pairs, strict=True))
        yield Figure(f"{name}, without the extension", "s", statistics.mean(free), values=free)
        yield Figure(f"{name}, during a hold", "s", statistics.mean(during), values=during)
        yield ratio_figure(f"{name}, ratio of both", during, free, {"max": 2.0})


def main() -> None:
    """Command line."""
    parser = measurement_parser(STORE, __doc__)
    parser.add_argument("--rounds", type=at_least(2), default=5, help="(default: %(default)s)")
    args = parser.parse_args()
    prefix = staged_prefix(args.version, "patched")
    with (
        temporary_cluster(prefix, {}) as without,
        temporary_cluster(prefix, SLUICE_SETTINGS) as held,
    ):
        sql(held, "CREATE EXTENSION sluice")
        figures = list(measure(without, held, args.rounds))
    report(
        args, "requests-during-hold", "Requests that need a checkpoint, while one is held", figures
    )


if __name__ == "__main__":
    main()
