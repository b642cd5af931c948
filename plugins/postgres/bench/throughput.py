"""Rounds of short pgbench runs on several servers in turn.

A round has every server twice, in an order drawn anew and then the same order backwards, so that
a drift of the machine's speed within the round cancels. All servers see the same random numbers.
The servers have one processor and pgbench another: neither takes time from the other, and none is
moved about. Data is in memory, if there is a file system for that, so that no disk is waited for;
fsync is called all the same.
"""

from __future__ import annotations

import contextlib
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

from backend_processes import auxiliary_processes, ended_backends_seconds, wait_for_backends
from cluster import Cluster, temporary_cluster
from pinning import pinned, processors

SCALE = 10
CLIENTS = 4  # enough to keep the server's processor busy: throughput is then its cost alone
MEMORY = Path("/dev/shm")
SETTINGS = {
    "max_wal_size": "1GB",
    "wal_keep_size": "0",
    "huge_pages": "off",
    "max_logical_replication_workers": "0",
}


@dataclass
class Series:
    """What one server did, a value each round."""

    transactions_per_second: list[float] = field(default_factory=list)
    processor_seconds_per_transaction: list[float] = field(default_factory=list)


def _run(
    cluster: Cluster, options: list[str], seconds: int, seed: int, auxiliaries: int
) -> tuple[float, float]:
    """Transactions per second, and processor seconds of the backends per transaction."""
    wait_for_backends(cluster, auxiliaries)
    before = ended_backends_seconds(cluster)
    output = cluster.run(
        "pgbench",
        "--no-vacuum",
        "--protocol=prepared",
        f"--client={CLIENTS}",
        f"--random-seed={seed}",
        f"--time={seconds}",
        *options,
        under=pinned(processors()[1]),
    ).stdout
    wait_for_backends(cluster, auxiliaries)
    used = ended_backends_seconds(cluster) - before
    rate = re.search(r"^tps = ([0-9.]+) \(without", output, re.M)
    count = re.search(r"^number of transactions actually processed: (\d+)", output, re.M)
    if rate is None or count is None:
        raise SystemExit(f"pgbench printed no rate; its output was:\n{output}")
    return float(rate[1]), used / int(count[1])


def _round(
    clusters: dict[str, Cluster], options: list[str], seconds: int, seed: int, order: list[str]
) -> dict[str, tuple[float, float]]:
    """Means of the two runs of each server."""
    auxiliaries = {}
    for arm, cluster in clusters.items():
        with cluster.connect() as session:
            session.execute("CHECKPOINT")  # else one falls into some server's run
        auxiliaries[arm] = auxiliary_processes(cluster)
    runs: dict[str, list[tuple[float, float]]] = {arm: [] for arm in clusters}
    for arm in [*order, *reversed(order)]:
        runs[arm].append(_run(clusters[arm], options, seconds, seed, auxiliaries[arm]))
    return {arm: ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for arm, (a, b) in runs.items()}


def measure(
    servers: dict[str, tuple[Path, dict[str, str]]],
    modes: dict[str, list[str]],
    rounds: int,
    seconds: int,
) -> dict[str, dict[str, Series]]:
    """Series by mode and server; servers are given as prefix and settings, by name."""
    parent = MEMORY if MEMORY.is_dir() else None
    with contextlib.ExitStack() as stack:
        clusters = {}
        for arm, (prefix, settings) in servers.items():
            clusters[arm] = stack.enter_context(
                temporary_cluster(prefix, {**SETTINGS, **settings}, parent)
            )
            clusters[arm].stop()
            clusters[arm].start(under=pinned(processors()[0]))
            clusters[arm].run("pgbench", "--initialize", "--quiet", f"--scale={SCALE}")
        orders = random.Random(rounds)
        series = {mode: {arm: Series() for arm in clusters} for mode in modes}
        for number in range(rounds + 1):
            for mode, options in modes.items():
                order = orders.sample(sorted(clusters), len(clusters))
                values = _round(clusters, options, seconds, number + 1, order)
                if number == 0:  # it warms the caches
                    continue
                for arm, (rate, cost) in values.items():
                    series[mode][arm].transactions_per_second.append(rate)
                    series[mode][arm].processor_seconds_per_transaction.append(cost)
        return series
