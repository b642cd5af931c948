"""Measures what the hook and the extension cost, against stock, by pgbench in turn.

Three servers run side by side, one at a time under load: stock, patched without the extension,
patched with the extension and its latency histogram. Rounds are paired: each has every server
once, in an order drawn anew. With --instructions one client runs under callgrind instead, which
counts the instructions of a transaction, whatever else the machine does.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import re
import tempfile
from pathlib import Path

from cluster import SLUICE_SETTINGS, Cluster, staged_prefix, temporary_cluster
from sluice_evaluation.inference import paired_ratio

ARMS = {
    "stock": ("stock", {}),
    "patched": ("patched", {}),
    "extension": ("patched", SLUICE_SETTINGS),
}
MODES = {"read-only": ["-S"], "read-write": ["-N"]}
SCALE = "20"


def transactions_per_second(cluster: Cluster, mode: list[str], seconds: int) -> float:
    """Throughput of a pgbench run with prepared statements."""
    output = cluster.run(
        "pgbench", "-n", "-M", "prepared", *mode, "-c", "2", "-j", "1", "-T", str(seconds)
    ).stdout
    found = re.search(r"tps = ([0-9.]+) \(without", output)
    assert found, output
    return float(found[1])


def throughput(
    clusters: dict[str, Cluster], rounds: int, seconds: int
) -> dict[str, dict[str, list[float]]]:
    """Transactions per second by mode and arm, one value a round."""
    order = random.Random(rounds)
    figures = {mode: {arm: [] for arm in clusters} for mode in MODES}
    for number in range(rounds + 1):
        for mode, options in MODES.items():
            for arm in order.sample(sorted(clusters), len(clusters)):
                value = transactions_per_second(clusters[arm], options, seconds)
                if number > 0:  # the first round warms the caches up
                    figures[mode][arm].append(value)
    return figures


def instructions(prefix: Path, settings: dict[str, str], mode: list[str], count: int) -> int:
    """Instructions of a single-user pgbench run of so many transactions, by callgrind."""
    with tempfile.TemporaryDirectory(prefix="sluice-callgrind-") as folder:
        Path(folder).chmod(0o777)
        with temporary_cluster(prefix, settings) as cluster:
            cluster.run("pgbench", "-i", "-q", "-s", "1")
            cluster.stop()
            cluster.start_under(
                ["valgrind", "--tool=callgrind", "--trace-children=yes", "--quiet",
                 f"--callgrind-out-file={folder}/%p"]
            )  # fmt: skip
            cluster.run("pgbench", "-n", "-M", "prepared", *mode, "-c", "1", "-t", str(count))
            cluster.stop()
        return max(_backend_instructions(Path(folder)))


def _backend_instructions(folder: Path) -> list[int]:
    """Totals of all processes; the busiest one was the client's backend."""
    totals = (
        re.search(r"^(?:totals|summary): (\d+)", p.read_text(), re.M) for p in folder.iterdir()
    )
    return [int(found[1]) for found in totals if found]


def instructions_per_transaction(prefix: Path, settings: dict, mode: list[str]) -> float:
    """From two lengths of a run, so that start and end of the backend do not count."""
    short, long = 500, 2500
    difference = instructions(prefix, settings, mode, long) - instructions(
        prefix, settings, mode, short
    )
    return difference / (long - short)


def compare(figures: dict[str, dict[str, list[float]]]) -> dict[str, dict[str, dict]]:
    """Ratios to stock with their 95% intervals, by mode and arm."""
    compared: dict[str, dict[str, dict]] = {}
    for mode, arms in figures.items():
        compared[mode] = {}
        for arm in ("patched", "extension"):
            estimate = paired_ratio(arms[arm], arms["stock"])
            compared[mode][arm] = {
                "ratio": estimate.ratio,
                "low": estimate.lower,
                "high": estimate.upper,
                "transactions_per_second": arms[arm],
                "stock_transactions_per_second": arms["stock"],
            }
    return compared


def measure_throughput(version: str, rounds: int, seconds: int) -> dict:
    """Start one server an arm, load them alike, and compare."""
    with contextlib.ExitStack() as stack:
        clusters = {}
        for arm, (variant, settings) in ARMS.items():
            prefix = staged_prefix(version, variant)
            clusters[arm] = stack.enter_context(temporary_cluster(prefix, settings))
            clusters[arm].run("pgbench", "-i", "-q", "-s", SCALE)
        return compare(throughput(clusters, rounds, seconds))


def measure_instructions(version: str) -> dict:
    """Instructions per transaction by mode and arm."""
    return {
        mode: {
            arm: instructions_per_transaction(staged_prefix(version, variant), settings, options)
            for arm, (variant, settings) in ARMS.items()
        }
        for mode, options in MODES.items()
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", default="17.11", help="of PostgreSQL (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=8, help="(default: %(default)s)")
    parser.add_argument("--seconds", type=int, default=15, help="per run (default: %(default)s)")
    parser.add_argument("--instructions", action="store_true", help="count instead of timing")
    parser.add_argument("-o", "--output", choices=["text", "json"], default="text")
    args = parser.parse_args()
    if args.instructions:
        figures = measure_instructions(args.version)
    else:
        figures = measure_throughput(args.version, args.rounds, args.seconds)
    if args.output == "json":
        print(json.dumps(figures, indent=2))
    elif args.instructions:
        print_instructions(figures)
    else:
        print_throughput(figures)


def print_throughput(figures: dict) -> None:
    """One line a mode and arm."""
    for mode, arms in figures.items():
        for arm, row in arms.items():
            print(
                f"{mode:10} {arm:9} throughput over stock {row['ratio']:.4f}"
                f" [{row['low']:.4f}, {row['high']:.4f}]"
            )


def print_instructions(figures: dict) -> None:
    """One line a mode and arm."""
    for mode, arms in figures.items():
        for arm, count in arms.items():
            change = count / arms["stock"] - 1
            print(f"{mode:10} {arm:9} {count:10.0f} instructions a transaction ({change:+.2%})")


if __name__ == "__main__":
    main()
