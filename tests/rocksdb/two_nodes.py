"""A node with a store, and one that compacts for it, on this machine."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agents import STORE_NODE, WORKER_NODE, Agent, Authority, free_address, wait_for
from network_relay import Relay
from rocksdb_stage import Staged

PEER_IS_UP = f'sluice_compaction_peer_up{{peer="{WORKER_NODE}"}}'


@dataclass(frozen=True)
class RunningJob:
    """What the worker's agent has noted of a job."""

    output: Path
    worker: int


@dataclass
class Nodes:
    """Both nodes' agents, what is between them, and what they share."""

    store: Agent
    worker: Agent
    network: Relay
    sockets: Path
    database: Path
    state: Path
    compact: Path

    def jobs(self) -> list[RunningJob]:
        """Give the jobs whose worker has been started."""
        return [
            RunningJob(Path(entry["output_path"]), entry["worker"]["pid"])
            for path in self.state.glob("compactions/*.json")
            if (entry := _read_entry(path)) and entry["worker"]["pid"]
        ]

    def workers(self) -> list[int]:
        """Give all processes of `sluice-compact`, whoever knows of them."""
        return [
            int(process.name)
            for process in Path("/proc").glob("[0-9]*")
            if _program(process) == self.compact
        ]

    def left(self) -> list[Path]:
        """Give what jobs may have left: directories, and notes to remove them."""
        return [*self.database.glob(".sluice-compaction-*"), *self.noted()]

    def noted(self) -> list[Path]:
        return list(self.state.glob("compactions/*"))

    def hears_peer(self) -> bool:
        return self.store.metrics().get(PEER_IS_UP) == 1

    def wait_for_peer(self) -> None:
        wait_for("the peer", self.hears_peer)

    def service_options(self) -> str:
        """Give the options with which a database has its compactions done by the other node."""
        service = {
            "id": "sluice",
            "socket_directory": self.sockets,
            "agent_socket": self.sockets / "compaction.sock",
            "minimum_input_bytes": 1,
        }
        settings = ";".join(f"{name}={value}" for name, value in service.items())
        return f"compaction_service={{{settings}}}"


def _read_entry(path: Path) -> dict | None:
    """Give a note of the worker's agent; nothing if it is gone."""
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return None


def _program(process: Path) -> Path | None:
    """Give what a process of /proc runs; nothing if it has ended."""
    try:
        return (process / "exe").readlink()
    except OSError:
        return None


@contextmanager
def two_nodes(
    program: Path, patched: Staged, folder: Path, sockets: Path, database: Path, **limits: object
) -> Iterator[Nodes]:
    """Start both agents; LIMITS are keys of the worker's part. Paths of sockets must be short."""
    authority = Authority(folder / "tls")
    compact, state = (patched.prefix / "bin/sluice-compact").resolve(), folder / "state"
    worker_at = free_address()
    network = Relay(worker_at)
    client = {
        "socket": f"{sockets}/compaction.sock",
        "peers": [{"node": WORKER_NODE, "address": network.address}],
        # Both nodes are this machine, whose load is the same for both.
        "threshold_share": -1,
        "minimum_input_bytes": 0,
    }
    worker = {
        "programs": [{"rocksdb_series": patched.version.rpartition(".")[0], "path": str(compact)}],
        "paths": [str(database.parent)],
        "state_directory": str(state),
        "free_bytes": 0,
        # For all that the store compacts at a time.
        "slots": 16,
        "memory_bytes": 16 << 30,
        **limits,
    }

    def start(node: str, listen: str, part: dict[str, object]) -> Agent:
        own = folder / node
        own.mkdir()
        configuration = {
            "cluster": "test",
            "node": node,
            "listen": listen,
            "metrics_listen": free_address(),
            "tls": authority.issue(node),
            "socket_directory": str(sockets if node == STORE_NODE else own),
            "compaction": part,
        }
        return Agent(program, own, configuration)

    nodes = Nodes(
        start(STORE_NODE, free_address(), {"client": client}),
        start(WORKER_NODE, worker_at, {"worker": worker}),
        network,
        sockets,
        database,
        state,
        compact,
    )
    try:
        nodes.wait_for_peer()
        yield nodes
        nodes.store.end()
        nodes.worker.end()
    finally:
        nodes.store.kill()
        nodes.worker.kill()
