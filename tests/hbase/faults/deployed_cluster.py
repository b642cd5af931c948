"""A cluster that the playbooks have brought up: its daemons are units of nodes.

A playbook describes it in a file (docs/hbase-faults.md says which). Nodes are reached as the roles
reach them, and as root.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daemons import LOOPBACK
from java_beans import bean
from node_connection import NodeConnection
from one_node import COMMAND_TIMEOUT_SECONDS, STORE, ended_by_signal
from sluice_evaluation.bench.staged import staged_prefix
from unit_daemon import ENDED, UnitDaemon, states

PLUGIN_SOCKET = "/run/sluice/hbase/regionserver.sock"
HBASE_SITE = "/etc/sluice/hbase/main/hbase-site.xml"
HDFS_CONFIGURATION = "/etc/sluice/hdfs/main"
PAGES = {"namenode": 9870, "datanode": 9864, "master": 16010, "regionserver": 16030}
DATANODE_PORT = 9866
LINES_OF_A_SEARCH = 10_000

UNIT = re.compile(
    r"sluice-(?:(?P<control>agent|controller)"
    r"|(?P<store>hbase|hdfs|zookeeper)-(?P<build>.+?)"
    r"(?:-(?P<part>master|regionserver|namenode|datanode|journalnode|zkfc))?@main)\.service"
)


@dataclass(frozen=True)
class Node:
    """A node by its name, its IP address, and how SSH reaches it."""

    name: str
    address: str
    ssh_options: tuple[str, ...]


@dataclass(frozen=True)
class Description:
    """What a playbook has written down of a cluster."""

    nodes: tuple[Node, ...]
    namenodes: int

    @classmethod
    def read(cls, file: Path) -> Description:
        """The description in a file."""
        told = json.loads(file.read_text())
        nodes = [
            Node(node["name"], node["address"], tuple(shlex.split(node["ssh_options"])))
            for node in told["nodes"]
        ]
        return cls(tuple(nodes), told["namenodes"])


class DeployedCluster:
    """The cluster as it is found; see deployed_cluster for the whole life of what is made here."""

    def __init__(self, description: Description, folder: Path):
        self.folder = folder
        self.configuration = folder / "conf"
        for made in (self.configuration, folder / "log", folder / "ssh"):
            made.mkdir()
        self.nodes = {
            node.name: NodeConnection(
                node.name, node.address, node.ssh_options, PLUGIN_SOCKET, folder / "ssh"
            )
            for node in description.nodes
        }
        self.daemons: dict[str, UnitDaemon] = {}
        self._builds: dict[str, str] = {}
        self._prefix = Path()
        self.client_java_options = [f"-Djdk.net.hosts.file={folder / 'hosts'}"]
        self._environment = {
            **os.environ,
            "HBASE_CONF_DIR": str(self.configuration),
            "HADOOP_CONF_DIR": str(self.configuration),
            "HBASE_CLIENT_JAVA_OPTIONS": " ".join(["-Xmx512m", *self.client_java_options]),
        }

    def find(self) -> None:
        """Look what runs, and write what HBase's clients on this machine read."""
        for node in self.nodes.values():
            self._find_daemons(node)
        if missing := {"hbase", "hdfs"} - set(self._builds):
            nodes = ", ".join(self.nodes)
            raise RuntimeError(f"no unit of {sorted(missing)} runs on {nodes}: run site.yml")
        self._prefix = staged_prefix(STORE.name, self._builds["hbase"], "patched", "bin/hbase")
        server = next(iter(self.of_kind("regionserver").values()))
        (self.configuration / "hbase-site.xml").write_text(server.node.run("cat", HBASE_SITE))
        (self.folder / "hosts").write_text(hosts_file(self._addresses()))

    def _find_daemons(self, node: NodeConnection) -> None:
        words = ("systemctl", "list-units", "--plain", "--no-legend")
        # What is about to start again runs as far as anybody here is concerned.
        listed = node.run(*words, "--state=active,activating,reloading", "sluice-*.service")
        for unit in (line.split()[0] for line in listed.splitlines() if line.strip()):
            if found := UNIT.fullmatch(unit):
                kind = found["control"] or found["part"] or found["store"]
                self.daemons[f"{kind}-{node.name}"] = UnitDaemon(f"{kind}-{node.name}", node, unit)
                if found["store"]:
                    self._builds[found["store"]] = found["build"]

    def _addresses(self) -> dict[str, str]:
        return {node.name: node.address for node in self.nodes.values()}

    def close(self) -> None:
        """Start what does not run, and leave the nodes."""
        try:
            for daemon in self.ended():
                daemon.start()
        finally:
            for node in self.nodes.values():
                node.close()

    # Daemons

    def of_kind(self, kind: str) -> dict[str, UnitDaemon]:
        """Daemons of a kind."""
        return {name: daemon for name, daemon in self.daemons.items() if kind_of(name) == kind}

    def ended(self) -> list[UnitDaemon]:
        """Daemons that do not run."""
        found: list[UnitDaemon] = []
        for node in self.nodes.values():
            daemons = [daemon for daemon in self.daemons.values() if daemon.node is node]
            if daemons:
                now = states(node, [daemon.unit for daemon in daemons])
                pairs = zip(daemons, now, strict=True)
                found += [daemon for daemon, state in pairs if state in ENDED]
        return found

    def socket(self, daemon: str) -> Path:
        """The socket of a region server's plug-in."""
        return self.daemons[daemon].node.socket

    def datanodes(self) -> Mapping[str, str]:
        """Names of the DataNodes by the addresses that HDFS knows them by."""
        return {
            f"{daemon.node.address}:{DATANODE_PORT}": name
            for name, daemon in self.of_kind("datanode").items()
        }

    # Commands

    def hbase(self, *arguments: str, input: str | None = None) -> str:
        """What a command of HBase prints, on this machine."""
        done = subprocess.run(
            [str(self._prefix / "bin/hbase"), *arguments],
            env=self._environment,
            input=input or "",
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_SECONDS,
            check=False,
        )
        if done.returncode:
            error = subprocess.CalledProcessError(done.returncode, ["hbase", *arguments])
            error.add_note(f"{done.stdout[-4000:]}{done.stderr[-4000:]}")
            raise error
        return done.stdout

    def hdfs(self, *arguments: str, check: bool = True) -> str:
        """What a command of HDFS prints, on one of the nodes and as its superuser."""
        program = f"/opt/sluice/hdfs/{self._builds['hdfs']}/bin/hdfs"
        words = ["runuser", "-u", "hdfs", "--", program, "--config", HDFS_CONFIGURATION]
        node = next(iter(self.of_kind("datanode").values())).node
        # The home of root is nobody else's.
        return node.run("env", "--chdir=/", *words, *arguments, check=check)

    def jmx(self, daemon: str, query: str) -> dict[str, Any]:
        """A bean of a daemon; LookupError when it has none of that name."""
        address = self.daemons[daemon].node.address
        return bean(daemon, f"{address}:{PAGES[kind_of(daemon)]}", query)

    # Logs

    def lines_with(self, words: Iterable[str]) -> list[str]:
        """Lines of the logs of HBase and HDFS that have one of some words, the last of each."""
        wanted = [word for each in words for word in ("-e", each)]
        if not wanted:
            return []
        search = "journalctl --no-pager --output=short-iso --unit='sluice-h*' | grep -F \"$@\""
        script = f"{{ {search} || true; }} | tail -n {LINES_OF_A_SEARCH}"
        return [
            f"{node.name}: {line}"
            for node in self.nodes.values()
            for line in node.script(script, *wanted).splitlines()
        ]

    def log_ends(self, lines: int = 40) -> str:
        """The last lines of every daemon's log."""
        return "\n".join(
            f"== {name}\n{daemon.log_end(lines)}" for name, daemon in self.daemons.items()
        )


def kind_of(name: str) -> str:
    """The kind of a daemon, by its name: names of nodes may have dashes as well."""
    return name.partition("-")[0]


def hosts_file(addresses: Mapping[str, str]) -> str:
    """Names for Java, which knows no others then: those of nodes, and this machine's own."""
    own = f"{LOOPBACK} localhost {socket.gethostname()}\n"
    return own + "".join(f"{address} {name}\n" for name, address in addresses.items())


@contextlib.contextmanager
def deployed_cluster(description: Description) -> Iterator[DeployedCluster]:
    """The cluster of a description, with a folder of this machine for as long as it is looked at.

    In the end all of its daemons run. When what is done with it fails, the ends of its logs are a
    note of the exception.
    """
    folder = Path(tempfile.mkdtemp(prefix="sluice-hbase-"))
    with ended_by_signal():
        cluster = None
        try:
            cluster = DeployedCluster(description, folder)
            cluster.find()
            yield cluster
        except Exception as error:
            if cluster:
                error.add_note(cluster.log_ends())
            raise
        finally:
            if cluster:
                cluster.close()
            shutil.rmtree(folder, ignore_errors=True)
