"""A pool of four nodes, three of which keep its metadata, and a node whose stores are in it.

One of the four compacts for it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from agents import Agent, Authority, free_address, wait_for
from database_program import plugin_options
from network_relay import Relay
from rocksdb_stage import Staged
from small_file_system import SmallFileSystem, small_file_system

VOLUME = "orders"
STORE_NODE = "db-1"
SERVERS = ("pool1", "pool2", "pool3", "pool4")
VOTERS = SERVERS[:3]
WORKER = SERVERS[3]
LEADS = "sluice_pool_metadata_is_leader"
# More than an election takes; so long a store waits whose agent was killed.
LEASE_SECONDS = 6
DISK_BYTES = 1 << 30
JOBS = "sluice_compaction_client_jobs_total"


@dataclass
class PooledNodes:
    """Their agents, what is before those with blocks, and the disk of the last one."""

    program: Path
    compact: Path
    folder: Path
    sockets: Path
    servers: dict[str, Agent]
    networks: dict[str, Relay]
    disk: SmallFileSystem
    store: Agent

    @property
    def socket(self) -> Path:
        return self.sockets / "pool.sock"

    def command(self, *arguments: str) -> str:
        """Give what `sluice pool` prints."""
        asked = [str(self.program), "pool", *arguments, "--config", str(self.folder / "agent.yml")]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def is_whole(self) -> bool:
        """Say whether every copy of every file is where it should be."""
        status = json.loads(self.command("status", "-o", "json"))
        lacking = ("segments_to_repair", "segments_waiting", "unreadable_slots")
        return not any(status[name] for name in lacking)

    def jobs(self, result: str) -> float:
        """Give how many compactions have come to a result since the store's agent was started."""
        return self.store.metrics().get(f'{JOBS}{{result="{result}"}}', 0)

    def workers(self) -> list[int]:
        """Give the processes that compact for other nodes."""
        return [
            int(process.name)
            for process in Path("/proc").glob("[0-9]*")
            if _program(process) == self.compact
        ]

    def signal_workers(self, which: signal.Signals) -> bool:
        """Send it to all of them; say whether there was one that took it."""
        took = False
        for worker in self.workers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, which)
                took = True
        return took

    def has_output(self, database: Path) -> bool:
        """Say whether a job has left a directory beside the tables."""
        return ".sluice-compaction-" in self.command("list", VOLUME, str(database))

    def leader(self) -> str | None:
        """Give which voter says that it leads."""
        return next((name for name in VOTERS if self.servers[name].metrics().get(LEADS) == 1), None)

    def options(self, **further: object) -> str:
        """Give the options of a database that is in the pool."""
        return plugin_options(
            socket_directory=self.sockets,
            agent_socket=self.sockets / "compaction.sock",
            minimum_input_bytes=1,
            pool_volume=VOLUME,
            pool_socket=self.socket,
            **further,
        )

    def start_store_agent(self) -> None:
        self.store.start()
        wait_for("the pool's socket", self.socket.is_socket)


def _program(process: Path) -> Path | None:
    """Give what a process of /proc runs; nothing if it has ended."""
    try:
        return (process / "exe").readlink()
    except OSError:
        return None


def _identity(node: str, authority: Authority, listen: str, sockets: Path) -> dict[str, object]:
    return {
        "cluster": "test",
        "node": node,
        "listen": listen,
        "metrics_listen": free_address(),
        "tls": authority.issue(node),
        "socket_directory": str(sockets),
    }


def _server(
    name: str, folder: Path, blocks: Path, voters: list[dict[str, str]]
) -> dict[str, object]:
    pool: dict[str, object] = {"server": {"directory": str(blocks), "free_bytes": 1 << 20}}
    for voter in voters:
        if voter["node"] == name:
            pool["metadata"] = {
                "listen": voter["address"],
                "state_directory": str(folder / "metadata"),
                "bootstrap": True,
                "voters": voters,
            }
    return pool


def _client(socket: Path, networks: dict[str, Relay]) -> dict[str, object]:
    return {
        "voters": [_peer(name, networks[name]) for name in VOTERS],
        "servers": [_peer(name, networks[name]) for name in SERVERS],
        "socket": str(socket),
        "lease_seconds": LEASE_SECONDS,
    }


def _worker(staged: Staged, state: Path) -> dict[str, object]:
    compact = str(staged.prefix / "bin/sluice-compact")
    return {
        "programs": [{"rocksdb_series": staged.version.rpartition(".")[0], "path": compact}],
        "pool_volumes": [VOLUME],
        "state_directory": str(state),
        "free_bytes": 0,
        # For all that the store compacts at a time.
        "slots": 16,
        "memory_bytes": 16 << 30,
    }


@contextmanager
def pooled_nodes(
    program: Path, staged: Staged, folder: Path, sockets: Path
) -> Iterator[PooledNodes]:
    """Start all of them, with an empty volume. Paths of sockets must be short."""
    authority = Authority(folder / "tls")
    voters = [{"node": name, "address": free_address()} for name in VOTERS]
    listens = {name: free_address() for name in SERVERS}
    networks = {name: Relay(listens[name]) for name in SERVERS}
    servers: dict[str, Agent] = {}
    with ExitStack() as ends:
        disk = ends.enter_context(small_file_system(folder / "disk", DISK_BYTES))
        for name in SERVERS:
            own = folder / name
            own.mkdir()
            blocks = disk.mount_point / "blocks" if name == SERVERS[-1] else own / "blocks"
            configuration = _identity(name, authority, listens[name], own)
            pool = _server(name, own, blocks, voters)
            if name == WORKER:
                pool["client"] = _client(sockets / f"{name}.sock", networks)
                configuration["compaction"] = {"worker": _worker(staged, own / "state")}
            configuration["pool"] = pool
            servers[name] = Agent(program, own, configuration)
            ends.callback(servers[name].kill)
        configuration = _identity(STORE_NODE, authority, free_address(), sockets)
        configuration["pool"] = {"client": _client(sockets / "pool.sock", networks)}
        configuration["compaction"] = {
            "client": {
                "socket": str(sockets / "compaction.sock"),
                "peers": [_peer(WORKER, networks[WORKER])],
                # Both nodes are this machine, whose load is the same for both.
                "threshold_share": -1,
                "minimum_input_bytes": 0,
            }
        }
        store = Agent(program, folder, configuration)
        ends.callback(store.kill)
        compact = (staged.prefix / "bin/sluice-compact").resolve()
        nodes = PooledNodes(program, compact, folder, sockets, servers, networks, disk, store)
        wait_for("a leader of the metadata", lambda: nodes.leader() is not None)
        wait_for("the pool's socket", nodes.socket.is_socket)
        nodes.command("create-volume", VOLUME)
        yield nodes
        for agent in (store, *servers.values()):
            agent.end()


def _peer(name: str, network: Relay) -> dict[str, str]:
    return {"node": name, "address": network.address}
