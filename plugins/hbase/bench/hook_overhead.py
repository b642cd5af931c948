"""Measures what the hooks cost that are compiled in and not used, against stock, by YCSB in turn.

Region servers: stock; patched, without the plug-in; patched, with the plug-in and no order; stock
once more: the ratio of one stock to the other tells what the measurement resolves, and the patched
ones are compared with the mean of both. The bound is that of the hooks; the plug-in has none.
All are under load, in turns of a tenth of a second: who else slows the machine for longer slows all
alike. Region servers are started anew for each round, on the same data, warmed up in turns as well:
what a Java machine has compiled, and how, stays as long as it runs, and an interval over rounds has
to cover that. Servers have one processor and YCSB another. More rounds narrow the intervals. Ratios
are of throughput and of the region server's processor time of an operation, for workloads A (reads
and updates) and C (reads); intervals are Fieller's at 95 %, over rounds.
"""

from __future__ import annotations

import contextlib
import random
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import ycsb_load
from one_node import STORE, Layout, OneNode, one_node
from process_figures import is_connected
from sluice_evaluation.bench.command_line import at_least, measurement_parser, report
from sluice_evaluation.bench.pinning import pinned, processors
from sluice_evaluation.bench.processor_time import processor_seconds
from sluice_evaluation.bench.ratios import near_one, ratio_figure, shown_difference
from sluice_evaluation.bench.turns import TurnTaker, lasting_seconds, memory_folder, take_turns
from sluice_evaluation.bench.waiting import wait_until
from sluice_evaluation.measurements import Figure

STOCK, PATCHED, LOADED = "stock", "patched", "patched, with the plug-in"
SECOND = "stock once more"
VARIANTS = {STOCK: "stock", PATCHED: "patched", LOADED: "patched", SECOND: "stock"}
WORKLOADS = ("a", "c")
BOUND = 0.01
REGION_SERVER = "regionserver"
# One client after the other starts its Java machine, and the clock of the first one goes on.
STARTING_SECONDS = 6
STOPPING_SECONDS = 120


@dataclass
class Series:
    """What one server did, a value each round."""

    operations_per_second: list[float] = field(default_factory=list)
    processor_seconds_per_operation: list[float] = field(default_factory=list)


class Load:
    """YCSB on a node, stopped but in its turns; ended with the context at the latest."""

    def __init__(self, bundle: Path, node: OneNode, workload: str, lasts_seconds: int):
        self._server = node.daemons[REGION_SERVER]
        self._port = node.ports[REGION_SERVER]
        client = pinned(processors()[1])
        self._ycsb = ycsb_load.start(bundle, node, workload, lasts_seconds, client)
        self.taker = TurnTaker(self._ycsb, lasts_seconds)

    def __enter__(self) -> Load:
        wait_until(lambda: is_connected(self._ycsb.pid, self._port), "YCSB's connection")
        self.taker.connected(has_worked=False)
        self._used_before = processor_seconds(self._server.pid)
        return self

    def __exit__(self, *_: object) -> None:
        # It may be stopped, and would stay so for ever.
        self._ycsb.kill()
        self._ycsb.wait()
        self._ycsb.stdout.close()
        self._ycsb.stderr.close()

    def end(self) -> tuple[float, float]:
        """Operations per second of its turns, and processor seconds per operation."""
        self.taker.wait_for_its_clock()
        output, complaints = self._ycsb.communicate()
        used = processor_seconds(self._server.pid) - self._used_before
        if self._ycsb.returncode:
            raise SystemExit(f"YCSB failed; its output was:\n{complaints}")
        count = ycsb_load.operations_done(output)
        return count / self.taker.active_seconds, used / count


def run(
    bundle: Path, nodes: dict[str, OneNode], workload: str, seconds: int, seed: int
) -> dict[str, tuple[float, float]]:
    """By arm, what Load.end gives; each has so many seconds of its own."""
    lasts_seconds = lasting_seconds(seconds, len(nodes)) + STARTING_SECONDS * len(nodes)
    with contextlib.ExitStack() as stack:
        loads = {}
        for arm, node in nodes.items():
            loads[arm] = stack.enter_context(Load(bundle, node, workload, lasts_seconds))
        takers = {arm: load.taker for arm, load in loads.items()}
        take_turns(takers, seconds, random.Random(seed))
        return {arm: load.end() for arm, load in loads.items()}


def start_anew(bundle: Path, nodes: dict[str, OneNode], seed: int) -> None:
    """Start the region servers again, in another order each time, with their data in one file."""
    for arm in random.Random(seed).sample(sorted(nodes), len(nodes)):
        node = nodes[arm]
        node.daemons[REGION_SERVER].stop(STOPPING_SECONDS)
        node.start(REGION_SERVER, under=pinned(processors()[0]))
        node.wait_until_serving()
        ycsb_load.run(bundle, node, "prepare", "major-compact")


def measure_series(
    bundle: Path, nodes: dict[str, OneNode], rounds: int, seconds: int, warm_seconds: int
) -> dict[str, dict[str, Series]]:
    """Series by workload and arm."""
    series = {workload: {arm: Series() for arm in nodes} for workload in WORKLOADS}
    for number in range(1, rounds + 1):
        print(f"round {number} of {rounds}", file=sys.stderr)
        start_anew(bundle, nodes, number)
        run(bundle, nodes, WORKLOADS[0], warm_seconds, number)
        for workload in WORKLOADS:
            for arm, (rate, cost) in run(bundle, nodes, workload, seconds, number).items():
                series[workload][arm].operations_per_second.append(rate)
                series[workload][arm].processor_seconds_per_operation.append(cost)
    return series


def quantity_figures(
    what: str, unit: str, bound: float | None, values: dict[str, list[float]]
) -> Iterator[Figure]:
    """Of one quantity: that of stock, and the ratios of the others to it."""
    both = [statistics.mean(pair) for pair in zip(values[STOCK], values[SECOND], strict=True)]
    yield Figure(f"{what}, {STOCK}", unit, statistics.mean(values[STOCK]), values=values[STOCK])
    yield ratio_figure(f"{what}, {SECOND} over stock", values[SECOND], values[STOCK])
    ratio = ratio_figure(f"{what}, {PATCHED} over stock", values[PATCHED], both, near_one(bound))
    yield ratio
    if bound and ratio.low is not None:
        yield shown_difference(ratio)
    yield ratio_figure(f"{what}, {LOADED} over stock", values[LOADED], both)


def figures_of(workload: str, arms: dict[str, Series]) -> Iterator[Figure]:
    """Figures of a workload."""
    name = f"workload {workload.upper()}"
    rates = {arm: series.operations_per_second for arm, series in arms.items()}
    costs = {arm: series.processor_seconds_per_operation for arm, series in arms.items()}
    yield from quantity_figures(f"{name}: operations a second", "1", BOUND, rates)
    yield from quantity_figures(f"{name}: processor time an operation", "s", None, costs)


def measure(version: str, rounds: int, seconds: int, warm_seconds: int) -> Iterator[Figure]:
    """Figures of all workloads."""
    with contextlib.ExitStack() as stack:
        bundle = stack.enter_context(ycsb_load.unpacked_bundle())
        nodes = {}
        for arm, variant in VARIANTS.items():
            layout = Layout(variant=variant, plugin=arm == LOADED, version=version)
            node = one_node(layout, memory_folder(), pinned(processors()[0]))
            nodes[arm] = stack.enter_context(node)
            ycsb_load.load(bundle, nodes[arm])
        series = measure_series(bundle, nodes, rounds, seconds, warm_seconds)
    for workload, arms in series.items():
        yield from figures_of(workload, arms)


def main() -> None:
    """Command line."""
    parser = measurement_parser(STORE, __doc__)
    parser.add_argument("--rounds", type=at_least(2), default=12, help="(default: %(default)s)")
    parser.add_argument(
        "--seconds",
        type=at_least(1),
        default=15,
        help="of load for each server, workload and round (default: %(default)s)",
    )
    parser.add_argument(
        "--warm-seconds",
        type=at_least(1),
        default=20,
        help="of load before, for each server and round (default: %(default)s)",
    )
    args = parser.parse_args()
    figures = list(measure(args.version, args.rounds, args.seconds, args.warm_seconds))
    report(args, "hook-overhead", "Throughput and processor time of YCSB", figures)


if __name__ == "__main__":
    main()
