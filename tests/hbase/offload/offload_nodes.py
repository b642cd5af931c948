"""The agents of a node with region servers and of one that does their compactions, and workers."""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agents import STORE_NODE, WORKER_NODE, Agent, Authority, free_address, wait_for
from network_relay import Relay
from one_node import OneNode

WORKER_CLASS = "dev.sluice.hbase.offload.CompactionWorker"
PEER_IS_UP = f'sluice_compaction_peer_up{{peer="{WORKER_NODE}"}}'
WORKER_JOBS = "sluice_compaction_worker_jobs_total"
SERIES = "2.6"
# Of threads, by the kernel's names of them, which end here.
WRITING_THREAD = "DataStreamer fo"


class Worker:
    """A process of `sluice-hbase-compact`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def stop(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def is_gone(self) -> bool:
        return not self._of_threads("stat")

    def is_writing(self) -> bool:
        """Whether it has a file of its output open, of which a block has been begun."""
        return any(name.startswith(WRITING_THREAD) for name in self._of_threads("comm"))

    def _of_threads(self, file: str) -> list[str]:
        """What the kernel says of its threads; nothing of those that have ended."""
        found = []
        for thread in Path(f"/proc/{self.pid}/task").glob(f"*/{file}"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                text = thread.read_text()
                if file != "stat" or text.rpartition(")")[2].split()[0] != "Z":
                    found.append(text)
        return found


@dataclass
class OffloadNodes:
    """Both agents, and what is between them."""

    server: Agent
    peer: Agent
    network: Relay
    state: Path
    folder: Path

    def workers(self) -> list[Worker]:
        """Those that the peer's agent has started and still has."""
        found = []
        for note in self.state.glob("compactions/*.json"):
            with contextlib.suppress(FileNotFoundError):
                pid = json.loads(note.read_text())["worker"]["pid"]
                found += [Worker(pid)] if pid else []
        return found

    def processes(self) -> list[int]:
        """All processes of workers of this test, whoever knows of them."""
        wanted = (WORKER_CLASS.encode(), str(self.folder).encode())
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                line = (process / "cmdline").read_bytes()
                found += [int(process.name)] if all(word in line for word in wanted) else []
        return found

    def left(self) -> list[Path]:
        """What the peer's agent has on its own disk for jobs: notes, and workers' folders."""
        return [
            path
            for name in ("compactions", "compaction-scratch")
            for path in self.state.glob(f"{name}/*")
        ]

    def hears_peer(self) -> bool:
        return self.server.metrics().get(PEER_IS_UP) == 1

    def wait_for_peer(self) -> None:
        wait_for("the peer", self.hears_peer)

    def peers_jobs(self) -> float:
        """How many jobs the peer has ended since its agent was started."""
        told = self.peer.metrics().items()
        return sum(count for name, count in told if name.startswith(WORKER_JOBS))


def socket_of(sockets: Path) -> Path:
    """Where region servers offer their compactions."""
    return sockets / "c.sock"


def _program_of_workers(node: OneNode) -> Path:
    """One that finds this cluster, as whose user its daemons run."""
    program = node.folder / "worker"
    program.write_text(
        "#!/bin/sh\n"
        f"export HBASE_CONF_DIR='{node.configuration}'\n"
        f"export HADOOP_CONF_DIR='{node.hdfs_configuration}'\n"
        f"export HADOOP_USER_NAME='{getpass.getuser()}'\n"
        f"exec '{node.prefixes['hbase']}/plugins/sluice-hbase-compact'\n"
    )
    program.chmod(0o755)
    return program


@contextlib.contextmanager
def offload_nodes(program: Path, node: OneNode, sockets: Path) -> Iterator[OffloadNodes]:
    """Start both agents for a cluster. Paths of sockets must be short."""
    folder = node.folder / "agents"
    folder.mkdir()
    authority = Authority(folder / "tls")
    peer_at = free_address()
    network = Relay(peer_at)
    client = {
        "socket": str(socket_of(sockets)),
        "peers": [{"node": WORKER_NODE, "address": network.address}],
        # Both nodes are this machine, whose load is the same for both.
        "threshold_share": -1,
        "minimum_input_bytes": 0,
    }
    root = f"hdfs://127.0.0.1:{node.ports['namenode']}/hbase"
    worker = {
        "programs": [{"hbase_series": SERIES, "path": str(_program_of_workers(node))}],
        "hbase_roots": [root],
        "state_directory": str(folder / "state"),
        "free_bytes": 0,
        "nice": 0,
    }

    def start(name: str, listen: str, part: dict[str, object]) -> Agent:
        own = folder / name
        own.mkdir()
        configuration = {
            "cluster": "test",
            "node": name,
            "listen": listen,
            "metrics_listen": free_address(),
            "tls": authority.issue(name),
            "socket_directory": str(own),
            "compaction": part,
        }
        return Agent(program, own, configuration)

    nodes = OffloadNodes(
        start(STORE_NODE, free_address(), {"client": client}),
        start(WORKER_NODE, peer_at, {"worker": worker}),
        network,
        folder / "state",
        node.folder,
    )
    try:
        nodes.wait_for_peer()
        yield nodes
    finally:
        nodes.server.kill()
        nodes.peer.kill()
