"""A node whose store has compactions, and one that does them, each on a processor of its own."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sluice_evaluation.bench.pinning import processors

# Agents are started here as tests start them.
sys.path.append(str(Path(__file__).parents[3] / "tests/rocksdb"))

from agents import (
    STORE_NODE,
    WORKER_NODE,
    Agent,
    Authority,
    build_program,
    free_address,
    wait_for,
)

PEER_IS_UP = f'sluice_compaction_peer_up{{peer="{WORKER_NODE}"}}'


@dataclass(frozen=True)
class CompactingNodes:
    """The agents of both, and the folder with the sockets of the store's node."""

    store: Agent
    worker: Agent
    sockets: Path

    @property
    def compactions(self) -> Path:
        """The socket on which the store's agent takes compactions."""
        return self.sockets / "compaction.sock"


def pin(pid: int, processor: int) -> None:
    """Keep a process that runs on one processor, with all its threads and what they start."""
    command = ["taskset", "--all-tasks", "--cpu-list", "--pid", str(processor), str(pid)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def compacting_nodes(prefix: Path, version: str, data: Path) -> Iterator[CompactingNodes]:
    """Both nodes, which know of each other, with databases below a folder.

    Every compaction that the store offers is done by the other node, with the worker of a staged
    tree of this version.
    """
    program, authority = build_program(data), Authority(data / "tls")
    listen = {STORE_NODE: free_address(), WORKER_NODE: free_address()}
    with contextlib.ExitStack() as stack:
        # The path of a socket is short.
        sockets = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sluice-")))

        def start(node: str, part: dict[str, object], processor: int) -> Agent:
            folder = data / node
            folder.mkdir()
            agent = Agent(
                program,
                folder,
                {
                    "cluster": "test",
                    "node": node,
                    "listen": listen[node],
                    "metrics_listen": free_address(),
                    "tls": authority.issue(node),
                    "socket_directory": str(sockets if node == STORE_NODE else folder),
                    "compaction": part,
                },
            )
            stack.callback(agent.kill)
            pin(agent.pid, processor)
            return agent

        peer = {"node": WORKER_NODE, "address": listen[WORKER_NODE]}
        client = {
            "socket": f"{sockets}/compaction.sock",
            "peers": [peer],
            # Both nodes are this machine, whose load is the same for both.
            "threshold_share": -1,
            "minimum_input_bytes": 0,
        }
        series = version.rpartition(".")[0]
        worker = {
            "programs": [{"rocksdb_series": series, "path": str(prefix / "bin/sluice-compact")}],
            "paths": [str(data)],
            "state_directory": str(data / "state"),
            "free_bytes": 0,
        }
        nodes = CompactingNodes(
            start(STORE_NODE, {"client": client}, processors()[0]),
            start(WORKER_NODE, {"worker": worker}, processors()[1]),
            sockets,
        )
        wait_for("the peer", lambda: nodes.store.metrics().get(PEER_IS_UP) == 1)
        yield nodes
        nodes.store.end()
        nodes.worker.end()
