"""Rounds of pgbench on several servers, in turns of a tenth of a second.

Servers are started anew for each round, on new copies of the same data: where its memory and its
pages happen to be makes a server a little faster or slower for as long as they stay there, and an
interval over rounds has to cover that. Each runs a copy of its programs of its own, or else those
that share one would find it in the processor's caches. All see the same random numbers.
The servers have one processor and pgbench another: neither takes time from the other, and none is
moved about. Data is in memory, if there is a file system for that, so that no disk is waited for;
fsync is called all the same.
"""

from __future__ import annotations

import contextlib
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pgbench
from backend_processes import (
    auxiliary_processes,
    children,
    ended_backends_seconds,
    wait_for_backends,
)
from cluster import Cluster, temporary_cluster
from sluice_evaluation.bench.pinning import pinned, processors
from sluice_evaluation.bench.turns import (
    TurnTaker,
    lasting_seconds,
    memory_folder,
    take_turns,
)
from sluice_evaluation.bench.waiting import wait_until

SCALE = 10
CLIENTS = 4  # enough to keep the server's processor busy: throughput is then its cost alone
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


def _copy(
    template: Cluster, prefix: Path, settings: dict[str, str]
) -> contextlib.AbstractContextManager[Cluster]:
    """A server on a copy of the template's data, on the servers' processor."""
    pinning = pinned(processors()[0])
    return temporary_cluster(prefix, {**SETTINGS, **settings}, memory_folder(), template, pinning)


class _Load:
    """pgbench on a server, stopped but in its turns; ended with the context at the latest."""

    def __init__(self, cluster: Cluster, options: list[str], seed: int, lasts_seconds: int):
        self._cluster = cluster
        self._auxiliaries = auxiliary_processes(cluster)
        wait_for_backends(cluster, self._auxiliaries)
        self._used_before = ended_backends_seconds(cluster)
        lasting = [f"--client={CLIENTS}", f"--time={lasts_seconds}"]
        self._pgbench = pgbench.start(
            cluster, *lasting, *options, seed=seed, under=pinned(processors()[1])
        )
        self.taker = TurnTaker(self._pgbench, lasts_seconds)

    def __enter__(self) -> _Load:
        backends = self._auxiliaries + CLIENTS
        wait_until(lambda: children(self._cluster) >= backends, "the clients' connections")
        self.taker.connected(has_worked=True)
        return self

    def __exit__(self, *_: object) -> None:
        # It may be stopped, and would stay so for ever.
        self._pgbench.kill()
        self._pgbench.wait()
        self._pgbench.stdout.close()

    def end(self) -> tuple[float, float]:
        """Transactions per second of its turns, and processor seconds per transaction."""
        self.taker.wait_for_its_clock()
        output, _ = self._pgbench.communicate()
        wait_for_backends(self._cluster, self._auxiliaries)
        used = ended_backends_seconds(self._cluster) - self._used_before
        count = re.search(r"^number of transactions actually processed: (\d+)", output, re.M)
        if self._pgbench.returncode != 0 or count is None:
            raise SystemExit(f"pgbench failed; its output was:\n{output}")
        return int(count[1]) / self.taker.active_seconds, used / int(count[1])


def _run(
    clusters: dict[str, Cluster], options: list[str], seconds: int, seed: int
) -> dict[str, tuple[float, float]]:
    """By server, what _Load.end gives; each has so many seconds of its own."""
    lasts_seconds = lasting_seconds(seconds, len(clusters))
    with contextlib.ExitStack() as stack:
        loads = {
            arm: stack.enter_context(_Load(cluster, options, seed, lasts_seconds))
            for arm, cluster in clusters.items()
        }
        take_turns({arm: load.taker for arm, load in loads.items()}, seconds, random.Random(seed))
        return {arm: load.end() for arm, load in loads.items()}


def _round(
    servers: dict[str, tuple[Path, dict[str, str]]],
    template: Cluster,
    modes: dict[str, list[str]],
    seconds: int,
    seed: int,
) -> dict[str, dict[str, tuple[float, float]]]:
    """By mode and server, what _Load.end gives."""
    order = random.Random(seed).sample(sorted(servers), len(servers))
    with contextlib.ExitStack() as stack:
        clusters = {}
        for arm in order:
            prefix, settings = servers[arm]
            programs = stack.enter_context(_programs(prefix))
            clusters[arm] = stack.enter_context(_copy(template, programs, settings))
            pgbench.read_all(clusters[arm])
        return {mode: _run(clusters, options, seconds, seed) for mode, options in modes.items()}


@contextlib.contextmanager
def _programs(prefix: Path) -> Iterator[Path]:
    """A copy of what is installed at a prefix."""
    with tempfile.TemporaryDirectory(prefix="sluice-programs-", dir=memory_folder()) as folder:
        Path(folder).chmod(0o755)
        yield shutil.copytree(prefix, Path(folder, "programs"), symlinks=True)


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
    with temporary_cluster(first_prefix, SETTINGS, memory_folder()) as template:
        pgbench.initialize(template, SCALE)
        template.stop()
        for number in range(1, rounds + 1):
            print(f"round {number} of {rounds}", file=sys.stderr)
            for mode, arms in _round(servers, template, modes, seconds, number).items():
                for arm, (rate, cost) in arms.items():
                    series[mode][arm].transactions_per_second.append(rate)
                    series[mode][arm].processor_seconds_per_transaction.append(cost)
    return series
