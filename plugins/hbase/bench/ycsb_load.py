"""YCSB on a one-node HBase, by the bundle that `make ycsb` makes."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from one_node import OneNode

BUNDLES = Path(__file__).parents[3] / ".work/ycsb"
PROFILE = "profiles/smoke.properties"
THREADS = 4  # enough to keep the server's processor busy: throughput is then its cost alone
ENDLESS_OPERATIONS = 2_000_000_000
JAVA_OPTIONS = "-Xmx512m -XX:+UseSerialGC"
# A schedule is kept while fewer requests than these wait for the server.
SCHEDULE_THREADS = 32


@dataclass(frozen=True)
class Records:
    """Rows of one cell of 1 KB, spread over the regions of a table and over files in each."""

    count: int
    regions: int
    files: int
    table: str = "usertable"

    def properties(self, table: str = "") -> list[str]:
        """Words that say so, of this table or of a copy that has another name."""
        named = {
            "table": table or self.table,
            "recordcount": self.count,
            "fieldcount": 1,
            "fieldlength": 1000,
        }
        return [word for name, value in named.items() for word in ("-p", f"{name}={value}")]


@contextmanager
def unpacked_bundle() -> Iterator[Path]:
    """The folder of the bundle; SystemExit when there is none."""
    archives = sorted(BUNDLES.glob("sluice-ycsb-*.tar.gz"))
    if not archives:
        raise SystemExit(f"{BUNDLES} has no bundle of YCSB: run `make ycsb` first")
    with tempfile.TemporaryDirectory(prefix="sluice-ycsb-") as folder:
        # Python's own module checks what it unpacks from version 3.11.4 on; Debian 12 has 3.11.2.
        subprocess.run(["tar", "--extract", "--file", archives[-1]], cwd=folder, check=True)
        yield next(Path(folder).iterdir())


def environment() -> dict[str, str]:
    """That of a client."""
    return {**os.environ, "SLUICE_YCSB_JAVA_OPTIONS": JAVA_OPTIONS}


def command(bundle: Path, node: OneNode, phase: str, *words: str) -> list[str]:
    """The words of a command of the bundle on a node."""
    quorum = f"hbase.zookeeper.quorum={node.quorum}"
    return [str(bundle / "bin/sluice-ycsb"), phase, "hbase", *words, "-p", quorum]


def run(bundle: Path, node: OneNode, phase: str, *words: str) -> None:
    """Run a command to its end; CalledProcessError with its output as a note."""
    done = subprocess.run(
        command(bundle, node, phase, *words),
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        error = subprocess.CalledProcessError(done.returncode, done.args)
        error.add_note(f"{done.stdout}{done.stderr}")
        raise error


def load(bundle: Path, node: OneNode) -> None:
    """Make the table and its records, in one file."""
    run(bundle, node, "prepare", "create-table")
    run(bundle, node, "load", "-P", "a.properties", "-P", PROFILE, "--threads", str(THREADS))
    run(bundle, node, "prepare", "flush", "major-compact")


def load_files(bundle: Path, node: OneNode, records: Records) -> None:
    """Make a table and its records, in so many files of each region, or one per record."""
    words = records.properties()
    run(bundle, node, "prepare", "create-table", *words, "-p", f"hbase.regions={records.regions}")
    bounds = [records.count * number // records.files for number in range(records.files + 1)]
    for first, end in itertools.pairwise(bounds):
        if first == end:
            continue
        part = ["-p", f"insertstart={first}", "-p", f"insertcount={end - first}"]
        # What is flushed needs no log.
        part += ["-p", "hbase.durability=skip_wal", "-p", "hbase.batchsize=100"]
        files = ["-P", "c.properties"]
        run(bundle, node, "load", *files, *words, *part, "--threads", str(THREADS))
        run(bundle, node, "prepare", "flush", *words)


def start_schedule(
    bundle: Path,
    node: OneNode,
    records: Records,
    table: str,
    reads_per_second: int,
    lasts_seconds: int,
    results: Path,
) -> subprocess.Popen[str]:
    """Start reads of random rows that are due at a constant rate; latencies count from then."""
    words = ["-P", "c.properties", *records.properties(table)]
    words += ["-p", f"operationcount={ENDLESS_OPERATIONS}"]
    words += ["-p", f"maxexecutiontime={lasts_seconds}"]
    words += ["--target", str(reads_per_second), "--threads", str(SCHEDULE_THREADS)]
    return subprocess.Popen(
        command(bundle, node, "run", *words, "--results", str(results), "-o", "json"),
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def start(
    bundle: Path, node: OneNode, workload: str, lasts_seconds: int, under: Sequence[str]
) -> subprocess.Popen[str]:
    """Start a run that ends by its own clock and prints its measurements as JSON."""
    files = ["-P", f"{workload}.properties", "-P", PROFILE]
    sizes = ["-p", f"operationcount={ENDLESS_OPERATIONS}"]
    sizes += ["-p", f"maxexecutiontime={lasts_seconds}"]
    words = command(bundle, node, "run", *files, *sizes, "--threads", str(THREADS), "-o", "json")
    return subprocess.Popen(
        [*under, *words],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def operations_done(printed: str) -> int:
    """Operations of a run; ValueError when it says nothing of them, or when some failed."""
    overall = {
        row["measurement"]: row["value"]
        for row in json.loads(printed)
        if row["metric"] == "OVERALL"
    }
    if overall.get("FailedOperations"):
        raise ValueError(f"{overall['FailedOperations']} operations of the run failed")
    if not overall.get("Operations"):
        raise ValueError(f"the run has done nothing: {sorted(overall)}")
    return int(overall["Operations"])
