"""A node of Cassandra on this machine, run by the launcher of the staged distribution."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LONGEST_WAIT_SECONDS = 900
POLL_SECONDS = 0.1
# A node is short-lived here: the second compiler would not pay.
JAVA_OPTIONS = "-Xms256m -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
COMMAND_HEAP = "-Xmx256m"
CONFIGURATION = """
cluster_name: test
num_tokens: 1
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: "127.0.0.1:{storage}"
listen_address: 127.0.0.1
rpc_address: 127.0.0.1
storage_port: {storage}
native_transport_port: {client}
commitlog_sync: {sync}
storage_compatibility_mode: NONE
compaction_throughput: {throughput}
concurrent_compactors: 1
key_cache_size: 8MiB
auto_snapshot: false
# Other things run on the machine of a test.
request_timeout: 600s
read_request_timeout: 600s
range_request_timeout: 600s
write_request_timeout: 600s
truncate_request_timeout: 600s
{more}
"""


def staged_cassandra() -> Path:
    """Give the staged prefix of the distribution, which has to be compiled."""
    command = ["sluice-dist", "--root", str(ROOT), "show", "cassandra", "-o", "json"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True)
    prefix = Path(json.loads(shown.stdout)["staged_prefix"])
    assert (prefix / "bin" / "cassandra").exists(), "make it: sluice-dist compile cassandra"
    return prefix


@dataclass(frozen=True)
class Ports:
    """Ports of one node, free when they were chosen."""

    storage: int
    client: int
    beans: int


def free_ports() -> Ports:
    """Choose ports that nothing on this machine listens on."""
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
    numbers = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return Ports(*numbers)


@dataclass
class CassandraNode:
    """One node: its folder, its process, its commands. The folder's name is the instance's."""

    prefix: Path
    folder: Path
    sockets: Path
    ports: Ports
    throughput: str = "7MiB/s"
    # With `batch` what is acknowledged is on disk.
    sync: str = "periodic\ncommitlog_sync_period: 10s"
    plugin: str = "sluice"
    # Further lines of the configuration.
    more: str = ""
    java_options: list[str] = field(default_factory=list)
    process: subprocess.Popen | None = None

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def socket(self) -> Path:
        return self.sockets / "cassandra" / f"{self.folder.name}.sock"

    def start(self) -> None:
        """Start the process, and wait until it serves clients, and the plug-in if it has one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = CONFIGURATION.format(
            throughput=self.throughput, sync=self.sync, more=self.more, **vars(self.ports)
        )
        (self.folder / "cassandra.yaml").write_text(text)
        options = [JAVA_OPTIONS, f"-Djava.io.tmpdir={self.folder}"]
        options += [f"-Dsluice.socket.directory={self.sockets}", *self.java_options]
        variables = {"CASSANDRA_JAVA_OPTIONS": " ".join(options), "CASSANDRA_PLUGIN": self.plugin}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [str(self.prefix / "bin" / "cassandra"), "--config", str(self.folder), "serve"],
                env=self._environment() | variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.wait_until(self.log.read_text, lambda said: "Startup complete" in said)
        if self.plugin:
            self.wait_until(self.log.read_text, lambda said: "orders are taken on" in said)

    def _environment(self) -> dict[str, str]:
        return os.environ | {
            "CASSANDRA_DATA_DIR": str(self.folder / "data"),
            "CASSANDRA_JMX_PORT": str(self.ports.beans),
            "CASSANDRA_CLIENT_JAVA_OPTIONS": f"{COMMAND_HEAP} -Duser.home={self.folder}",
        }

    def wait_until(self, look: Callable[[], Any], fits: Callable[[Any], bool]) -> Any:
        """Wait until what LOOK sees FITS, and give it; fails if the node ends or it takes long."""
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        while not fits(seen := look()):
            assert self.process and self.process.poll() is None, self.tail()
            assert time.monotonic() < deadline, f"{str(seen)[-2000:]}\n{self.tail()}"
            time.sleep(POLL_SECONDS)
        return seen

    def stop(self) -> None:
        """End the process in order."""
        self._end(subprocess.Popen.terminate)

    def kill(self) -> None:
        """End the process at once."""
        self._end(subprocess.Popen.kill)

    def _end(self, how: Callable[[subprocess.Popen], None]) -> None:
        if self.process is None:
            return
        how(self.process)
        self.process.wait(LONGEST_WAIT_SECONDS)
        self.process = None

    def command(self, *arguments: str, text: str = "", status: int = 0) -> str:
        """Run a command of the launcher to its end, with TEXT as its input; gives what it says."""
        done = subprocess.run(
            [str(self.prefix / "bin/cassandra"), "--config", str(self.folder), *arguments],
            env=self._environment(),
            input=text,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST_WAIT_SECONDS,
        )
        assert done.returncode == status, done.stdout + done.stderr + self.tail()
        return done.stdout if status == 0 else done.stderr

    def nodetool(self, *arguments: str) -> str:
        return self.command("nodetool", *arguments)

    def cql(self, *statements: str) -> list[list[str]]:
        """Execute STATEMENTS; gives the rows of all of them."""
        where = ["--address", f"127.0.0.1:{self.ports.client}", "--timeout", "600"]
        said = self.command("cql", *where, text="\n".join(statements))
        return [line.split("\t") for line in said.splitlines()]

    def tail(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-40:])
