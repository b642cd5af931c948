"""Instructions that a backend executes per transaction, counted by valgrind's callgrind.

Only PostgresMain and what it calls is counted, that is, backends and not the postmaster or its
auxiliary processes. The count of a transaction is the difference of a long and a short run of
pgbench, over the difference of their transactions: start and end of a session cancel, and so does
the session in which pgbench looks at its tables. What would count differently by chance is kept
alike: random numbers are those of the repetition on all servers; every run starts after a
checkpoint, for the sake of full page images; pgbench does not interrupt the server on its
processor, so that the server always has to wait for a message. The server's heap is laid out
alike, see `start_inside`: string functions execute more instructions where a string crosses pages.
What is left to chance is whether the session or the WAL writer prepares a page of WAL (0.1% of a
writing transaction).
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pgbench
from backend_processes import auxiliary_processes, wait_for_backends
from cluster import Cluster, own, temporary_cluster
from sluice_evaluation.bench.callgrind import counted, counting
from sluice_evaluation.bench.pinning import pinned, processors, yielding
from sluice_evaluation.bench.waiting import wait_until

SHORT, LONG = 500, 2500  # transactions
SETTINGS = {
    "shared_buffers": "64MB",
    "huge_pages": "off",
    "max_logical_replication_workers": "0",
    # Processes that do not belong to the session shall not come between.
    "wal_writer_delay": "10s",
    "bgwriter_delay": "10s",
    # To find the session's process.
    "log_disconnections": "on",
    "log_line_prefix": "%p %a ",
    # Of the same length everywhere, as it is copied with every change of what ps shows.
    "cluster_name": "counted",
}


def _backends(cluster: Cluster, name: str) -> list[str]:
    """Process numbers of the sessions that had an application name."""
    return re.findall(rf"^(\d+) {name} LOG: +disconnection", cluster.log.read_text(), re.M)


def _count(
    cluster: Cluster, folder: Path, auxiliaries: int, options: list[str], name: str, count: int
) -> int:
    """Instructions of the sessions of one pgbench run."""
    with cluster.connect() as session:
        session.execute("CHECKPOINT")
    wait_for_backends(cluster, auxiliaries)
    pgbench.run(
        cluster,
        f"--transactions={count}",
        *options,
        f"application_name={name}",
        seed=int(name.rpartition("-")[2]),
        under=yielding(processors()[0]),
    )
    wait_for_backends(cluster, auxiliaries)
    files = [folder / pid for pid in _backends(cluster, name)]
    if not files:
        raise SystemExit(f"no session {name} in the log of the server:\n{cluster.log.read_text()}")
    wait_until(lambda: all(counted(file) is not None for file in files), "callgrind's counts")
    return sum(counted(file) or 0 for file in files)


def per_transaction(
    prefix: Path, settings: dict[str, str], options: list[str], repetitions: int
) -> list[float]:
    """Instructions per transaction of pgbench with these options, a value each repetition."""
    with (
        tempfile.TemporaryDirectory(prefix="sluice-callgrind-") as name,
        temporary_cluster(prefix, {**SETTINGS, **settings}) as cluster,
    ):
        folder = Path(name)
        own(folder)
        pgbench.initialize(cluster, scale=1)
        cluster.stop()
        server = cluster.start_inside(
            [
                *pinned(processors()[0]),
                *counting(f"{folder}/%p", "--collect-atstart=no", "--toggle-collect=PostgresMain"),
            ]
        )
        pgbench.read_all(cluster)
        auxiliaries = auxiliary_processes(cluster)
        _count(cluster, folder, auxiliaries, options, "warm-0", SHORT)
        values = []
        for number in range(1, repetitions + 1):
            short, long = (
                _count(cluster, folder, auxiliaries, options, f"{kind}-{number}", count)
                for kind, count in (("short", SHORT), ("long", LONG))
            )
            values.append((long - short) / (LONG - SHORT))
        cluster.stop()
        server.wait()
        return values
