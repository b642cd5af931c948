"""A pool of three nodes, which keep its metadata too, and a node that has a part of it mounted."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agents import PATIENCE_SECONDS, Agent, Authority, free_address, wait_for

VOLUME = "orders"
CLIENT = "db-1"
SERVERS = ("pool1", "pool2", "pool3")
LEADS = "sluice_pool_metadata_is_leader"
# More than an election takes; so long a mount waits whose agent was killed.
LEASE_SECONDS = 6


@dataclass
class MountedPool:
    """The agents, and the process of the mount."""

    program: Path
    folder: Path
    servers: dict[str, Agent]
    client: Agent
    process: subprocess.Popen | None = field(default=None)

    @property
    def socket(self) -> Path:
        return self.folder / "pool.sock"

    @property
    def mount_point(self) -> Path:
        return self.folder / "mounted"

    @property
    def log(self) -> Path:
        """What the mounts have logged."""
        return self.folder / "mount.log"

    def command(self, *arguments: str) -> str:
        """Give what `sluice pool` prints."""
        asked = [str(self.program), "pool", *arguments, "--config", str(self.folder / "agent.yml")]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def mount(self) -> None:
        """Mount, and return when the mount can be used."""
        command = [self.program, "pool", "mount", VOLUME, self.mount_point]
        command += ["--socket", self.socket, "--wait", "60s"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        wait_for("the mount", self._is_mounted)

    def _is_mounted(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        try:
            return os.path.ismount(self.mount_point)
        except OSError:
            return False  # It is the one of a process that was killed.

    def unmount(self) -> None:
        """Have it end by itself."""
        self.process.terminate()
        assert self.process.wait(PATIENCE_SECONDS) == 0, self.log.read_text()

    def kill_mount(self) -> None:
        self.process.kill()
        self.process.wait()

    def start_client(self) -> None:
        self.client.start()
        wait_for("the pool's socket", self.socket.is_socket)

    def leader(self) -> str | None:
        """Give which server says that it leads the metadata."""
        return next(
            (name for name in SERVERS if self.servers[name].metrics().get(LEADS) == 1), None
        )

    def clean_up(self) -> None:
        """End the mount, whatever state it is in."""
        if self.process is not None:
            self.kill_mount()
        detach = ["umount", "--lazy", str(self.mount_point)]
        subprocess.run(detach, check=False, stderr=subprocess.DEVNULL)


def _identity(node: str, authority: Authority, listen: str, sockets: Path) -> dict[str, object]:
    return {
        "cluster": "test",
        "node": node,
        "listen": listen,
        "metrics_listen": free_address(),
        "tls": authority.issue(node),
        "socket_directory": str(sockets),
    }


def _peers(addresses: dict[str, str]) -> list[dict[str, str]]:
    return [{"node": name, "address": address} for name, address in addresses.items()]


@contextmanager
def mounted_pool(program: Path, folder: Path) -> Iterator[MountedPool]:
    """Start all of them, and mount an empty volume. The path must be short, for sockets."""
    authority = Authority(folder / "tls")
    voters = _peers({name: free_address() for name in SERVERS})
    listens = {name: free_address() for name in SERVERS}
    servers: dict[str, Agent] = {}
    with ExitStack() as ends:
        for voter in voters:
            name = voter["node"]
            own = folder / name
            own.mkdir()
            configuration = _identity(name, authority, listens[name], own)
            configuration["pool"] = {
                "server": {"directory": str(own / "blocks"), "free_bytes": 1 << 20},
                "metadata": {
                    "listen": voter["address"],
                    "state_directory": str(own / "metadata"),
                    "bootstrap": True,
                    "voters": voters,
                },
            }
            servers[name] = Agent(program, own, configuration)
            ends.callback(servers[name].kill)
        configuration = _identity(CLIENT, authority, free_address(), folder)
        configuration["pool"] = {
            "client": {
                "voters": _peers(listens),
                "servers": _peers(listens),
                "socket": str(folder / "pool.sock"),
                "lease_seconds": LEASE_SECONDS,
            }
        }
        client = Agent(program, folder, configuration)
        ends.callback(client.kill)
        pool = MountedPool(program, folder, servers, client)
        pool.mount_point.mkdir()
        wait_for("a leader of the metadata", lambda: pool.leader() is not None)
        wait_for("the pool's socket", pool.socket.is_socket)
        pool.command("create-volume", VOLUME)
        ends.callback(pool.clean_up)
        pool.mount()
        yield pool
        pool.unmount()
