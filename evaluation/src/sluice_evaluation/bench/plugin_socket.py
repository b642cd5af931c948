"""Speaks the local protocol (docs/local-protocol.md) to the plug-in of a store."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

MAXIMUM_LINE_BYTES = 1 << 20
ANSWER_TIMEOUT_SECONDS = 30
OWNER = "bench"
PROTOCOL_VERSION = {"major": 1, "minor": 0}
# The store's limits forbid it now, or there is nothing to start.
REFUSED = -32003


class RpcError(Exception):
    """What the plug-in has refused, and why."""

    def __init__(self, method: str, error: dict[str, Any]):
        super().__init__(f"{method}: {error.get('message')} ({error.get('code')})")
        self.code: int = error.get("code", 0)
        self.data: dict[str, Any] = error.get("data", {})


def request_line(number: int, method: str, params: dict[str, Any]) -> bytes:
    """A request as it goes over the socket."""
    request: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": method}
    if params:
        request["params"] = params
    return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def result_of(line: bytes, number: int, method: str) -> Any:
    """What a line answers to a request; RpcError, or ValueError when it is none to that request."""
    response = json.loads(line)
    if response.get("jsonrpc") != "2.0":
        raise ValueError(f"{method}: not an answer of JSON-RPC 2.0: {line!r}")
    if "error" in response:
        raise RpcError(method, response["error"])
    if response.get("id") != number or "result" not in response:
        raise ValueError(f"{method}: not the answer to request {number}: {line!r}")
    return response["result"]


def setting(name: str, value: float | str | None = None) -> dict[str, Any]:
    """A setting of an order."""
    if value is None:
        return {"name": name}
    return {"name": name, "text" if isinstance(value, str) else "number": value}


class PluginSocket:
    """A connection, for one thread; it closes with its context."""

    def __init__(self, path: Path):
        self._number = 0
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(ANSWER_TIMEOUT_SECONDS)
        try:
            self._socket.connect(str(path))
        except OSError:
            self._socket.close()
            raise
        self._answers = self._socket.makefile("rb")

    def __enter__(self) -> PluginSocket:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; leases stay."""
        self._answers.close()
        self._socket.close()

    def call(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """The result of a request; RpcError when it is refused."""
        self._number += 1
        self._socket.sendall(request_line(self._number, method, params or {}))
        line = self._answers.readline(MAXIMUM_LINE_BYTES + 1)
        if not line.endswith(b"\n"):
            raise ConnectionError(f"{method}: the plug-in closed the connection after {line!r}")
        return result_of(line, self._number, method)

    def describe(self) -> dict[str, Any]:
        """What the plug-in is, and what it can do."""
        return self.call("describe", {"protocol_version": PROTOCOL_VERSION})

    def snapshot(self) -> dict[str, Any]:
        """The state now."""
        return self.call("snapshot")

    def tasks(self, kind: str = "compaction", scope: str = "") -> list[dict[str, Any]]:
        """Tasks of a kind in a scope."""
        return tasks_in(self.snapshot(), kind, scope)

    def set(
        self,
        kind: str,
        scope: str,
        name: str,
        value: float | str | None = None,
        *,
        owner: str = OWNER,
        seconds: float = 300,
        replace: bool = False,
    ) -> dict[str, Any]:
        """Give, renew or replace a lease; returns it."""
        order = {
            "kind": kind,
            "scope": scope,
            "setting": setting(name, value),
            "owner": owner,
            "time_to_live_seconds": seconds,
            "replace": replace,
        }
        return self.call("set", order)["lease"]

    def clear(self, owner: str = OWNER, kind: str | None = None, scope: str | None = None) -> int:
        """End an owner's leases, all or those of a kind and scope; returns how many."""
        params = {"owner": owner}
        if kind is not None:
            params |= {"kind": kind, "scope": scope or ""}
        return self.call("clear", params)["cleared"]

    def start(self, kind: str, scope: str = "", *, owner: str = OWNER, seconds: float = 60) -> None:
        """Start a task, without a lease."""
        params = {"kind": kind, "scope": scope, "owner": owner, "time_to_live_seconds": seconds}
        self.call("start", params)


def tasks_in(snapshot: dict[str, Any], kind: str, scope: str) -> list[dict[str, Any]]:
    """Tasks of a kind whose scope is this one, or within it."""
    return [
        task
        for task in snapshot["tasks"]
        if task["kind"] == kind and contains(scope, task["scope"])
    ]


def contains(outer: str, inner: str) -> bool:
    """Whether a scope is another one or holds it: a store its tables, a table its families."""
    return outer in ("", inner) or inner.startswith(f"{outer}/")
