"""Nodes of Ignite on this machine, run by the launcher of the staged distribution."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

ROOT = Path(__file__).parents[2]
LONGEST_WAIT_SECONDS = 180
POLL_SECONDS = 0.2
# A node is short-lived here: the second compiler would not pay.
JAVA_OPTIONS = "-Xms256m -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
COMMAND_HEAP = "-Xmx128m"
CONFIGURATION = """
ignite {{
  network {{ port = {network}, nodeFinder.netClusterNodes = [{members}] }}
  clientConnector.port = {client}
  rest.port = {rest}
  storage.profiles = [{{name = rocks, engine = rocksdb}}]
}}
"""


def staged_ignite() -> Path:
    """Give the staged prefix of the distribution, which has to be compiled."""
    command = ["sluice-dist", "--root", str(ROOT), "show", "ignite", "-o", "json"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True)
    prefix = Path(json.loads(shown.stdout)["staged_prefix"])
    assert (prefix / "bin" / "ignite").exists(), "make it: sluice-dist compile ignite"
    return prefix


@dataclass(frozen=True)
class Ports:
    """Ports of one node, free when they were chosen."""

    network: int
    client: int
    rest: int


def free_ports() -> Ports:
    """Choose ports that nothing on this machine listens on."""
    listeners = [socket.create_server(("localhost", 0)) for _ in range(3)]
    numbers = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return Ports(*numbers)


@dataclass
class IgniteNode:
    """One node: its folder, its process, its environment."""

    prefix: Path
    folder: Path
    name: str
    ports: Ports
    members: list[Ports]
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen | None = None

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def start(self) -> None:
        """Start the process, and do not wait for it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        members = ", ".join(f'"localhost:{ports.network}"' for ports in self.members)
        text = CONFIGURATION.format(members=members, **vars(self.ports))
        (self.folder / "ignite-config.conf").write_text(text)
        variables = {"IGNITE_NODE_NAME": self.name, "IGNITE_DATA_DIR": str(self.data)}
        variables["IGNITE_JAVA_OPTIONS"] = f"{JAVA_OPTIONS} -Djava.io.tmpdir={self.folder}"
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [str(self.prefix / "bin" / "ignite"), "--config", str(self.folder), "serve"],
                env=os.environ | variables | self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def ask(self, path: str) -> Any:
        """What REST says, None where nobody answers or the cluster is being made."""
        try:
            with urlopen(f"http://{self.rest}/management/v1/{path}", timeout=10) as answer:
                return json.load(answer)
        except OSError:
            return None

    def state(self) -> str:
        """State of the node, empty where it says none."""
        return (self.ask("node/state") or {}).get("state", "")

    def known_nodes(self) -> set[str]:
        """Names of the nodes that this one can reach, itself too."""
        return {node["name"] for node in self.ask("cluster/topology/physical") or []}

    def replicas(self, zone: str) -> list[str]:
        """States of the replicas that the node has of ZONE's partitions."""
        said = self.ask(f"recovery/zone/state/local?zoneNames={zone}") or {"states": []}
        return [replica["state"] for replica in said["states"] if replica["nodeName"] == self.name]

    def wait_for(self, *states: str) -> None:
        """Wait until the node is in one of STATES; fails if it ends or takes too long."""
        self.wait_until(self.state, lambda state: state in states)

    def wait_until(self, look: Callable[[], Any], fits: Callable[[Any], bool]) -> None:
        """Wait until what LOOK sees FITS; fails if the node ends or it takes too long."""
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        while not fits(seen := look()):
            assert self.process and self.process.poll() is None, self.tail()
            assert time.monotonic() < deadline, f"{self.name}: {seen!r}:\n{self.tail()}"
            time.sleep(POLL_SECONDS)

    def stop(self) -> None:
        """End the process in order."""
        self._end(subprocess.Popen.terminate)

    def kill(self) -> None:
        """End the process at once, as a loss of the machine would."""
        self._end(subprocess.Popen.kill)

    def _end(self, how: Callable[[subprocess.Popen], None]) -> None:
        if self.process is None:
            return
        how(self.process)
        self.process.wait(LONGEST_WAIT_SECONDS)
        self.process = None

    @property
    def rest(self) -> str:
        return f"localhost:{self.ports.rest}"

    @property
    def client(self) -> str:
        return f"localhost:{self.ports.client}"

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the launcher to its end."""
        done = subprocess.run(
            [str(self.prefix / "bin" / "ignite"), *arguments],
            env=os.environ | {"IGNITE_CLIENT_JAVA_OPTIONS": COMMAND_HEAP} | self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST_WAIT_SECONDS,
        )
        assert done.returncode == 0, done.stderr + self.tail()
        return done

    def start_sql(self, said: Path, *statements: str) -> subprocess.Popen:
        """Begin to execute STATEMENTS; what they say comes into the file SAID as it is said."""
        with said.open("w") as output:
            return subprocess.Popen(
                [str(self.prefix / "bin/ignite"), "sql", "--address", self.client, *statements],
                env=os.environ | {"IGNITE_CLIENT_JAVA_OPTIONS": COMMAND_HEAP} | self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.PIPE,
                text=True,
            )

    def sql(self, *statements: str) -> list[list[str]]:
        """Execute STATEMENTS; gives the rows of all of them."""
        said = self.command("sql", "--address", self.client, *statements).stdout
        return [line.split("\t") for line in said.splitlines()]

    def tail(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-40:])

    def override_lines(self) -> dict[str, str]:
        """What each database of the node last said of the override, by its path below the data."""
        found = {}
        for log in self.data.rglob("LOG"):
            lines = [line for line in log.read_text().splitlines() if "DB_OPTIONS_OVERRIDE" in line]
            found[str(log.parent.relative_to(self.data))] = lines[-1] if lines else ""
        return found

    def mapped_files(self) -> set[str]:
        """Names of the files that the process has mapped."""
        assert self.process
        lines = Path(f"/proc/{self.process.pid}/maps").read_text().splitlines()
        return {Path(line.split(maxsplit=5)[5]).name for line in lines if "/" in line}


def start_cluster(nodes: list[IgniteNode]) -> None:
    """Start NODES, and make one cluster of them when all know each other; all keep metadata."""
    for node in nodes:
        node.start()
    names = {node.name for node in nodes}
    for node in nodes:
        node.wait_for("STARTING")
        node.wait_until(node.known_nodes, lambda known: known == names)
    members = [word for node in nodes for word in ("--metastorage-node", node.name)]
    nodes[0].command("init", "--rest", nodes[0].rest, "--cluster", "test", *members)
    for node in nodes:
        node.wait_for("STARTED")
