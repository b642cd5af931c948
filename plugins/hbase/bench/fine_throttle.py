"""Measures what a fine throttle and a bounded read-ahead are worth alone, at a fixed rate.

A DataNode on a throttled disk (throttled_disk.py) with little memory (memory_group.py), and reads
of random rows that are due at a constant rate, whose latency counts from then. Meanwhile all
files of the table are merged at 30 MB/s: by stock with its default check interval and with one of
256 KB, by the plug-in with the read-ahead of compactions bounded and without a bound; or nothing is
merged at all. Each of these runs once a round, in an order drawn anew, on a clone of the same
snapshot, with daemons that were started for it. These have been warmed up by the same reads and by
the same merge of another clone, several times: a server that has run for long has compiled the
code of both. Its heap is collected seldom, if at all, while the compaction that is measured runs.
Latencies are those while the compaction runs. Ratios are to the run of the same round without a
compaction; intervals are Fieller's at 95 %, over rounds. It makes a disk, as root.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import ycsb_load
from compaction_log import wait_for_compactions
from datanode_files import datanode_bytes, drop_from_memory
from java_client import JavaClient
from memory_group import MemoryGroup, memory_group
from one_node import STORE, Layout, OneNode, one_node
from process_figures import is_connected
from sluice_evaluation.bench.command_line import at_least, measurement_parser, report
from sluice_evaluation.bench.plugin_socket import PluginSocket
from sluice_evaluation.bench.ratios import ratio_figure
from sluice_evaluation.bench.turns import memory_folder
from sluice_evaluation.bench.waiting import wait_until
from sluice_evaluation.histograms import between, merge, read_log
from sluice_evaluation.inference import MINIMUM_RUNS
from sluice_evaluation.measurements import Figure
from tables import QUIET_SITE
from throttled_disk import ThrottledDisk, throttled_disk
from ycsb_load import Records

RATE = 30_000_000
READS_PER_SECOND = 200
# With its key, in a file of HBase.
ROW_BYTES = 1040
DISK_BYTES = 6 << 30
# The DataNode's, of which the page cache has what its Java machine leaves: a fifth of the data.
DATANODE_MEMORY_BYTES = 512 << 20
SNAPSHOT = "loaded"
# The first one is merged while the daemons warm up, the second one is read, and merged later.
REHEARSED, MEASURED = "rehearsed", "measured"
RESTARTED = ("datanode", "master", "regionserver")
# By the fourth compaction after a start little is left to compile.
REHEARSALS = 3
# For which a compaction may last beyond what its rate asks for.
SLACK_SECONDS = 4
MOST_BY_PLUGIN, LEAST_BY_STOCK = 1.5, 5.0
LEAST_ANSWERED = 0.99

SITE = {
    **QUIET_SITE,
    # Off the heap, as upstream's guide advises: the collector's copies of blocks are no throttle's.
    "hfile.block.cache.size": "0.05",
    "hbase.bucketcache.ioengine": "offheap",
    "hbase.bucketcache.size": "100",
    # What a run leaves on the disk is gone before the next one.
    "hbase.master.hfilecleaner.ttl": "1000",
    "hbase.master.cleaner.interval": "2000",
    "hbase.hfile.compaction.discharger.interval": "1000",
}
# Most of a heap is for what is new, and there from the start: a collection holds up all requests
# for tens of milliseconds, and is no throttle's.
HEAPS = {"regionserver": "3584m"}
JAVA_OPTIONS = {
    "regionserver": "-Xmn2800m -XX:+AlwaysPreTouch -XX:MetaspaceSize=128m",
    "datanode": "-Xmn192m -XX:+AlwaysPreTouch",
}
STOCK_RATE = {
    "hbase.hstore.compaction.throughput.lower.bound": str(RATE),
    "hbase.hstore.compaction.throughput.higher.bound": str(RATE),
}
# Of what a compaction has read ahead no throttle knows, and a stream has as much as sockets hold.
STREAMS = {"sluice.compaction.read.bytes": "0"}
FINE_CHECK = {"hbase.hstore.compaction.throughput.control.check.interval": str(256 << 10)}


@dataclass(frozen=True)
class Arm:
    """What is compared."""

    plugin: bool = False
    compacts: bool = True
    site: Mapping[str, str] = field(default_factory=dict)
    expected: Mapping[str, float] | None = None

    def layout(self, version: str, mount_point: Path) -> Layout:
        """How it is configured, with the DataNode's files on the disk."""
        return Layout(
            variant="patched" if self.plugin else "stock",
            plugin=self.plugin,
            version=version,
            site={**SITE, **self.site},
            hdfs_site={"dfs.datanode.data.dir": f"file://{mount_point}/datanode"},
            heaps=HEAPS,
            java_options=JAVA_OPTIONS,
        )


QUIET = "no compaction"
ARMS = {
    QUIET: Arm(compacts=False, site=STOCK_RATE),
    "stock": Arm(site=STOCK_RATE, expected={"min": LEAST_BY_STOCK}),
    "stock, check interval 256 KB": Arm(site={**STOCK_RATE, **FINE_CHECK}),
    "plug-in": Arm(plugin=True, expected={"max": MOST_BY_PLUGIN}),
    "plug-in, read-ahead not bounded": Arm(plugin=True, site=STREAMS),
}


@dataclass(frozen=True)
class Run:
    """What one run of an arm gave; without a compaction, its seconds are those looked at."""

    p99_seconds: float
    answered_ratio: float
    compaction_seconds: float


@dataclass(frozen=True)
class Rig:
    """What all runs share."""

    bundle: Path
    disk: ThrottledDisk
    memory: MemoryGroup
    node: OneNode
    records: Records
    warm_seconds: int

    @property
    def compaction_seconds(self) -> float:
        """For how long one of the table lasts."""
        return self.records.count * ROW_BYTES / RATE

    @property
    def blocks(self) -> Path:
        """Where the DataNode has its files."""
        return self.disk.mount_point / "datanode"

    def lasting_seconds(self) -> int:
        """For how long the reads go on: the rehearsals, the warm-up and what is measured."""
        one_seconds = self.compaction_seconds + SLACK_SECONDS
        return round(self.warm_seconds + (REHEARSALS + 1) * one_seconds)


def make_table(rig: Rig) -> None:
    """The table that all runs clone."""
    ycsb_load.load_files(rig.bundle, rig.node, rig.records)
    rig.node.hbase("snapshot", "create", rig.records.table, SNAPSHOT)


def start_anew(rig: Rig, layout: Layout) -> None:
    """Have the daemons run by a layout, and nothing to do."""
    node, disk = rig.node, rig.disk
    disk.free()
    node.stop(*RESTARTED)
    node.follow(layout)
    disk.write_back()
    drop_from_memory(rig.blocks)
    node.start("datanode", under=rig.memory.under)
    node.start_all()
    disk.write_back()
    disk.slow_down()


def order_rate(rig: Rig) -> None:
    """Have all compactions go at the rate, for longer than any run lasts."""
    with PluginSocket(rig.node.socket()) as plugin:
        plugin.set("compaction", "", "rate_bytes_per_second", RATE, seconds=600)


def read_while_compacting(rig: Rig, arm: Arm, results: Path) -> Run:
    """Reads of a table that is compacted meanwhile, if the arm does that."""
    lasts_seconds = rig.lasting_seconds()
    with JavaClient(rig.node, "MajorCompactions.java") as client:
        ycsb = ycsb_load.start_schedule(
            rig.bundle, rig.node, rig.records, MEASURED, READS_PER_SECOND, lasts_seconds, results
        )
        try:
            port = rig.node.ports["regionserver"]
            wait_until(lambda: is_connected(ycsb.pid, port), "YCSB's connection")
            for _ in range(REHEARSALS):
                rehearsed = time.time()
                client.ask(REHEARSED)
                compacted(rig, rehearsed)
            time.sleep(rig.warm_seconds)
            begin = time.time()
            if arm.compacts:
                client.ask(MEASURED)
            output, complaints = ycsb.communicate()
        finally:
            ycsb.kill()
            ycsb.wait()
    if ycsb.returncode:
        raise SystemExit(f"YCSB failed; its output was:\n{complaints}")
    ycsb_load.operations_done(output)
    if arm.compacts:
        return run_of(results, *compacted(rig, begin))
    return run_of(results, begin, begin + rig.compaction_seconds)


def compacted(rig: Rig, since: float) -> tuple[float, float]:
    """When the first compaction of a table began and the last one ended, once they have."""
    log = rig.node.daemons["regionserver"].said_since_start
    seen = wait_for_compactions(log, rig.records.regions, since)
    return seen.first_begin, seen.last_end


def run_of(results: Path, begin: float, end: float) -> Run:
    """What histograms of a run say of the time between two moments, in whole seconds."""
    intervals = between(read_log(results / "Intended-READ.hdr"), begin, end)
    if not intervals:
        raise SystemExit("no whole second lies within the compaction: use more records")
    reads = merge(each.distribution for each in intervals)
    seconds = sum(each.end - each.start for each in intervals)
    answered = reads.total / (READS_PER_SECOND * seconds)
    return Run(reads.percentile_seconds(99), answered, end - begin)


def run_arm(rig: Rig, name: str, version: str) -> Run:
    """One run of an arm, whose tables are gone afterwards."""
    arm, node = ARMS[name], rig.node
    start_anew(rig, arm.layout(version, rig.disk.mount_point))
    for table in (REHEARSED, MEASURED):
        node.hbase("snapshot", "clone", SNAPSHOT, table)
    if arm.plugin:
        order_rate(rig)
    before = datanode_bytes(rig.blocks)
    with tempfile.TemporaryDirectory() as folder:
        run = read_while_compacting(rig, arm, Path(folder) / "results")
    rig.disk.free()
    for table in (REHEARSED, MEASURED):
        node.hbase("disable", table)
        node.hbase("drop", table)
    one_merged = rig.records.count * 1000 // rig.records.regions
    wait_until(
        lambda: datanode_bytes(rig.blocks) < before + one_merged, "the clones' files to go", 0.5
    )
    print(f"  {name}: {run}", file=sys.stderr)
    return run


def figures_of(runs: dict[str, list[Run]]) -> Iterator[Figure]:
    """Figures of all arms."""
    p99 = {name: [run.p99_seconds for run in each] for name, each in runs.items()}
    for name, values in p99.items():
        yield Figure(f"{name}: p99 of reads", "s", statistics.mean(values), values=values)
    for name, values in p99.items():
        if name != QUIET:
            what = f"{name}: p99 of reads over that without a compaction"
            yield ratio_figure(what, values, p99[QUIET], ARMS[name].expected)
    for name, each in runs.items():
        if name != QUIET:
            seconds = [run.compaction_seconds for run in each]
            what = f"{name}: duration of the compaction"
            yield Figure(what, "s", statistics.mean(seconds), values=seconds)
    answered = [run.answered_ratio for each in runs.values() for run in each]
    yield Figure(
        "reads answered in time over those due, the least of all runs",
        "1",
        min(answered),
        expected={"min": LEAST_ANSWERED},
        values=answered,
    )


def measure(args: argparse.Namespace) -> Iterator[Figure]:
    """Figures of so many rounds."""
    records = Records(args.records, regions=4, files=5)
    runs: dict[str, list[Run]] = {name: [] for name in ARMS}
    with contextlib.ExitStack() as stack:
        bundle = stack.enter_context(ycsb_load.unpacked_bundle())
        disk = stack.enter_context(throttled_disk(DISK_BYTES, memory_folder()))
        memory = stack.enter_context(memory_group(DATANODE_MEMORY_BYTES))
        layout = ARMS[QUIET].layout(args.version, disk.mount_point)
        node = stack.enter_context(one_node(layout, memory_folder()))
        rig = Rig(bundle, disk, memory, node, records, args.warm_seconds)
        make_table(rig)
        for number in range(1, args.rounds + 1):
            print(f"round {number} of {args.rounds}", file=sys.stderr)
            for name in random.Random(number).sample(sorted(ARMS), len(ARMS)):
                runs[name].append(run_arm(rig, name, args.version))
    yield from figures_of(runs)


def main() -> None:
    """Command line."""
    parser = measurement_parser(STORE, __doc__)
    parser.add_argument(
        "--rounds",
        type=at_least(1),
        default=MINIMUM_RUNS,
        help=f"at least {MINIMUM_RUNS} with --strict (default: %(default)s)",
    )
    parser.add_argument(
        "--records", type=at_least(10_000), default=750_000, help="of 1 KB (default: %(default)s)"
    )
    parser.add_argument(
        "--warm-seconds", type=at_least(1), default=10, help="of each run (default: %(default)s)"
    )
    args = parser.parse_args()
    if args.strict and args.rounds < MINIMUM_RUNS:
        parser.error(f"--strict needs at least {MINIMUM_RUNS} rounds")
    report(args, "fine-throttle", "Reads beside a compaction at 30 MB/s", list(measure(args)))


if __name__ == "__main__":
    main()
