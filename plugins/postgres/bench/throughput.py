"""Rounds of pgbench on several servers, in turns of a tenth of a second.

All servers of a round are loaded for as long as a run lasts, and all clients but one server's are
stopped: who may go on changes ten times a second, in an order drawn anew for each turn of all. What
else slows the machine for longer than that slows all alike.
They are started anew for each round, on new copies of the same data: where its memory and its
pages happen to be makes a server a little faster or slower for as long as they stay there, and an
interval over rounds has to cover that. Each runs a copy of its programs of its own, or else those
that share one would find it in the processor's caches. All see the same random numbers.
The servers have one processor and pgbench another: neither takes time from the other, and none is
moved about. Data is in memory, if there is a file system for that, so that no disk is waited for;
fsync is called all the same.
"""

from __future__ import annotations

import contextlib
import math
import random
import re
import shutil
import signal
import sys
import tempfile
import time
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
from cluster import Cluster, temporary_cluster, wait_until
from pinning import pinned, processors

SCALE = 10
CLIENTS = 4  # enough to keep the server's processor busy: throughput is then its cost alone
TURN_SECONDS = 0.1
# pgbench ends by its own clock, which goes on while it is stopped: late enough for all turns.
SLACK_RATIO = 1.2
SLACK_SECONDS = 2
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


class _Load:
    """pgbench on a server, stopped but in its turns; ended with the context at the latest."""

    def __init__(self, cluster: Cluster, options: list[str], seed: int, lasts_seconds: int):
        self._cluster = cluster
        self._auxiliaries = auxiliary_processes(cluster)
        wait_for_backends(cluster, self._auxiliaries)
        self._used_before = ended_backends_seconds(cluster)
        lasting = [f"--client={CLIENTS}", f"--time={lasts_seconds}"]
        self._started = time.monotonic()
        self._pgbench = pgbench.start(
            cluster, *lasting, *options, seed=seed, under=pinned(processors()[1])
        )
        self._lasts_seconds = lasts_seconds

    def __enter__(self) -> _Load:
        backends = self._auxiliaries + CLIENTS
        wait_until(lambda: children(self._cluster) >= backends, "the clients' connections")
        self._pgbench.send_signal(signal.SIGSTOP)
        self._active_seconds = time.monotonic() - self._started
        # Its clock started before its clients connected.
        self._over = time.monotonic() + self._lasts_seconds
        return self

    def __exit__(self, *_: object) -> None:
        # It may be stopped, and would stay so for ever.
        self._pgbench.kill()
        self._pgbench.wait()
        self._pgbench.stdout.close()

    def take_turn(self) -> None:
        """Go on for a tenth of a second; SystemExit when its time is over already."""
        start = time.monotonic()
        if start > self._over - SLACK_SECONDS / 2:
            raise SystemExit("the turns took too long: measure on an idle machine")
        self._pgbench.send_signal(signal.SIGCONT)
        time.sleep(TURN_SECONDS)
        self._pgbench.send_signal(signal.SIGSTOP)
        self._active_seconds += time.monotonic() - start

    def end(self) -> tuple[float, float]:
        """Transactions per second of its turns, and processor seconds per transaction."""
        time.sleep(max(0.0, self._over - time.monotonic()))
        self._pgbench.send_signal(signal.SIGCONT)  # to finish what it has begun
        output, _ = self._pgbench.communicate()
        wait_for_backends(self._cluster, self._auxiliaries)
        used = ended_backends_seconds(self._cluster) - self._used_before
        count = re.search(r"^number of transactions actually processed: (\d+)", output, re.M)
        if self._pgbench.returncode != 0 or count is None:
            raise SystemExit(f"pgbench failed; its output was:\n{output}")
        return int(count[1]) / self._active_seconds, used / int(count[1])


def _run(
    clusters: dict[str, Cluster], options: list[str], seconds: int, seed: int
) -> dict[str, tuple[float, float]]:
    """By server, what _Load.end gives; each has so many seconds of its own."""
    lasts_seconds = math.ceil(seconds * len(clusters) * SLACK_RATIO) + SLACK_SECONDS
    order = random.Random(seed)
    with contextlib.ExitStack() as stack:
        loads = {
            arm: stack.enter_context(_Load(cluster, options, seed, lasts_seconds))
            for arm, cluster in clusters.items()
        }
        for _ in range(round(seconds / TURN_SECONDS)):
            for arm in order.sample(sorted(loads), len(loads)):
                loads[arm].take_turn()
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
    with tempfile.TemporaryDirectory(prefix="sluice-programs-", dir=_memory()) as folder:
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
