"""What the faults need of a cluster and of its parts, whoever runs them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol


class AnyDaemon(Protocol):
    """One that is there until it is ended, and comes back when it is started, not before."""

    name: str

    @property
    def running(self) -> bool:
        """Whether it does, or is about to."""

    def start(self) -> None:
        """Start it; it is not waited for."""

    def stop(self, timeout_seconds: float = 60) -> None:
        """End it as an operator does; TimeoutError when it had to be killed."""

    def kill(self) -> None:
        """End it at once."""


class AnyCluster(Protocol):
    """ZooKeeper, HDFS and HBase with the plug-in."""

    # Of this machine: what is written down here, and what HBase's clients read.
    folder: Path
    configuration: Path
    client_java_options: Sequence[str]
    # By kind, as in namenode2 or regionserver-hb1.
    daemons: Mapping[str, AnyDaemon]

    def ended(self) -> Sequence[AnyDaemon]:
        """Daemons that do not run."""

    def socket(self, daemon: str) -> Path:
        """The socket of a region server's plug-in."""

    def datanodes(self) -> Mapping[str, str]:
        """Names of the DataNodes by the addresses that HDFS knows them by."""

    def hbase(self, *arguments: str, input: str | None = None) -> str:
        """What a command of HBase prints."""

    def hdfs(self, *arguments: str, check: bool = True) -> str:
        """What a command of HDFS prints."""

    def jmx(self, daemon: str, query: str) -> dict[str, Any]:
        """A bean of a daemon; OSError or LookupError when there is none."""

    def lines_with(self, words: Iterable[str]) -> list[str]:
        """Lines of all logs that have one of some words."""

    def log_ends(self, lines: int = 40) -> str:
        """The last lines of every daemon's log."""


class AnyControlPlane(Protocol):
    """Agents and a controller whose policy holds all compactions, as long as the context lasts."""

    controller: AnyDaemon

    def __enter__(self) -> AnyControlPlane: ...

    def __exit__(self, *error: object) -> None: ...

    def start(self) -> None:
        """Start what does not run."""

    def kill(self) -> None:
        """End all of it at once."""

    def agent_of(self, server: str) -> AnyDaemon:
        """The agent that gives a region server its orders."""
