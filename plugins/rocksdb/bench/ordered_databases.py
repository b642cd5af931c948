"""Databases that are compacted whole by order of a measurement, and the pace it orders for them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from sluice_evaluation.bench.plugin_socket import PluginSocket
from sluice_evaluation.bench.traces import Trace
from sluice_evaluation.bench.waiting import wait_until
from table_sizes import TableSizes

KIND = "compaction"
LOOK_SECONDS = 0.001


class OrderedDatabases:
    """The compactions of some databases; started again when they have ended.

    Orders go through the plug-in, and so does the question what is left to do. What has been
    written is seen by the sizes of tables alone.
    """

    def __init__(self, plugin: PluginSocket, scope: str, folders: Sequence[Path]):
        """Take all databases of a scope; the plug-in has each under its folder's name."""
        self._plugin = plugin
        self._scope = scope
        self._names = [folder.name for folder in folders]
        self._tables = [TableSizes(folder) for folder in folders]

    def tasks(self) -> list[dict]:
        """Their compactions that run or are held."""
        return [task for name in self._names for task in self._plugin.tasks(KIND, name)]

    def set(self, setting: str, value: float | None = None) -> None:
        """Order a pace for all of them together."""
        self._plugin.set(KIND, self._scope, setting, value)

    def clear(self) -> None:
        """End the order, so that they go on at the pace of the store."""
        self._plugin.clear(kind=KIND, scope=self._scope)

    def are_held(self) -> bool:
        """Whether each of them has stopped for a hold."""
        return [task["state"] for task in self.tasks()] == ["held"] * len(self._names)

    def start(self) -> None:
        """Order a compaction of each, and wait for none."""
        for name in self._names:
            self._plugin.start(KIND, name)

    def finish(self) -> None:
        """Let those that run end at the pace of the store."""
        self.clear()
        wait_until(lambda: not self.tasks(), f"the end of the compactions of '{self._scope}'")

    def go_on(self, wanted_bytes: float) -> None:
        """Have each run with so much to do: while one has less, let them end and start anew."""
        while self._least_left_bytes() < wanted_bytes:
            self.finish()
            self.start()
            wait_until(self._least_left_bytes, f"compactions of '{self._scope}'", LOOK_SECONDS)

    def _least_left_bytes(self) -> int:
        """What each of them has still to do at least; 0 while not all have begun."""
        tasks = self.tasks()
        if len(tasks) < len(self._names) or any(task["bytes_done"] == 0 for task in tasks):
            return 0
        return min(task["bytes_total"] - task["bytes_done"] for task in tasks)

    def done_bytes(self) -> int:
        """What the plug-in says that the compactions have done which run."""
        return sum(task["bytes_done"] for task in self.tasks())

    def written_bytes(self) -> int:
        """What all of their compactions have written since the measurement began."""
        return sum(tables.written_bytes() for tables in self._tables)

    def watch(self, trace: Trace, seconds: float) -> None:
        """Look a thousand times a second for so long; times are those of the monotonic clock."""
        end = time.monotonic() + seconds
        while (now := time.monotonic()) < end:
            trace.add(now, self.written_bytes())
            time.sleep(LOOK_SECONDS)

    def watch_order(
        self, order: Callable[[], None], before_seconds: float, after_seconds: float
    ) -> Trace:
        """Looks before and after an order, which is given at 0."""
        trace = Trace()
        self.watch(trace, before_seconds)
        given = time.monotonic()
        order()
        self.watch(trace, after_seconds)
        return trace.since(given)
