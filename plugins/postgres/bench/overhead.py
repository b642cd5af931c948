"""Measures what the hook and the extension cost, against stock, by pgbench in turn.

Servers: stock; patched without the extension; patched with the extension, its latency histogram
off; the same with the histogram on. Without --instructions they run side by side, one at a time
under load, and the ratios to stock are of throughput and of the processor time of a transaction;
the intervals are Fieller's at 95%, over rounds. With --instructions one server at a time runs one
session inside callgrind, which counts the instructions of a transaction, whatever else the machine
does.
"""

from __future__ import annotations

import statistics
from dataclasses import asdict

import instructions
import throughput
from cluster import SLUICE_SETTINGS, staged_prefix
from command_line import at_least, measurement_parser, print_figures
from sluice_evaluation.inference import Shape, paired_ratio

ARMS = {
    "stock": ("stock", {}),
    "patched": ("patched", {}),
    "histogram-off": ("patched", {**SLUICE_SETTINGS, "sluice.statement_latency": "off"}),
    "histogram-on": ("patched", SLUICE_SETTINGS),
}
BOUNDS = {"patched": 0.01, "histogram-on": 0.02}
INSTRUCTION_BOUNDS = {"patched": 0.003}
MODES = {"read-only": ["--select-only"], "read-write": ["--skip-some-updates"]}


def ratio_to_stock(values: list[float], stock: list[float]) -> dict:
    """Ratio of the means with its interval, null where the data bound it on no side or one."""
    estimate = paired_ratio(values, stock)
    bounded = estimate.shape is Shape.BOUNDED
    return {
        "ratio": estimate.ratio,
        "low": estimate.lower if bounded else None,
        "high": estimate.upper if bounded else None,
    }


def measure_throughput(version: str, rounds: int, seconds: int) -> dict:
    """By mode and arm: a value a round, and ratios to stock."""
    servers = {
        arm: (staged_prefix(version, variant), settings)
        for arm, (variant, settings) in ARMS.items()
    }
    measured = throughput.measure(servers, MODES, rounds, seconds)
    return {
        mode: {
            arm: {
                quantity: {
                    "values": values,
                    **ratio_to_stock(values, asdict(arms["stock"])[quantity]),
                }
                for quantity, values in asdict(series).items()
            }
            for arm, series in arms.items()
        }
        for mode, arms in measured.items()
    }


def measure_instructions(version: str, repetitions: int) -> dict:
    """By mode and arm: a value a repetition, mean, standard deviation, and ratio to stock."""
    figures: dict[str, dict] = {}
    for mode, options in MODES.items():
        figures[mode] = {}
        for arm, (variant, settings) in ARMS.items():
            prefix = staged_prefix(version, variant)
            values = instructions.per_transaction(prefix, settings, options, repetitions)
            figures[mode][arm] = {
                "values": values,
                "mean": statistics.mean(values),
                "standard_deviation": statistics.stdev(values),
                **ratio_to_stock(values, figures[mode].get("stock", {"values": values})["values"]),
            }
    return figures


def _bound(bounds: dict[str, float], arm: str) -> str:
    return f"   (bound: within {bounds[arm]:.1%})" if arm in bounds else ""


def _interval(row: dict) -> str:
    if row["low"] is None:
        return f"{row['ratio']:.4f} [no interval: too few rounds, or the machine is not idle]"
    return f"{row['ratio']:.4f} [{row['low']:.4f}, {row['high']:.4f}]"


def print_throughput(figures: dict) -> None:
    """One line a mode and arm."""
    for mode, arms in figures.items():
        for arm in list(ARMS)[1:]:
            rate = arms[arm]["transactions_per_second"]
            cost = arms[arm]["processor_seconds_per_transaction"]
            print(
                f"{mode:10} {arm:13} over stock: throughput {_interval(rate)},"
                f" processor time {_interval(cost)}{_bound(BOUNDS, arm)}"
            )


def print_instructions(figures: dict) -> None:
    """One line a mode and arm."""
    for mode, arms in figures.items():
        for arm, row in arms.items():
            print(
                f"{mode:10} {arm:13} {row['mean']:8.0f} instructions a transaction,"
                f" standard deviation {row['standard_deviation']:5.0f},"
                f" over stock {_interval(row)}{_bound(INSTRUCTION_BOUNDS, arm)}"
            )


def main() -> None:
    """Command line."""
    parser = measurement_parser(__doc__)
    parser.add_argument("--rounds", type=at_least(2), default=25, help="(default: %(default)s)")
    parser.add_argument(
        "--seconds",
        type=at_least(1),
        default=2,
        help="of a run, two a round (default: %(default)s)",
    )
    parser.add_argument(
        "--instructions", action="store_true", help="count instructions instead of timing"
    )
    parser.add_argument(
        "--repetitions", type=at_least(2), default=5, help="of a count (default: %(default)s)"
    )
    args = parser.parse_args()
    if args.instructions:
        figures = measure_instructions(args.version, args.repetitions)
        print_figures(args.output, figures, print_instructions)
        return
    figures = measure_throughput(args.version, args.rounds, args.seconds)
    print_figures(args.output, figures, print_throughput)


if __name__ == "__main__":
    main()
