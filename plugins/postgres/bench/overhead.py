"""Measures what the hook and the extension cost, against stock, by pgbench in turn.

Servers: stock; patched without the extension; patched with the extension, its latency histogram
off; the same with the histogram on. Without --instructions all are under load in turns of a tenth
of a second. Stock is there twice: the ratio of one to the other tells what the measurement
resolves, and the others are compared with the mean of both, which varies less. More seconds of load
in all narrow the intervals, be they in longer rounds or in more of them; fewer servers leave time
for that. The ratios to stock are of throughput and of the processor time of a transaction; the
intervals are Fieller's at 95%, over rounds. With
--instructions one server at a time runs one session inside callgrind, which counts the instructions
of a transaction, whatever else the machine does.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import asdict

import instructions
import throughput
from cluster import SLUICE_SETTINGS, STORE, staged_prefix
from sluice_evaluation.bench.command_line import at_least, measurement_parser, report
from sluice_evaluation.bench.ratios import near_one, ratio_figure, shown_difference
from sluice_evaluation.measurements import Figure

ARMS = {
    "stock": ("stock", {}),
    "patched": ("patched", {}),
    "histogram-off": ("patched", {**SLUICE_SETTINGS, "sluice.statement_latency": "off"}),
    "histogram-on": ("patched", SLUICE_SETTINGS),
}
STOCK_ARMS = ["stock", "stock once more"]
TIMED_ARMS = {**ARMS, "stock once more": ("stock", {})}
COMPARED_ARMS = list(ARMS)[1:]
UNUSED_HOOK = "patched"
BOUNDS = {UNUSED_HOOK: 0.01, "histogram-on": 0.02}
INSTRUCTION_BOUNDS = {UNUSED_HOOK: 0.003}
MODES = {"read-only": ["--select-only"], "read-write": ["--skip-some-updates"]}
QUANTITIES = {
    "transactions_per_second": ("throughput", "1"),
    "processor_seconds_per_transaction": ("processor time a transaction", "s"),
}


def measure_throughput(
    version: str, compared: list[str], rounds: int, seconds: int
) -> Iterator[Figure]:
    """By mode, arm and quantity, ratios over rounds; values are those of the arm."""
    servers = {
        arm: (staged_prefix(version, variant), settings)
        for arm, (variant, settings) in TIMED_ARMS.items()
        if arm in [*STOCK_ARMS, *compared]
    }
    for mode, arms in throughput.measure(servers, MODES, rounds, seconds).items():
        for quantity, (words, unit) in QUANTITIES.items():
            values = {arm: asdict(series)[quantity] for arm, series in arms.items()}
            first, second = (values[arm] for arm in STOCK_ARMS)
            both = [statistics.mean(pair) for pair in zip(first, second, strict=True)]
            what = f"{mode}, {{}}: {words}".format
            yield Figure(what("stock"), unit, statistics.mean(first), values=first)
            yield ratio_figure(f"{what('stock once more')} over stock", second, first)
            for arm in compared:
                bound = near_one(BOUNDS.get(arm))
                ratio = ratio_figure(f"{what(arm)} over stock", values[arm], both, bound)
                yield ratio
                if arm == UNUSED_HOOK and ratio.low is not None:
                    yield shown_difference(ratio)


def measure_instructions(version: str, repetitions: int) -> Iterator[Figure]:
    """By mode and arm: the count of stock, and ratios over it; a value a repetition."""
    for mode, options in MODES.items():
        stock: list[float] = []
        for arm, (variant, settings) in ARMS.items():
            prefix = staged_prefix(version, variant)
            values = instructions.per_transaction(prefix, settings, options, repetitions)
            what = f"{mode}, {arm}: instructions a transaction"
            if arm == "stock":
                stock = values
                yield Figure(what, "1", statistics.mean(values), values=values)
            else:
                expected = near_one(INSTRUCTION_BOUNDS.get(arm))
                yield ratio_figure(f"{what} over stock", values, stock, expected)


def main() -> None:
    """Command line."""
    parser = measurement_parser(STORE, __doc__)
    parser.add_argument("--rounds", type=at_least(2), default=25, help="(default: %(default)s)")
    parser.add_argument(
        "--seconds",
        type=at_least(1),
        default=3,
        help="of load for each server, mode and round (default: %(default)s)",
    )
    parser.add_argument(
        "--arms",
        nargs="+",
        choices=COMPARED_ARMS,
        default=COMPARED_ARMS,
        metavar="ARM",
        help=f"what to time and compare with stock, of {', '.join(COMPARED_ARMS)} (default: all)",
    )
    parser.add_argument(
        "--instructions", action="store_true", help="count instructions instead of timing"
    )
    parser.add_argument(
        "--repetitions", type=at_least(2), default=5, help="of a count (default: %(default)s)"
    )
    args = parser.parse_args()
    if args.instructions:
        counted = list(measure_instructions(args.version, args.repetitions))
        report(args, "instructions", "Instructions of a transaction", counted)
        return
    timed = list(measure_throughput(args.version, args.arms, args.rounds, args.seconds))
    name, title = "throughput", "Throughput and processor time of pgbench"
    if set(args.arms) != set(COMPARED_ARMS):
        # Kept beside the measurement of all, and not in its place.
        name = "-".join([name, *sorted(args.arms)]).replace(" ", "-")
        title = f"{title}: {', '.join(sorted(args.arms))}"
    report(args, name, title, timed)


if __name__ == "__main__":
    main()
