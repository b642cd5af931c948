"""A client of the plug-in's socket: the local protocol, a line at a time."""

import json
import socket
from pathlib import Path
from typing import Any

# The longest time to live that the plug-in grants by default.
LONGEST_SECONDS = 600


class Refused(Exception):
    """An order was refused."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code = error["code"]


class PluginClient:
    """Gives orders on one connection, as OWNER, and reads snapshots."""

    def __init__(self, path: Path, owner: str = "test") -> None:
        self.owner = owner
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(str(path))
        self._lines = self._connection.makefile("rb")
        self._id = 0

    def close(self) -> None:
        self._lines.close()
        self._connection.close()

    def __enter__(self) -> "PluginClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of METHOD; raises Refused."""
        self._id += 1
        request = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self._connection.sendall(json.dumps(request).encode() + b"\n")
        answer = json.loads(self._lines.readline())
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    def set(
        self, kind: str, setting: dict[str, Any], seconds: float = LONGEST_SECONDS, scope: str = ""
    ) -> None:
        """Give a lease of that time to live, or renew it."""
        order = {"kind": kind, "scope": scope, "setting": setting}
        self.call("set", **order, owner=self.owner, time_to_live_seconds=seconds)

    def clear(self) -> None:
        self.call("clear", owner=self.owner)

    def start(self, variant: str, scope: str) -> None:
        """Start compactions without a lease."""
        order = {"kind": "compaction", "scope": scope, "variant": variant}
        self.call("start", **order, owner=self.owner, time_to_live_seconds=1)

    def snapshot(self) -> dict[str, Any]:
        return self.call("snapshot")

    def tasks(self, scope: str) -> list[dict[str, Any]]:
        """The compactions of a table that have not ended."""
        return [task for task in self.snapshot()["tasks"] if task["scope"] == scope]

    def debt(self, scope: str) -> dict[str, Any]:
        return next(debt for debt in self.snapshot()["debts"] if debt["scope"] == scope)

    def latencies(self, scope: str, request_class: str) -> list[dict[str, Any]]:
        """The last intervals of a table's requests."""
        return [
            each
            for each in self.snapshot().get("scope_latencies", [])
            if (each["scope"], each["class"]) == (scope, request_class)
        ]

    def figure(self, name: str) -> float:
        return self.snapshot()["figures"][name]
