"""The processes of a server: when its backends have ended, and what time they have used."""

from __future__ import annotations

import os
from pathlib import Path

from cluster import Cluster
from sluice_evaluation.bench.waiting import wait_until

# Those that a server starts last, when clients can connect already.
STARTED_LAST = {"background writer", "checkpointer", "walwriter"}

# Counts in a row that have to agree: a backend that has just ended is there for some milliseconds.
SAME_COUNTS = 10


def auxiliary_processes(cluster: Cluster) -> int:
    """Number of the server's own processes, which stay while clients come and go.

    Not all of them are in pg_stat_activity: workers without a database are not.
    """
    query = "SELECT backend_type FROM pg_stat_activity"
    counts: list[int] = []

    def settled() -> bool:
        kinds = [kind for (kind,) in session.execute(query).fetchall()]
        if not set(kinds) >= STARTED_LAST:
            return False
        counts.append(children(cluster) - kinds.count("client backend"))
        return len(counts) >= SAME_COUNTS and len(set(counts[-SAME_COUNTS:])) == 1

    with cluster.connect() as session:
        wait_until(settled, f"all of {sorted(STARTED_LAST)}, and as many processes for a while")
    return counts[-1]


def _postmaster(cluster: Cluster) -> Path:
    pid = (cluster.data / "postmaster.pid").read_text().split()[0]
    return Path("/proc") / pid


def children(cluster: Cluster) -> int:
    """Number of the server's processes, backends and others."""
    process = _postmaster(cluster)
    return len((process / "task" / process.name / "children").read_text().split())


def wait_for_backends(cluster: Cluster, auxiliaries: int) -> None:
    """Wait until the backends of all clients have ended and were waited for."""
    wait_until(lambda: children(cluster) <= auxiliaries, "the end of the clients' backends")


def ended_backends_seconds(cluster: Cluster) -> float:
    """Processor time that the backends which have ended used."""
    # The second field, in parentheses, may hold blanks; see proc(5).
    fields = (_postmaster(cluster) / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
