"""YCSB on a one-node HBase, by the bundle that `make ycsb` makes."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from one_node import OneNode

BUNDLES = Path(__file__).parents[3] / ".work/ycsb"
PROFILE = "profiles/smoke.properties"
THREADS = 4  # enough to keep the server's processor busy: throughput is then its cost alone
ENDLESS_OPERATIONS = 2_000_000_000
JAVA_OPTIONS = "-Xmx512m -XX:+UseSerialGC"


@contextmanager
def unpacked_bundle() -> Iterator[Path]:
    """The folder of the bundle; SystemExit when there is none."""
    archives = sorted(BUNDLES.glob("sluice-ycsb-*.tar.gz"))
    if not archives:
        raise SystemExit(f"{BUNDLES} has no bundle of YCSB: run `make ycsb` first")
    with tempfile.TemporaryDirectory(prefix="sluice-ycsb-") as folder:
        with tarfile.open(archives[-1]) as archive:
            archive.extractall(folder, filter="data")
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
