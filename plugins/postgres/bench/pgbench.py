"""Data and runs of pgbench on a cluster."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from cluster import Cluster

# Every page of the large table and of its index.
READ_ALL = """
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT sum(abalance) FROM pgbench_accounts WHERE aid > 0;
"""


def initialize(cluster: Cluster, scale: int) -> None:
    """Make the tables, with 100 000 accounts for each unit of scale."""
    cluster.run("pgbench", "--initialize", "--quiet", f"--scale={scale}")


def read_all(cluster: Cluster) -> None:
    """Read the accounts into shared buffers, so that no run has to."""
    with cluster.connect() as session:
        session.execute(READ_ALL)


def run(cluster: Cluster, *options: str, seed: int, under: Sequence[str]) -> str:
    """Run prepared statements; returns what pgbench prints."""
    return cluster.run("pgbench", *_prepared(seed), *options, under=under).stdout


def start(
    cluster: Cluster, *options: str, seed: int, under: Sequence[str]
) -> subprocess.Popen[str]:
    """Start to run prepared statements; standard output and error are one pipe."""
    return cluster.start_program("pgbench", *_prepared(seed), *options, under=under)


def _prepared(seed: int) -> list[str]:
    return ["--no-vacuum", "--protocol=prepared", f"--random-seed={seed}"]
