"""Measures what is left of the orders of a client that is killed.

A process gives leases of one second and renews them, as an agent does: a hold of a running
compaction, a deferral of a queued one, memory reserved in the block cache, a rate of flushes. It is
killed by SIGKILL. The time counts from the end of the leases that it gave last, until the state is
that without orders. Afterwards the compaction that was held is watched for five seconds: its pace
has to be that of the store's own configuration.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from family_figures import figure_name
from one_node import STORE, Layout, OneNode, one_node
from ordered_compactions import OrderedCompactions
from sluice_evaluation.bench.command_line import at_least, measurement_parser, report
from sluice_evaluation.bench.plugin_socket import PluginSocket, setting, tasks_in
from sluice_evaluation.bench.traces import kept_rate, nearest_rank
from sluice_evaluation.bench.turns import memory_folder
from sluice_evaluation.bench.waiting import wait_until
from sluice_evaluation.measurements import Figure
from tables import QUIET_SITE, cell_lines, load

CLIENT = Path(__file__).with_name("renewing_client.py")
OWNER = "agent/killed"
HELD, QUEUED = "held", "queued"
FAMILY = "f"
HELD_ROWS, QUEUED_ROWS = 120_000, 2_000
TIME_TO_LIVE_SECONDS = 1.0
RENEWAL_SECONDS = 0.2
RENEWALS = 3
GIVEN = "given"
RESERVED_BYTES = 10_000_000
FLUSH_RATE = 5_000_000
START_RATE = 2_000_000
# The protocol: at most half a second late, and never early.
MOST_SECONDS_LATE = 0.5
STORE_RATE = 10 * 1024 * 1024
RATE_SECONDS = 5.0
SETTLE_SECONDS = 1.0
MOST_ERROR = 0.05

SITE = {
    **QUIET_SITE,
    "hbase.hstore.compaction.throughput.lower.bound": str(STORE_RATE),
    "hbase.hstore.compaction.throughput.higher.bound": str(STORE_RATE),
    "hbase.hstore.compaction.throughput.control.check.interval": "65536",
    "hbase.regionserver.thread.compaction.small": "2",
}

Snapshot = dict[str, Any]


def orders() -> list[dict[str, Any]]:
    """What the client asks for."""
    wanted = [
        ("compaction", HELD, setting("hold")),
        ("compaction", QUEUED, setting("defer_until_debt_bytes", 1e12)),
        ("cache", f"{HELD}/{FAMILY}", setting("reserved_bytes", RESERVED_BYTES)),
        ("flush", "", setting("rate_bytes_per_second", FLUSH_RATE)),
    ]
    return [
        {
            "kind": kind,
            "scope": scope,
            "setting": each,
            "owner": OWNER,
            "time_to_live_seconds": TIME_TO_LIVE_SECONDS,
            "replace": True,
        }
        for kind, scope, each in wanted
    ]


def no_lease(snapshot: Snapshot) -> bool:
    """Nothing of the client's is in force."""
    return not any(lease["owner"] == OWNER for lease in snapshot["leases"])


def nothing_held(snapshot: Snapshot) -> bool:
    """No compaction waits for an order."""
    return not any(task["state"] == "held" for task in snapshot["tasks"])


def nothing_deferred(snapshot: Snapshot) -> bool:
    """No compaction is put off."""
    return not any(task["state"] == "deferred" for task in snapshot["tasks"])


def nothing_reserved(snapshot: Snapshot) -> bool:
    """No memory is kept for the family."""
    name = figure_name(f"{HELD}/{FAMILY}", "reserved_bytes")
    return not snapshot["figures"].get(name) and not snapshot["figures"]["cache_reserved_bytes"]


STATES: dict[str, Callable[[Snapshot], bool]] = {
    "no lease": no_lease,
    "nothing held": nothing_held,
    "nothing deferred": nothing_deferred,
    "nothing reserved": nothing_reserved,
}


def in_force(snapshot: Snapshot) -> bool:
    """Whether every order has its effect."""
    return not any(is_over(snapshot) for is_over in STATES.values())


def seconds_until_over(plugin: PluginSocket, expiry: float) -> dict[str, float]:
    """By state, when it was first seen, from the end of the leases; negative if before."""
    seen: dict[str, float] = {}

    def all_seen() -> bool:
        snapshot = plugin.snapshot()
        now = time.monotonic() - expiry
        for name, is_over in STATES.items():
            if name not in seen and is_over(snapshot):
                seen[name] = now
        return len(seen) == len(STATES)

    wait_until(all_seen, "a state without orders", interval_seconds=0)
    return seen


class RenewingClient:
    """The process that gives the orders and renews them; killed with the context at the latest."""

    def __init__(self, socket: Path):
        wanted = {
            "socket": str(socket),
            "orders": orders(),
            "renewal_seconds": RENEWAL_SECONDS,
        }
        self._process = subprocess.Popen(
            [sys.executable, CLIENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self._process.stdin.write(f"{json.dumps(wanted)}\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        for line in self._process.stdout:
            self._lines.append(line.strip())

    def __enter__(self) -> RenewingClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def wait_for_rounds(self, rounds: int) -> None:
        """Until it has given its orders so many more times; RuntimeError when it has ended."""
        wanted = self._lines.count(GIVEN) + rounds

        def given_or_ended() -> bool:
            if self._process.poll() is not None:
                raise RuntimeError("the client could not give its orders; its message is above")
            return self._lines.count(GIVEN) >= wanted

        wait_until(given_or_ended, f"{rounds} rounds of orders", interval_seconds=0.001)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        self._process.stdin.close()
        self._process.stdout.close()

    def last_round(self) -> float:
        """When it began to give its orders for the last time."""
        return last_time(self._lines)


def last_time(lines: Sequence[str]) -> float:
    """The last time that the client has printed; ValueError when it was broken off after it."""
    if len(lines) < 2 or lines[-1] != GIVEN:
        raise ValueError(f"the client was killed within a round of orders: {list(lines[-3:])}")
    return float(lines[-2])


def kill_client(node: OneNode, plugin: PluginSocket) -> float:
    """Have a client renew its orders and kill it; gives when it gave them for the last time."""
    with RenewingClient(node.socket()) as client:
        client.wait_for_rounds(RENEWALS)
        node.hbase("compact", QUEUED, "--major")
        wait_until(lambda: in_force(plugin.snapshot()), "the client's orders")
        # Not in the middle of a round.
        client.wait_for_rounds(1)
        client.kill()
        return client.last_round()


def one_round(node: OneNode, plugin: PluginSocket, held: OrderedCompactions) -> dict[str, float]:
    """Seconds from the end of the leases to each state."""
    # It goes on at the store's pace until the client's orders are there, and after their end.
    held.go_on(STORE_RATE * (RATE_SECONDS + 3 * SETTLE_SECONDS), START_RATE)
    plugin.clear()
    last = kill_client(node, plugin)
    return seconds_until_over(plugin, last + TIME_TO_LIVE_SECONDS)


def pace_afterwards(held: OrderedCompactions) -> float:
    """The pace of the compaction that was held, over that of the store's configuration."""
    end = SETTLE_SECONDS + RATE_SECONDS
    trace = held.watch(end, time.monotonic())
    return kept_rate(trace, SETTLE_SECONDS, end) / STORE_RATE


def measure(node: OneNode, rounds: int) -> Iterator[Figure]:
    """By state, times of all rounds; the pace after the last one."""
    for seed, (table, rows) in enumerate({HELD: HELD_ROWS, QUEUED: QUEUED_ROWS}.items()):
        node.hbase("create", table, "--family", FAMILY)
        load(node, table, cell_lines(range(rows), [f"{FAMILY}:q"], seed))
    with PluginSocket(node.socket()) as plugin:
        held = OrderedCompactions(plugin, HELD, 1)
        times = [one_round(node, plugin, held) for _ in range(rounds)]
        ratio = pace_afterwards(held)
        left = len(tasks_in(plugin.snapshot(), "compaction", QUEUED))
    for name in STATES:
        values = [each[name] for each in times]
        what = f"from the end of the leases to '{name}', {len(values)} clients killed"
        yield Figure(f"{what}, p50", "s", nearest_rank(values, 0.5))
        yield Figure(f"{what}, minimum", "s", min(values), expected={"min": 0})
        bound = {"max": MOST_SECONDS_LATE}
        yield Figure(f"{what}, maximum", "s", max(values), expected=bound, values=values)
    bounds = {"min": 1 - MOST_ERROR, "max": 1 + MOST_ERROR}
    yield Figure("pace afterwards over the store's own", "1", ratio, expected=bounds)
    yield Figure(
        "compactions that were put off and are still there", "1", left, expected={"max": 0}
    )


def main() -> None:
    """Command line."""
    parser = measurement_parser(STORE, __doc__)
    parser.add_argument("--rounds", type=at_least(1), default=20, help="(default: %(default)s)")
    args = parser.parse_args()
    with one_node(Layout(version=args.version, site=SITE), memory_folder()) as node:
        figures = list(measure(node, args.rounds))
    report(args, "dead-client", "Orders of a client that was killed", figures)


if __name__ == "__main__":
    main()
