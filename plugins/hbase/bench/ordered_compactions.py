"""Compactions of a scope that run by order of a measurement, at the rate that it gives."""

from __future__ import annotations

import time

from sluice_evaluation.bench.plugin_socket import REFUSED, PluginSocket, RpcError, tasks_in
from sluice_evaluation.bench.traces import Progress, Trace
from sluice_evaluation.bench.waiting import wait_until

KIND = "compaction"
RATE = "rate_bytes_per_second"


class OrderedCompactions:
    """The major compactions of all families of a scope; started again when they have ended."""

    def __init__(self, plugin: PluginSocket, scope: str, families: int):
        """Take a scope that has so many families with files, one region each."""
        self._plugin = plugin
        self._scope = scope
        self._families = families
        self.progress = Progress()

    def tasks(self) -> list[dict]:
        """Those that run or are held."""
        found = self._plugin.tasks(KIND, self._scope)
        return [task for task in found if task["state"] in ("running", "held")]

    def set_rate(self, bytes_per_second: float) -> None:
        """Order a rate for all of them together."""
        self._plugin.set(KIND, self._scope, RATE, bytes_per_second)

    def hold(self) -> None:
        """Order a hold, and wait until all are held."""
        self._plugin.set(KIND, self._scope, "hold")
        wait_until(self._all_held, f"{self._families} held compactions of '{self._scope}'", 0.001)

    def _all_held(self) -> bool:
        states = [task["state"] for task in self.tasks()]
        return states == ["held"] * self._families

    def start(self, bytes_per_second: float) -> None:
        """Start them at a rate, and wait until all run."""
        self.set_rate(bytes_per_second)
        wait_until(self._all_run, f"{self._families} compactions of '{self._scope}'")

    def _all_run(self) -> bool:
        tasks = self.tasks()
        if len(tasks) < self._families:
            self._ask()
        return len(tasks) == self._families and all(task["bytes_done"] > 0 for task in tasks)

    def _ask(self) -> None:
        """Start those that can be: one that has ended keeps its files until its output is in."""
        try:
            self._plugin.start(KIND, self._scope)
        except RpcError as error:
            if error.code != REFUSED:
                raise

    def finish(self) -> None:
        """Let them end at full speed."""
        self._plugin.set(KIND, self._scope, "full")
        wait_until(lambda: not self.tasks(), f"the end of the compactions of '{self._scope}'")

    def left_bytes(self) -> int:
        """What they have still to do."""
        return sum(task["bytes_total"] - task["bytes_done"] for task in self.tasks())

    def go_on(self, wanted_bytes: float, bytes_per_second: float) -> None:
        """Have so much to do: let those that have less end, and start anew."""
        if len(self.tasks()) == self._families and self.left_bytes() >= wanted_bytes:
            self.set_rate(bytes_per_second)
            return
        self.finish()
        self.start(bytes_per_second)

    def done_bytes(self) -> int:
        """What all of them have done since the measurement began."""
        return self.progress.look(tasks_in(self._plugin.snapshot(), KIND, self._scope))

    def watch(self, seconds: float, since: float) -> Trace:
        """Look without a pause until so long after a moment, from which its times count."""
        trace = Trace()
        while (now := time.monotonic() - since) < seconds:
            trace.add(now, self.done_bytes())
        return trace
