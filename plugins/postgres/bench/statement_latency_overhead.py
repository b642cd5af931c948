"""Measures what the latency histogram costs: pgbench with it switched on and off, in turn.

Each pair runs the same number of prepared transactions on one server, once with
sluice.statement_latency on and once off, in random order. Two ratios, on over off, are printed with
their 95% intervals: transactions per second, and processor seconds of the server's processes per
transaction, which other load on the machine disturbs less. fsync is off, so that no disk hides the
cost.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import time
from dataclasses import asdict
from pathlib import Path

from cluster import SLUICE_SETTINGS, Cluster, staged_prefix, temporary_cluster, wait_until
from sluice_evaluation.inference import RatioEstimate, Shape, paired_ratio

SETTINGS = {**SLUICE_SETTINGS, "fsync": "off"}
BOUND = 0.02
WORKLOADS = {"read-only": "--select-only", "read-write": "--skip-some-updates"}
SCALE = 10


def postmaster(cluster: Cluster) -> Path:
    """The server's folder in procfs."""
    pid = (cluster.data / "postmaster.pid").read_text().split()[0]
    return Path("/proc") / pid


def children(process: Path) -> int:
    """Number of child processes that run, or were not waited for yet."""
    return len((process / "task" / process.name / "children").read_text().split())


def waited_for_seconds(process: Path) -> float:
    """Processor time of the child processes that have ended."""
    # The second field, in parentheses, may hold blanks.
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def run(cluster: Cluster, workload: str, transactions: int, measured: bool) -> tuple[float, float]:
    """Transactions per second, and processor seconds per transaction, of one run."""
    server = postmaster(cluster)
    idle_children = children(server)
    before = waited_for_seconds(server)
    setting = "on" if measured else "off"
    result = cluster.run(
        "pgbench",
        "--no-vacuum",
        "--protocol=prepared",
        "--random-seed=1",
        f"--transactions={transactions}",
        WORKLOADS[workload],
        f"options='-c sluice.statement_latency={setting}'",
    )
    wait_until(lambda: children(server) <= idle_children, "the end of pgbench's session")
    found = re.search(r"^tps = ([0-9.]+)", result.stdout, re.MULTILINE)
    if found is None:
        raise SystemExit(f"pgbench printed no rate; its output was:\n{result.stdout}")
    return float(found.group(1)), (waited_for_seconds(server) - before) / transactions


def measure(cluster: Cluster, workload: str, pairs: int, transactions: int) -> dict:
    """Both ratios of one workload, on over off."""
    order = random.Random(workload)
    runs: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    run(cluster, workload, transactions, measured=True)  # warms the caches
    for _ in range(pairs):
        for measured in order.sample([True, False], 2):
            runs[measured].append(run(cluster, workload, transactions, measured))
    rates, costs = (
        paired_ratio([on[i] for on in runs[True]], [off[i] for off in runs[False]]) for i in (0, 1)
    )
    return {
        "workload": workload,
        "pairs": pairs,
        "transactions": transactions,
        "microseconds_per_transaction_off": 1e6 * sum(off[1] for off in runs[False]) / pairs,
        "transactions_per_second": rates,
        "processor_seconds_per_transaction": costs,
    }


def text(name: str, ratio: RatioEstimate) -> str:
    """One line of the report."""
    interval = f"[{ratio.lower:.4f}, {ratio.upper:.4f}]"
    if ratio.shape is not Shape.BOUNDED:
        interval = "unbounded: too few pairs, or too much else is running"
    return f"  {name:32s} {ratio.ratio:.4f}  {interval}"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", default="17.11", help="of PostgreSQL (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=12, help="(default: %(default)s)")
    parser.add_argument(
        "--transactions", type=int, default=50_000, help="of each run (default: %(default)s)"
    )
    parser.add_argument("-o", "--output", choices=["text", "json"], default="text")
    args = parser.parse_args()

    started = time.monotonic()
    figures = []
    with temporary_cluster(staged_prefix(args.version, "patched"), SETTINGS) as cluster:
        cluster.run("pgbench", "--initialize", "--quiet", f"--scale={SCALE}")
        for workload in WORKLOADS:
            figures.append(measure(cluster, workload, args.pairs, args.transactions))

    if args.output == "json":
        print(json.dumps(figures, indent=2, default=asdict))
        return
    print(f"histogram on over off, 95% intervals (bound: within {BOUND:.0%}),")
    print(f"load of the machine {os.getloadavg()[2]:.1f}, {time.monotonic() - started:.0f} s:")
    for row in figures:
        cost = row["microseconds_per_transaction_off"]
        print(f"{row['workload']}, {row['pairs']} pairs, {cost:.1f} us per transaction when off")
        print(text("transactions per second", row["transactions_per_second"]))
        print(text("processor time per transaction", row["processor_seconds_per_transaction"]))


if __name__ == "__main__":
    main()
