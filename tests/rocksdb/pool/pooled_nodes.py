"""A pool of four nodes, three of which keep its metadata, and a node whose stores are in it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from agents import Agent, Authority, free_address, wait_for
from database_program import plugin_options
from network_relay import Relay
from small_file_system import SmallFileSystem, small_file_system

VOLUME = "orders"
STORE_NODE = "db-1"
SERVERS = ("pool1", "pool2", "pool3", "pool4")
VOTERS = SERVERS[:3]
LEADS = "sluice_pool_metadata_is_leader"
# More than an election takes; so long a store waits whose agent was killed.
LEASE_SECONDS = 6
DISK_BYTES = 1 << 30


@dataclass
class PooledNodes:
    """Their agents, what is before those with blocks, and the disk of the last one."""

    program: Path
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

    def leader(self) -> str | None:
        """Give which voter says that it leads."""
        return next((name for name in VOTERS if self.servers[name].metrics().get(LEADS) == 1), None)

    def options(self, **further: object) -> str:
        """Give the options of a database that is in the pool."""
        return plugin_options(
            socket_directory=self.sockets,
            remote="false",
            pool_volume=VOLUME,
            pool_socket=self.socket,
            **further,
        )

    def start_store_agent(self) -> None:
        self.store.start()
        wait_for("the pool's socket", self.socket.is_socket)


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


@contextmanager
def pooled_nodes(program: Path, folder: Path, sockets: Path) -> Iterator[PooledNodes]:
    """Start all of them, with an empty volume. Paths of sockets must be short."""
    authority = Authority(folder / "tls")
    voters = [{"node": name, "address": free_address()} for name in VOTERS]
    servers: dict[str, Agent] = {}
    networks: dict[str, Relay] = {}
    with ExitStack() as ends:
        disk = ends.enter_context(small_file_system(folder / "disk", DISK_BYTES))
        for name in SERVERS:
            own = folder / name
            own.mkdir()
            at = free_address()
            blocks = disk.mount_point / "blocks" if name == SERVERS[-1] else own / "blocks"
            configuration = _identity(name, authority, at, own)
            configuration["pool"] = _server(name, own, blocks, voters)
            servers[name] = Agent(program, own, configuration)
            ends.callback(servers[name].kill)
            networks[name] = Relay(at)
        client = {
            "voters": [_peer(name, networks[name]) for name in VOTERS],
            "servers": [_peer(name, networks[name]) for name in SERVERS],
            "socket": str(sockets / "pool.sock"),
            "lease_seconds": LEASE_SECONDS,
        }
        configuration = _identity(STORE_NODE, authority, free_address(), sockets)
        configuration["pool"] = {"client": client}
        store = Agent(program, folder, configuration)
        ends.callback(store.kill)
        nodes = PooledNodes(program, folder, sockets, servers, networks, disk, store)
        wait_for("a leader of the metadata", lambda: nodes.leader() is not None)
        wait_for("the pool's socket", nodes.socket.is_socket)
        nodes.command("create-volume", VOLUME)
        yield nodes
        for agent in (store, *servers.values()):
            agent.end()


def _peer(name: str, network: Relay) -> dict[str, str]:
    return {"node": name, "address": network.address}
