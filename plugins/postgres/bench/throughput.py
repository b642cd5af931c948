"""Rounds of short pgbench runs on several servers in turn.

A round has every server twice, in an order drawn anew and then the same order backwards, so that
a drift of the machine's speed within the round cancels. All servers see the same random numbers.
They are started anew for each round, on new copies of the same data: where its memory and its
pages happen to be makes a server a little faster or slower for as long as they stay there, and an
interval over rounds has to cover that.
The servers have one processor and pgbench another: neither takes time from the other, and none is
moved about. Data is in memory, if there is a file system for that, so that no disk is waited for;
fsync is called all the same.
"""

from __future__ import annotations

import contextlib
import random
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pgbench
from backend_processes import auxiliary_processes, ended_backends_seconds, wait_for_backends
from cluster import Cluster, temporary_cluster
from pinning import pinned, processors

SCALE = 10
CLIENTS = 4  # enough to keep the server's processor busy: throughput is then its cost alone
MEMORY = Path("/dev/shm")
SETTINGS = {
    "shared_buffers": "512MB",
    "max_wal_size": "2GB",
    "wal_keep_size": "0",
    "huge_pages": "off",
    "max_logical_replication_workers": "0",
}


@dataclass
class Series:
    """What one server did, a value each round."""

    transactions_per_second: list[float] = field(default_factory=list)
    processor_seconds_per_transaction: list[float] = field(default_factory=list)


def _memory() -> Path | None:
    return MEMORY if MEMORY.is_dir() else None


def _copy(
    template: Cluster, prefix: Path, settings: dict[str, str]
) -> contextlib.AbstractContextManager[Cluster]:
    """A server on a copy of the template's data, on the servers' processor."""
    pinning = pinned(processors()[0])
    return temporary_cluster(prefix, {**SETTINGS, **settings}, _memory(), template, pinning)


def _run(
    cluster: Cluster, options: list[str], seconds: int, seed: int, auxiliaries: int
) -> tuple[float, float]:
    """Transactions per second, and processor seconds of the backends per transaction."""
    wait_for_backends(cluster, auxiliaries)
    before = ended_backends_seconds(cluster)
    lasting = [f"--client={CLIENTS}", f"--time={seconds}"]
    output = pgbench.run(cluster, *lasting, *options, seed=seed, under=pinned(processors()[1]))
    wait_for_backends(cluster, auxiliaries)
    used = ended_backends_seconds(cluster) - before
    rate = re.search(r"^tps = ([0-9.]+) \(without", output, re.M)
    count = re.search(r"^number of transactions actually processed: (\d+)", output, re.M)
    if rate is None or count is None:
        raise SystemExit(f"pgbench printed no rate; its output was:\n{output}")
    return float(rate[1]), used / int(count[1])


def _round(
    servers: dict[str, tuple[Path, dict[str, str]]],
    template: Cluster,
    modes: dict[str, list[str]],
    seconds: int,
    seed: int,
) -> dict[str, dict[str, tuple[float, float]]]:
    """By mode and server, means of its two runs."""
    order = random.Random(seed).sample(sorted(servers), len(servers))
    means: dict[str, dict[str, tuple[float, float]]] = {}
    with contextlib.ExitStack() as stack:
        clusters = {}
        auxiliaries = {}
        for arm in order:
            cluster = stack.enter_context(_copy(template, *servers[arm]))
            pgbench.read_all(cluster)
            clusters[arm] = cluster
            auxiliaries[arm] = auxiliary_processes(cluster)
        for mode, options in modes.items():
            runs: dict[str, list[tuple[float, float]]] = {arm: [] for arm in servers}
            for arm in [*order, *reversed(order)]:
                runs[arm].append(_run(clusters[arm], options, seconds, seed, auxiliaries[arm]))
            means[mode] = {
                arm: ((first[0] + second[0]) / 2, (first[1] + second[1]) / 2)
                for arm, (first, second) in runs.items()
            }
    return means


def measure(
    servers: dict[str, tuple[Path, dict[str, str]]],
    modes: dict[str, list[str]],
    rounds: int,
    seconds: int,
) -> dict[str, dict[str, Series]]:
    """Series by mode and server; servers are given as prefix and settings, by name.

    The data are made by the first server, and copied for all.
    """
    series = {mode: {arm: Series() for arm in servers} for mode in modes}
    first_prefix, _ = next(iter(servers.values()))
    with temporary_cluster(first_prefix, SETTINGS, _memory()) as template:
        pgbench.initialize(template, SCALE)
        template.stop()
        for number in range(1, rounds + 1):
            print(f"round {number} of {rounds}", file=sys.stderr)
            for mode, arms in _round(servers, template, modes, seconds, number).items():
                for arm, (rate, cost) in arms.items():
                    series[mode][arm].transactions_per_second.append(rate)
                    series[mode][arm].processor_seconds_per_transaction.append(cost)
    return series
