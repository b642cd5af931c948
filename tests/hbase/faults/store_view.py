"""What the plug-ins of the region servers say of the list's table, and orders to them."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from typing import Any

from cluster_protocols import AnyCluster
from linked_list import SCOPE
from sluice_evaluation.bench.plugin_socket import PluginSocket, RpcError, tasks_in
from sluice_evaluation.bench.waiting import wait_until

KIND = "compaction"
OWNER = "fault-test"
# Longer than any fault takes, on a machine that does much else besides: what ends a lease before is
# the fault, or the test. A plug-in that does not allow it gives as much as it allows.
LEASE_SECONDS = 3600
# Each look is a connection, and on a deployed cluster one over the network.
LOOK_INTERVAL_SECONDS = 0.1
WAIT_SECONDS = 600
REFUSED = -32003
# Controller to agent and agent to store, and of each the one that was given up on before.
ORDERS_ON_THEIR_WAY = 4


class StoreView:
    """The region servers of a cluster, by the names of their daemons."""

    def __init__(self, node: AnyCluster):
        self._node = node
        self.servers = [name for name in node.daemons if name.startswith("regionserver")]

    def plugin(self, server: str) -> PluginSocket:
        """A connection to a server's plug-in; OSError when it does not serve."""
        return PluginSocket(self._node.socket(server))

    def snapshot(self, server: str) -> dict[str, Any]:
        """The state of a server now."""
        with self.plugin(server) as plugin:
            return plugin.snapshot()

    def answers(self, server: str) -> bool:
        """Whether a server's plug-in does."""
        with contextlib.suppress(OSError):
            self.snapshot(server)
            return True
        return False

    def tasks(self, server: str, state: str = "") -> list[dict[str, Any]]:
        """Compactions of the table, all or those in a state."""
        tasks = tasks_in(self.snapshot(server), KIND, SCOPE)
        return [task for task in tasks if state in ("", task["state"])]

    def leases(self, server: str, owner: str = "") -> list[dict[str, Any]]:
        """Leases of a server, all or those of an owner."""
        leases = self.snapshot(server)["leases"]
        return [lease for lease in leases if owner in ("", lease["owner"])]

    def files_to_merge(self, server: str) -> int | None:
        """Files of the table beyond one for each region; None where it has no region."""
        for debt in self.snapshot(server)["debts"]:
            if (debt["kind"], debt["scope"]) == (KIND, SCOPE):
                return debt["files"]
        return None

    def hosting(self) -> list[str]:
        """Servers that have regions of the table."""
        return [name for name in self.servers if self.files_to_merge(name) is not None]

    def set(self, server: str, name: str, value: float | None = None) -> None:
        """Order something of the table's compactions."""
        with self.plugin(server) as plugin:
            seconds = min(LEASE_SECONDS, plugin.describe()["max_time_to_live_seconds"])
            plugin.set(KIND, SCOPE, name, value, owner=OWNER, seconds=seconds)

    def flush(self, server: str) -> bool:
        """Order that what is in memory of the table is written; False when there is nothing.

        The master's own order is lost for ever when it fails at first, as it does while a region
        flushes by itself, and then succeeds (upstream's FlushRegionProcedure.complete).
        """
        return self._taken(server, "flush")

    def start(self, server: str) -> bool:
        """Start a compaction of every region of the table; False when there is nothing to do."""
        return self._taken(server, KIND)

    def start_when_possible(self, server: str) -> None:
        """The same, as soon as there is a file that is not being compacted."""
        what = f"something to compact on {server}"
        self._wait_until(lambda: self.start(server), what)

    def _taken(self, server: str, kind: str) -> bool:
        try:
            with self.plugin(server) as plugin:
                plugin.start(kind, SCOPE, owner=OWNER)
        except RpcError as error:
            if error.code != REFUSED:
                raise
            return False
        return True

    def clear(self, server: str) -> None:
        """End what was ordered here."""
        with self.plugin(server) as plugin:
            plugin.clear(OWNER)

    def wait_for_task(
        self, server: str, state: str, holds: Callable[[dict[str, Any]], bool] = bool
    ) -> dict[str, Any]:
        """Wait for a compaction in a state, of which a condition holds; returns it."""
        found: list[dict[str, Any]] = []

        def there() -> bool:
            found[:] = [task for task in self.tasks(server, state) if holds(task)]
            return bool(found)

        self._wait_until(there, f"a compaction that is {state}")
        return found[0]

    def wait_for_end(self, server: str, task: dict[str, Any]) -> None:
        """Wait until a compaction is over."""
        self._wait_until(
            lambda: task["id"] not in {each["id"] for each in self.tasks(server)},
            f"the end of {task['id']}",
        )

    def wait_for_expiry(self, server: str, owner: str) -> None:
        """Wait until an owner's leases are gone; AssertionError when they go on being renewed."""
        left: list[float] = []

        def gone() -> bool:
            times = [lease["time_left_seconds"] for lease in self.leases(server, owner)]
            if not times:
                return True
            left.append(max(times))
            assert not was_renewed(left), f"{owner} has renewed: {left[-2]} s, then {left[-1]} s"
            return False

        self._wait_until(gone, f"the end of the leases of {owner}")

    def wait_for_lease(self, server: str, owner: str) -> None:
        """Wait until an owner has one."""
        what = f"a lease of {owner} on {server}"
        self._wait_until(lambda: self.leases(server, owner), what)

    def wait_for_host(self) -> str:
        """Wait until a region server has regions of the table; returns it."""
        self._wait_until(self.hosting, "a region server with regions of the table")
        return self.hosting()[0]

    @staticmethod
    def _wait_until(condition: Callable[[], object], what: str) -> None:
        wait_until(condition, what, LOOK_INTERVAL_SECONDS, timeout_seconds=WAIT_SECONDS)


def region_of(task: dict[str, Any]) -> str:
    """The encoded name of a compaction's region: the first part of the name of the compaction."""
    return task["id"].split("#")[0]


def was_renewed(seconds_left: list[float]) -> bool:
    """Whether looks at a lease have found more time left than before more often than may be.

    What was on its way when its sender died may still come, at any time on a busy machine. One that
    is alive goes on for ever.
    """
    renewals = sum(later > earlier for earlier, later in itertools.pairwise(seconds_left))
    return renewals > ORDERS_ON_THEIR_WAY
