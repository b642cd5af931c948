"""Measures how soon orders to running compactions have their effect, and how they are kept.

A program has two databases open, with the plug-in; all of their tables are compacted again and
again. The effect of an order is seen by the sizes of the tables that are written, looked at a
thousand times a second, and not by what the plug-in says. A compaction writes a buffer of 1 MiB at
a time, RocksDB's default.

Rates change between two values, for one database and for both together: the effect is the
breakpoint of two lines of these slopes that fits best. Holds are given at full speed, and ended:
the effect is the last write after the hold, and the first after its end. Then rates are kept for
five seconds, and holds for four. Priorities: of two compactions at full speed one is given a higher
priority, and loses it again, and the other one stops and goes on; and one runs alone, while a
compaction of the other database is ordered to start, which has the higher priority.
"""

from __future__ import annotations

import contextlib
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from database_program import (
    STORE,
    DatabaseProgram,
    compiled_program,
    patched_prefix,
    plugin_options,
)
from ordered_databases import LOOK_SECONDS, OrderedDatabases
from sluice_evaluation.bench.command_line import at_least, measurement_parser, report
from sluice_evaluation.bench.plugin_socket import PluginSocket
from sluice_evaluation.bench.traces import (
    Trace,
    furthest_from_one,
    kept_rate,
    nearest_rank,
    seconds_to_effect,
)
from sluice_evaluation.bench.turns import memory_folder
from sluice_evaluation.bench.waiting import wait_until
from sluice_evaluation.measurements import Figure
from table_sizes import seconds_to_go_on, seconds_to_stop, share_beside

LOWER, HIGHER = "lower", "higher"
DATABASE_BYTES = 512 << 20
VALUE_BYTES = 4096
# What a compaction at full speed does not get done while an order is watched.
MUCH_BYTES = DATABASE_BYTES // 2

SLOW, FAST = 20_000_000, 80_000_000
KEPT_RATES = (SLOW, FAST)
KEPT_ROUNDS = 3
RATE_SECONDS = 5.0
SETTLE_SECONDS = 0.2
WINDOW_SECONDS = 0.5
STOP_SECONDS = 0.1
HOLD_SECONDS = 4.0
HOLDS = 5
LOWER_RANK, HIGHER_RANK = 0, 1

MOST_SECONDS = 0.05
MOST_ERROR = 0.03
MOST_SHARE = 0.01

OPTIONS = "create_if_missing=true;compression=kNoCompression;max_background_jobs=4"


def settle_seconds() -> float:
    """For how long to wait before an order, so that it comes at any point of a write."""
    return SETTLE_SECONDS * random.uniform(0.5, 1)


def change_rate(databases: OrderedDatabases, old: float, new: float) -> float:
    """Seconds from a change of the rate to its effect."""
    databases.go_on((old + new) * 2 * WINDOW_SECONDS)
    databases.set("rate_bytes_per_second", old)
    time.sleep(settle_seconds())
    trace = databases.watch_order(
        lambda: databases.set("rate_bytes_per_second", new), WINDOW_SECONDS, WINDOW_SECONDS
    )
    return seconds_to_effect(trace, old, new)


def rate_effects(databases: OrderedDatabases, orders: int) -> list[float]:
    """Seconds to the effect of so many changes, up and down in turn."""
    rates = [(SLOW, FAST), (FAST, SLOW)]
    return [change_rate(databases, *rates[number % 2]) for number in range(orders)]


def kept_ratio(databases: OrderedDatabases, rate: float) -> float:
    """What was written in five seconds over what the rate allows."""
    databases.go_on(rate * (RATE_SECONDS + SETTLE_SECONDS))
    databases.set("rate_bytes_per_second", rate)
    time.sleep(SETTLE_SECONDS)
    trace = Trace()
    databases.watch(trace, RATE_SECONDS)
    return kept_rate(trace, trace.seconds[0], trace.seconds[-1]) / rate


def stop_and_go_on(
    databases: OrderedDatabases, stop: Callable[[], None], go_on: Callable[[], None]
) -> list[float]:
    """Seconds to the effect of two orders: one that stops writes of databases, one that ends it."""
    time.sleep(settle_seconds())
    stopped = databases.watch_order(stop, LOOK_SECONDS, STOP_SECONDS)
    gone_on = databases.watch_order(go_on, LOOK_SECONDS, STOP_SECONDS)
    return [seconds_to_stop(stopped, STOP_SECONDS), seconds_to_go_on(gone_on)]


def hold_effects(databases: OrderedDatabases, orders: int) -> list[float]:
    """Seconds to the effect of holds and of their ends, so many together."""
    times = []
    for _ in range(orders // 2):
        databases.go_on(MUCH_BYTES)
        times += stop_and_go_on(databases, lambda: databases.set("hold"), databases.clear)
    return times


def held_bytes(databases: OrderedDatabases) -> tuple[int, int]:
    """Bytes done by the plug-in's account, and bytes written, in a hold of four seconds."""
    databases.go_on(MUCH_BYTES)
    databases.set("hold")
    wait_until(databases.are_held, "a held compaction", LOOK_SECONDS)
    done, written = databases.done_bytes(), databases.written_bytes()
    time.sleep(HOLD_SECONDS)
    after = databases.done_bytes() - done, databases.written_bytes() - written
    databases.clear()
    return after


def priority_effects(
    both: OrderedDatabases, lower: OrderedDatabases, higher: OrderedDatabases, orders: int
) -> list[float]:
    """Seconds to the effect of higher priorities and of their ends, so many together."""
    times = []
    for _ in range(orders // 2):
        both.go_on(MUCH_BYTES)
        lower.set("priority", LOWER_RANK)
        times += stop_and_go_on(lower, lambda: higher.set("priority", HIGHER_RANK), higher.clear)
    return times


def yield_once(lower: OrderedDatabases, higher: OrderedDatabases) -> tuple[float, float]:
    """Seconds from the order to start a compaction to the stop of one of a lower rank.

    Also what that writes from then on beside the other one, over what the other one writes.
    """
    higher.finish()
    lower.go_on(MUCH_BYTES)
    lower.set("priority", LOWER_RANK)
    higher.set("priority", HIGHER_RANK)
    time.sleep(settle_seconds())
    lower_trace, higher_trace = Trace(), Trace()
    lower.watch(lower_trace, LOOK_SECONDS)
    higher_trace.add(time.monotonic(), higher.written_bytes())
    given = time.monotonic()
    higher.start()

    def is_over() -> bool:
        has_begun = higher_trace.bytes_done[-1] > higher_trace.bytes_done[0]
        runs = bool(higher.tasks())
        # The higher one first: what the lower one writes after its end does not count then.
        higher_trace.add(time.monotonic(), higher.written_bytes())
        lower_trace.add(time.monotonic(), lower.written_bytes())
        return has_begun and not runs

    wait_until(is_over, "the end of the compaction of a higher rank", LOOK_SECONDS)
    lower_trace, higher_trace = lower_trace.since(given), higher_trace.since(given)
    share = share_beside(lower_trace, higher_trace, MOST_SECONDS)
    return seconds_to_stop(lower_trace, STOP_SECONDS), share


def effect_figures(what: str, times: list[float]) -> Iterator[Figure]:
    """Median, p99 beside its bound, and maximum of times to an effect."""
    name = f"{what}: time to effect of {len(times)} orders"
    yield Figure(f"{name}, p50", "s", nearest_rank(times, 0.5))
    p99 = nearest_rank(times, 0.99)
    yield Figure(f"{name}, p99", "s", p99, expected={"max": MOST_SECONDS}, values=times)
    yield Figure(f"{name}, maximum", "s", max(times))


def rate_figures(what: str, databases: OrderedDatabases, orders: int) -> Iterator[Figure]:
    """How soon rates have their effect, and how they are kept."""
    yield from effect_figures(f"rate of {what}", rate_effects(databases, orders))
    for rate in KEPT_RATES:
        ratios = [kept_ratio(databases, rate) for _ in range(KEPT_ROUNDS)]
        yield Figure(
            f"rate of {what}: bytes in {RATE_SECONDS:g} s over those of {rate / 1e6:g} MB/s,"
            f" the worst of {KEPT_ROUNDS}",
            "1",
            furthest_from_one(ratios),
            expected={"min": 1 - MOST_ERROR, "max": 1 + MOST_ERROR},
            values=ratios,
        )
    databases.finish()


def hold_figures(databases: OrderedDatabases, orders: int) -> Iterator[Figure]:
    """How soon a hold and its end have their effect, and what a hold lets through."""
    yield from effect_figures("hold", hold_effects(databases, orders))
    seen = [held_bytes(databases) for _ in range(HOLDS)]
    during = f"in {HOLDS} holds of {HOLD_SECONDS:g} s"
    for words, values in zip(
        ("done by the plug-in's account", "written to tables"), zip(*seen, strict=True), strict=True
    ):
        most = max(values, key=abs)
        yield Figure(f"bytes {words} {during}", "1", most, expected={"max": 0}, values=list(values))
    databases.finish()


def priority_figures(
    both: OrderedDatabases, lower: OrderedDatabases, higher: OrderedDatabases, orders: int
) -> Iterator[Figure]:
    """How soon a priority has its effect, and how soon a compaction of a lower rank stops."""
    yield from effect_figures("priority", priority_effects(both, lower, higher, orders))
    seen = [yield_once(lower, higher) for _ in range(orders // 2)]
    times, shares = (list(values) for values in zip(*seen, strict=True))
    what = "start of a compaction of a higher rank"
    yield from effect_figures(what, times)
    yield Figure(
        f"{what}: bytes of the lower one beside it over its own, the worst of {len(shares)}",
        "1",
        max(shares),
        expected={"max": MOST_SHARE},
        values=shares,
    )
    lower.finish()


def measure(version: str, orders: int) -> Iterator[Figure]:
    """Figures of rates, holds and priorities."""
    prefix = patched_prefix(version)
    with contextlib.ExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=memory_folder())))
        # The path of a socket is short.
        sockets = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sluice-")))
        folders = [data / LOWER, data / HIGHER]
        service = plugin_options(instance="bench", socket_directory=sockets, remote="false")
        program = compiled_program(prefix, data)
        running = DatabaseProgram(program, f"{OPTIONS};{service}", folders)
        stack.enter_context(running)
        for folder in folders:
            running.fill(folder, DATABASE_BYTES // VALUE_BYTES, VALUE_BYTES)
        plugin = stack.enter_context(PluginSocket(sockets / "rocksdb/bench.sock"))
        lower, higher = (OrderedDatabases(plugin, each.name, [each]) for each in folders)
        both = OrderedDatabases(plugin, "", folders)
        yield from rate_figures("a database", lower, orders)
        yield from rate_figures("all databases", both, orders)
        yield from hold_figures(lower, orders)
        yield from priority_figures(both, lower, higher, orders)


def main() -> None:
    """Command line."""
    parser = measurement_parser(STORE, __doc__)
    parser.add_argument(
        "--orders", type=at_least(2), default=200, help="of each kind (default: %(default)s)"
    )
    args = parser.parse_args()
    figures = list(measure(args.version, args.orders))
    report(args, "order-to-effect", "From an order to its effect", figures)


if __name__ == "__main__":
    main()
