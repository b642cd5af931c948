"""Measures files that are spread over four devices, an agent for each, against one device alone.

The devices are disks in memory with the test bed's model `ssd` at 60 MB/s, made for this. Each
round writes and reads a file on the first one, in the pool with one copy, and with two copies, in
an order drawn anew; the page cache is dropped before reads. Then it makes files of 4 KiB, and of
4 MiB, syncs and seals them; three of the agents hold the metadata, on the same devices. Ratios are
to the device alone of the same round, with Fieller's intervals at 95 % over rounds. Processor time
is that of agents and client together, for the large file.
It makes disks, as root, and compiles the program of this checkout.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from sluice_dist.control_plane import VERSION
from sluice_evaluation.bench.command_line import Store, at_least, measurement_parser, report
from sluice_evaluation.bench.memory_disks import disk_models, memory_disks
from sluice_evaluation.bench.ratios import ratio_figure
from sluice_evaluation.bench.turns import memory_folder
from sluice_evaluation.inference import MINIMUM_RUNS
from sluice_evaluation.measurements import Figure

TOP = Path(__file__).resolve().parents[3]
STORE = Store("control", "the control plane", VERSION)

DEVICES = 4
DEVICE_BYTES_PER_SECOND = 60_000_000
DISK_BYTES = 1 << 30
ALONE = "device"
SIDES = {"pool-1-copy": "four devices, one copy", "pool-2-copies": "four devices, two copies"}
# Two copies on four devices can be written twice as fast as one device writes, and no faster.
AT_LEAST_WRITE = {"pool-1-copy": {"min": 3.0}, "pool-2-copies": None}
AT_LEAST_READ = {"min": 3.0}
AT_MOST_SMALL_READ = {"max": 1.5}
COMMITS = {
    "making a file": "create_p50_seconds",
    "syncing its first 4 KiB": "sync_p50_seconds",
    "sealing it": "seal_p50_seconds",
}
GIGABYTE = 1e9


def figures_of(rounds: Sequence[dict[str, dict]]) -> Iterator[Figure]:
    """Each side of the pool beside the device alone."""
    yield from _processor_time("one device alone", [turn[ALONE] for turn in rounds])
    for side, title in SIDES.items():
        base, found = [turn[ALONE] for turn in rounds], [turn[side] for turn in rounds]
        for what, field, expected in (
            ("written", "write_bytes_per_second", AT_LEAST_WRITE[side]),
            ("read from begin to end", "read_bytes_per_second", AT_LEAST_READ),
            ("p50 of reads of 4 KiB", "small_read_p50_seconds", AT_MOST_SMALL_READ),
            ("p99 of reads of 4 KiB", "small_read_p99_seconds", None),
            ("p50 of files of 4 MiB, sealed", "table_p50_seconds", None),
        ):
            values, before = [one[field] for one in found], [one[field] for one in base]
            yield ratio_figure(f"{title}: {what}, over one device", values, before, expected)
        yield from _commits(title, found)
        yield from _processor_time(title, found)


def _commits(title: str, found: list[dict]) -> Iterator[Figure]:
    for what, field in COMMITS.items():
        values = [one[field] for one in found]
        yield Figure(f"{title}: p50 of {what}", "s", sum(values) / len(values), values=values)


def _processor_time(title: str, found: list[dict]) -> Iterator[Figure]:
    for what in ("write", "read"):
        values = [one[f"{what}_cpu_seconds_per_byte"] * GIGABYTE for one in found]
        name = f"{title}: processor time of 1 GB {'written' if what == 'write' else 'read'}"
        yield Figure(name, "s", sum(values) / len(values), values=values)


def compiled(folder: Path) -> tuple[Path, Path]:
    """The programs `sluice` and `pool_blocks` of this checkout."""
    programs = folder / "sluice", folder / "pool_blocks"
    for program, package in zip(programs, ("./cmd/sluice", "./bench/pool_blocks"), strict=True):
        command = ["go", "build", "-mod=readonly", "-trimpath", "-o", str(program), package]
        environment = os.environ | {"CGO_ENABLED": "0"}
        subprocess.run(command, cwd=TOP / "control", env=environment, check=True)
    return programs


def measure(args: argparse.Namespace, sluice: Path, program: Path) -> list[Figure]:
    """Figures of all rounds."""
    model = disk_models(TOP)["ssd"] | {"rate_bytes_per_second": DEVICE_BYTES_PER_SECOND}
    names = [f"device{number}" for number in range(1, DEVICES + 1)]
    with memory_disks(TOP, memory_folder(), dict.fromkeys(names, model), DISK_BYTES) as disks:
        command = [str(program), *(f"--device={disks[name]}" for name in names)]
        command += [f"--sluice={sluice}", f"--rounds={args.rounds}", f"--file-bytes={args.bytes}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit("the measurement has failed: see above")
    return list(figures_of(json.loads(done.stdout)["rounds"]))


def command_line() -> argparse.ArgumentParser:
    """The command line."""
    parser = measurement_parser(STORE, __doc__)
    parser.add_argument(
        "--rounds", type=at_least(MINIMUM_RUNS), default=MINIMUM_RUNS, help="(default: %(default)s)"
    )
    parser.add_argument(
        "--bytes", type=at_least(1 << 20), default=256 << 20, help="of each file (default: 256 MiB)"
    )
    return parser


def main() -> None:
    """Measure and report."""
    args = command_line().parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sluice, program = compiled(Path(folder))
        figures = measure(args, sluice, program)
        labels = {"dev.sluice.program.sha256": hashlib.sha256(sluice.read_bytes()).hexdigest()}
    report(args, "pool-blocks", "Blocks of files on four devices", figures, labels)


if __name__ == "__main__":
    main()
