"""Measures how soon a change of rate has its effect on running compactions, and how it is kept.

For each scope (the server, a table, a family) its compactions run under a lease on a rate that
changes between two values. The effect is when the bytes done, looked at without a pause, go over
from one slope to the other: the breakpoint that fits best. Then rates are kept for five seconds,
and what was done is compared with them. Compactions of a scope share its rate; those of the server
are three at once, those of the table two.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from one_node import STORE, Layout, OneNode, one_node
from ordered_compactions import OrderedCompactions
from sluice_evaluation.bench.command_line import at_least, measurement_parser, report
from sluice_evaluation.bench.plugin_socket import PluginSocket
from sluice_evaluation.bench.traces import (
    furthest_from_one,
    kept_rate,
    nearest_rank,
    seconds_to_effect,
)
from sluice_evaluation.bench.turns import memory_folder
from sluice_evaluation.measurements import Figure
from tables import QUIET_SITE, cell_lines, load

SLOW, FAST = 4_000_000, 16_000_000
KEPT_RATES = (5_000_000, 20_000_000)
WINDOW_SECONDS = 0.5
RATE_SECONDS = 5.0
SETTLE_SECONDS = 0.2
KEPT_ROUNDS = 3
MOST_SECONDS = 0.2
MOST_ERROR = 0.03

# Families by table; 1 KB a row and family.
TABLES = {"a": ["x", "y"], "b": ["x"]}
ROWS = 120_000
SCOPES = {"server": ("", 3), "table": ("a", 2), "family": ("a/x", 1)}
SITE = {**QUIET_SITE, "hbase.regionserver.thread.compaction.small": "3"}


def make_tables(node: OneNode) -> None:
    """Tables of one region."""
    for seed, (table, families) in enumerate(TABLES.items()):
        options = [word for family in families for word in ("--family", family)]
        node.hbase("create", table, *options)
        columns = [f"{family}:q" for family in families]
        load(node, table, cell_lines(range(ROWS), columns, seed))


def change(compactions: OrderedCompactions, old: float, new: float) -> float:
    """Seconds from an order to its effect."""
    needed = (old + new) * WINDOW_SECONDS
    compactions.go_on(needed, old)
    # At any point of the time between two looks of the throttle at its bucket.
    compactions.watch(SETTLE_SECONDS + random.random() * WINDOW_SECONDS / 5, time.monotonic())
    since = time.monotonic()
    compactions.set_rate(new)
    return seconds_to_effect(compactions.watch(WINDOW_SECONDS, since), old, new)


def kept_ratio(compactions: OrderedCompactions, rate: float) -> float:
    """What was done in five seconds over what the rate allows."""
    compactions.go_on(rate * (RATE_SECONDS + 2 * SETTLE_SECONDS), rate)
    end = SETTLE_SECONDS + RATE_SECONDS
    trace = compactions.watch(end, time.monotonic())
    return kept_rate(trace, SETTLE_SECONDS, end) / rate


def effects(compactions: OrderedCompactions, changes: int) -> list[float]:
    """Seconds to the effect of so many changes, up and down in turn."""
    rates = [(SLOW, FAST), (FAST, SLOW)]
    return [change(compactions, *rates[number % 2]) for number in range(changes)]


def figures_of(name: str, compactions: OrderedCompactions, changes: int) -> Iterator[Figure]:
    """Times to the effect, and rates kept."""
    times = effects(compactions, changes)
    what = f"{name}: time to effect of {changes} changes of the rate"
    yield Figure(f"{what}, p50", "s", nearest_rank(times, 0.5))
    p99 = nearest_rank(times, 0.99)
    yield Figure(f"{what}, p99", "s", p99, expected={"max": MOST_SECONDS}, values=times)
    yield Figure(f"{what}, maximum", "s", max(times))
    for rate in KEPT_RATES:
        ratios = [kept_ratio(compactions, rate) for _ in range(KEPT_ROUNDS)]
        yield Figure(
            f"{name}: bytes in {RATE_SECONDS:g} s over those of {rate / 1e6:g} MB/s,"
            f" the worst of {KEPT_ROUNDS}",
            "1",
            furthest_from_one(ratios),
            expected={"min": 1 - MOST_ERROR, "max": 1 + MOST_ERROR},
            values=ratios,
        )


def measure(node: OneNode, changes: int) -> Iterator[Figure]:
    """Figures of every scope."""
    make_tables(node)
    with PluginSocket(node.socket()) as plugin:
        for name, (scope, families) in SCOPES.items():
            compactions = OrderedCompactions(plugin, scope, families)
            yield from figures_of(name, compactions, changes)
            compactions.finish()
            plugin.clear()


def main() -> None:
    """Command line."""
    parser = measurement_parser(STORE, __doc__)
    parser.add_argument(
        "--changes", type=at_least(2), default=200, help="of each scope (default: %(default)s)"
    )
    args = parser.parse_args()
    with one_node(Layout(version=args.version, site=SITE), memory_folder()) as node:
        figures = list(measure(node, args.changes))
    report(args, "compaction-rate", "Changes of the rate of running compactions", figures)


if __name__ == "__main__":
    main()
