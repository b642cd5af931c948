"""Measures what the hooks cost that are compiled in and not used, by db_bench in turn with stock.

Arms: stock; patched, without the plug-in; patched, with the plug-in and no order; stock once more:
the ratio of one stock to the other tells what the measurement resolves, and the patched ones are
compared with the mean of both. The bound is that of the hooks; the plug-in has none. Without
--instructions all are at work in turns of a tenth of a second, on one processor, started anew for
each round on new copies of programs and data in memory: whatever slows the machine for longer than
a turn slows all alike, and an interval over rounds covers where in memory each happens to be.
db_bench has the store in itself: what is timed is the store and its client. All see the same random
numbers. Ratios are of the operations a second and of the processor time of one; intervals are
Fieller's at 95 %, over rounds. With --instructions one arm at a time runs inside callgrind, which
counts the instructions of an operation, whatever else the machine does.
"""

from __future__ import annotations

import contextlib
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import db_bench_instructions
from database_program import STORE, plugin_options
from db_bench import BENCHMARKS, PROGRAM, Arm, Load, copied_programs, make_database, with_databases
from sluice_evaluation.bench.command_line import at_least, measurement_parser, report
from sluice_evaluation.bench.ratios import near_one, ratio_figure, shown_difference
from sluice_evaluation.bench.staged import staged_prefix
from sluice_evaluation.bench.turns import lasting_seconds, memory_folder, take_turns
from sluice_evaluation.measurements import Figure

STOCK, PATCHED, LOADED = "stock", "patched", "patched, with the plug-in"
SECOND = "stock once more"
BOUND = 0.01
INSTRUCTION_BOUND = 0.003


@dataclass
class Series:
    """What one arm did, a value each round."""

    operations_per_second: list[float] = field(default_factory=list)
    processor_seconds_per_operation: list[float] = field(default_factory=list)


def arms_of(sockets: Path) -> dict[str, Arm]:
    """All arms; the plug-in has its socket below a folder, and compacts nowhere else."""
    plugin = plugin_options(socket_directory=sockets, remote="false")
    return {
        STOCK: Arm("stock"),
        PATCHED: Arm("patched"),
        LOADED: Arm("patched", plugin),
        SECOND: Arm("stock"),
    }


def prefix_of(version: str, arm: Arm) -> Path:
    """The staged tree of an arm."""
    return staged_prefix(STORE.name, version, arm.variant, str(PROGRAM))


def run(
    programs: dict[str, Path],
    arms: dict[str, Arm],
    databases: dict[str, Path],
    benchmark: str,
    seconds: int,
    seed: int,
) -> dict[str, tuple[float, float]]:
    """By arm, what Load.end gives; each has so many seconds of its own."""
    lasts_seconds = lasting_seconds(seconds, len(arms))
    with contextlib.ExitStack() as stack:
        loads = {}
        for name in random.Random(seed).sample(sorted(arms), len(arms)):
            override = arms[name].override
            load = Load(programs[name], databases[name], benchmark, override, seed, lasts_seconds)
            loads[name] = stack.enter_context(load)
        takers = {name: load.taker for name, load in loads.items()}
        take_turns(takers, seconds, random.Random(seed))
        return {name: load.end() for name, load in loads.items()}


def one_round(
    version: str, arms: dict[str, Arm], made: Path, seconds: int, seed: int
) -> dict[str, dict[str, tuple[float, float]]]:
    """By benchmark and arm, what Load.end gives."""
    results = {}
    with contextlib.ExitStack() as stack:
        programs = {}
        for name in random.Random(seed).sample(sorted(arms), len(arms)):
            prefix = prefix_of(version, arms[name])
            programs[name] = stack.enter_context(copied_programs(prefix))
        for benchmark in BENCHMARKS:
            with tempfile.TemporaryDirectory(dir=memory_folder()) as folder:
                databases = with_databases(Path(folder), list(arms), benchmark, made)
                results[benchmark] = run(programs, arms, databases, benchmark, seconds, seed)
    return results


def measure_series(version: str, rounds: int, seconds: int) -> dict[str, dict[str, Series]]:
    """Series by benchmark and arm."""
    with (
        tempfile.TemporaryDirectory(dir=memory_folder()) as data,
        # The path of a socket is short.
        tempfile.TemporaryDirectory(prefix="sluice-") as sockets,
    ):
        arms = arms_of(Path(sockets))
        series = {benchmark: {name: Series() for name in arms} for benchmark in BENCHMARKS}
        made = Path(data, "made")
        make_database(prefix_of(version, arms[STOCK]), made)
        for number in range(1, rounds + 1):
            print(f"round {number} of {rounds}", file=sys.stderr)
            for benchmark, results in one_round(version, arms, made, seconds, number).items():
                for name, (rate, cost) in results.items():
                    series[benchmark][name].operations_per_second.append(rate)
                    series[benchmark][name].processor_seconds_per_operation.append(cost)
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


def measure_throughput(version: str, rounds: int, seconds: int) -> Iterator[Figure]:
    """Figures of all benchmarks."""
    for benchmark, arms in measure_series(version, rounds, seconds).items():
        rates = {name: series.operations_per_second for name, series in arms.items()}
        costs = {name: series.processor_seconds_per_operation for name, series in arms.items()}
        yield from quantity_figures(f"{benchmark}: operations a second", "1", BOUND, rates)
        yield from quantity_figures(f"{benchmark}: processor time an operation", "s", None, costs)


def measure_instructions(version: str, repetitions: int) -> Iterator[Figure]:
    """By mode and arm: the count of stock, and ratios over it; a value a repetition."""
    with (
        tempfile.TemporaryDirectory(dir=memory_folder()) as data,
        # The path of a socket is short.
        tempfile.TemporaryDirectory(prefix="sluice-") as sockets,
    ):
        arms = arms_of(Path(sockets))
        made = Path(data, "made")
        make_database(prefix_of(version, arms[STOCK]), made)
        for mode in db_bench_instructions.MODES:
            values = {
                name: db_bench_instructions.per_operation(
                    prefix_of(version, arms[name]), arms[name], mode, made, repetitions
                )
                for name in (STOCK, PATCHED, LOADED)
            }
            what = f"{mode}: instructions an operation"
            stock = values[STOCK]
            yield Figure(f"{what}, {STOCK}", "1", statistics.mean(stock), values=stock)
            bound = near_one(INSTRUCTION_BOUND)
            yield ratio_figure(f"{what}, {PATCHED} over stock", values[PATCHED], stock, bound)
            yield ratio_figure(f"{what}, {LOADED} over stock", values[LOADED], stock)


def main() -> None:
    """Command line."""
    parser = measurement_parser(STORE, __doc__)
    parser.add_argument("--rounds", type=at_least(2), default=25, help="(default: %(default)s)")
    parser.add_argument(
        "--seconds",
        type=at_least(1),
        default=3,
        help="of work for each arm, benchmark and round (default: %(default)s)",
    )
    parser.add_argument(
        "--instructions", action="store_true", help="count instructions instead of timing"
    )
    parser.add_argument(
        "--repetitions", type=at_least(2), default=5, help="of a count (default: %(default)s)"
    )
    args = parser.parse_args()
    if args.instructions:
        counts = list(measure_instructions(args.version, args.repetitions))
        report(args, "instructions", "Instructions of an operation of db_bench", counts)
        return
    timed = list(measure_throughput(args.version, args.rounds, args.seconds))
    report(args, "hook-overhead", "Throughput and processor time of db_bench", timed)


if __name__ == "__main__":
    main()
