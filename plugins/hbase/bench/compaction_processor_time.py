"""Measures what compactions take of the processor, one after the other, in stock and the plug-in.

A Java machine compiles what it runs often, so that the first compactions of a server cost more
than the later ones. Copies of one table, of the same snapshot, are merged in turn at 30 MB/s, by
stock with a check every 64 KiB and by the plug-in with its own reads; nothing else is done
meanwhile. Each runs once a round, in an order drawn anew, with servers that were started for it.
Times are those of region server and DataNode together, as one reads what the other sends. The ratio
is that of the last copy, when little is left to compile; its interval is Fieller's at 95 %, over
rounds.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import statistics
import sys
import time
from collections.abc import Iterator

import ycsb_load
from compaction_log import wait_for_compactions
from java_client import JavaClient
from one_node import STORE, Layout, OneNode, one_node
from sluice_evaluation.bench.command_line import at_least, measurement_parser, report
from sluice_evaluation.bench.plugin_socket import PluginSocket
from sluice_evaluation.bench.processor_time import processor_seconds
from sluice_evaluation.bench.ratios import ratio_figure
from sluice_evaluation.bench.turns import memory_folder
from sluice_evaluation.inference import MINIMUM_RUNS
from sluice_evaluation.measurements import Figure
from tables import QUIET_SITE
from ycsb_load import Records

RATE = 30_000_000
SNAPSHOT = "loaded"
SERVERS = ("regionserver", "datanode")
RESTARTED = ("datanode", "master", "regionserver")
# Longer than an arm lasts, and no longer than a lease may be.
ORDER_SECONDS = 600
STOCK, PLUGIN = "stock", "plug-in"
STOCK_RATE = {
    "hbase.hstore.compaction.throughput.lower.bound": str(RATE),
    "hbase.hstore.compaction.throughput.higher.bound": str(RATE),
    "hbase.hstore.compaction.throughput.control.check.interval": str(64 << 10),
}


def layout(arm: str, version: str) -> Layout:
    """How an arm is configured."""
    with_plugin = arm == PLUGIN
    return Layout(
        variant="patched" if with_plugin else "stock",
        plugin=with_plugin,
        version=version,
        site={**QUIET_SITE, **({} if with_plugin else STOCK_RATE)},
    )


def server_seconds(node: OneNode) -> float:
    """Processor time that the servers have had so far."""
    return sum(processor_seconds(node.daemons[name].pid) for name in SERVERS)


def merge_in_turn(node: OneNode, tables: list[str], regions: int) -> list[float]:
    """Processor time of each table's compaction, in this order."""
    seconds = []
    with JavaClient(node, "MajorCompactions.java") as client:
        for table in tables:
            before, begin = server_seconds(node), time.time()
            client.ask(table)
            wait_for_compactions(node.daemons["regionserver"].said_since_start, regions, begin)
            seconds.append(server_seconds(node) - before)
    return seconds


def run_arm(node: OneNode, arm: str, version: str, copies: int, regions: int) -> list[float]:
    """One run of an arm, whose tables are gone afterwards."""
    node.stop(*RESTARTED)
    node.follow(layout(arm, version))
    node.start_all()
    tables = [f"copy{number}" for number in range(1, copies + 1)]
    for table in tables:
        node.hbase("snapshot", "clone", SNAPSHOT, table)
    if arm == PLUGIN:
        with PluginSocket(node.socket()) as plugin:
            plugin.set("compaction", "", "rate_bytes_per_second", RATE, seconds=ORDER_SECONDS)
    seconds = merge_in_turn(node, tables, regions)
    for table in tables:
        node.hbase("disable", table)
        node.hbase("drop", table)
    print(f"  {arm}: {' '.join(f'{each:.2f}' for each in seconds)} s", file=sys.stderr)
    return seconds


def figures_of(runs: dict[str, list[list[float]]]) -> Iterator[Figure]:
    """Figures of both arms, each with a list of compactions for each round."""
    for arm, rounds in runs.items():
        for number, values in enumerate(zip(*rounds, strict=True), 1):
            what = f"{arm}: processor time of compaction {number} after the start"
            yield Figure(what, "s", statistics.mean(values), values=list(values))
    last = {arm: [seconds[-1] for seconds in rounds] for arm, rounds in runs.items()}
    yield ratio_figure("plug-in over stock: the last compaction", last[PLUGIN], last[STOCK])


def measure(args: argparse.Namespace) -> Iterator[Figure]:
    """Figures of so many rounds."""
    records = Records(args.records, regions=2, files=8)
    runs: dict[str, list[list[float]]] = {STOCK: [], PLUGIN: []}
    with contextlib.ExitStack() as stack:
        bundle = stack.enter_context(ycsb_load.unpacked_bundle())
        node = stack.enter_context(one_node(layout(STOCK, args.version), memory_folder()))
        ycsb_load.load_files(bundle, node, records)
        node.hbase("snapshot", "create", records.table, SNAPSHOT)
        for number in range(1, args.rounds + 1):
            print(f"round {number} of {args.rounds}", file=sys.stderr)
            for arm in random.Random(number).sample(sorted(runs), len(runs)):
                runs[arm].append(run_arm(node, arm, args.version, args.copies, records.regions))
    yield from figures_of(runs)


def main() -> None:
    """Command line."""
    parser = measurement_parser(STORE, __doc__)
    parser.add_argument(
        "--rounds",
        type=at_least(1),
        default=MINIMUM_RUNS,
        help=f"at least {MINIMUM_RUNS} for an interval that says something (default: %(default)s)",
    )
    parser.add_argument(
        "--copies", type=at_least(1), default=5, help="merged in turn (default: %(default)s)"
    )
    parser.add_argument(
        "--records", type=at_least(10_000), default=300_000, help="of 1 KB (default: %(default)s)"
    )
    args = parser.parse_args()
    title = "Processor time of compactions, one after the other"
    report(args, "compaction-processor-time", title, list(measure(args)))


if __name__ == "__main__":
    main()
