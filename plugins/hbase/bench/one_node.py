"""ZooKeeper, HDFS and HBase of the staged builds, as processes of this machine.

Every daemon is a process of its own on a free port of the loopback interface; data, logs, sockets
and configuration are in one folder. HBase is nothing without the other two, so this is the one
place in its folder that knows them, by their launchers alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import site_files
from daemons import LOOPBACK, Daemon, free_ports
from java_beans import ANSWER_TIMEOUT_SECONDS, bean
from site_files import Layout, site_xml
from sluice_evaluation.bench.command_line import Store
from sluice_evaluation.bench.staged import staged_prefix
from sluice_evaluation.bench.waiting import wait_until

__all__ = ["STORE", "Layout", "OneNode", "one_node", "staged_prefixes"]

STORE = Store("hbase", "HBase", "2.6.4-hadoop3")
COMMAND_TIMEOUT_SECONDS = 300
# Of one that ends instead we know at once: this is for machines that do much else besides.
START_TIMEOUT_SECONDS = 600

MASTER_IS_UP = "Master has completed initialization"
REGION_SERVER_IS_UP = "Serving as "
DATANODE_IS_UP = "successfully registered with NN"
NAMENODE_BEAN = "Hadoop:service=NameNode,name=FSNamesystemState"


def staged_prefixes(layout: Layout) -> dict[str, Path]:
    """Folders of the staged builds, by store; HDFS and ZooKeeper have no patches."""
    version = layout.version or STORE.default_version
    return {
        "hbase": staged_prefix(STORE.name, version, layout.variant, "bin/hbase"),
        "hdfs": staged_prefix("hdfs", "", "patched", "bin/hdfs"),
        "zookeeper": staged_prefix("zookeeper", "", "patched", "bin/zookeeper"),
    }


class OneNode:
    """The daemons of a layout in a folder, not started; see one_node for the whole life."""

    # Its clients find localhost as everybody does.
    client_java_options: Sequence[str] = ()

    def __init__(self, layout: Layout, folder: Path, prefixes: Mapping[str, Path] | None = None):
        """Take the programs from staged builds, unless their folders are given by store."""
        self.layout = layout
        self.folder = folder
        self._given_prefixes = prefixes
        self.prefixes = prefixes or staged_prefixes(layout)
        names = site_files.port_names(layout)
        self.ports = dict(zip(names, free_ports(len(names)), strict=True))
        self.configuration = folder / "conf/hbase"
        self.hdfs_configuration = folder / "conf/hdfs"
        self._environment = self._environment_of_all()
        (folder / "log").mkdir(parents=True)
        self._configure()
        self.daemons = {parts[0]: self._daemon(*parts) for parts in self._programs()}

    def follow(self, layout: Layout) -> None:
        """Have those that do not run start next as another layout says, on the same data and ports.

        ValueError when that layout has other daemons.
        """
        if site_files.port_names(layout) != site_files.port_names(self.layout):
            raise ValueError("a node keeps its daemons: make another node for that layout")
        self.layout = layout
        self.prefixes = self._given_prefixes or staged_prefixes(layout)
        self._environment = self._environment_of_all()
        self._configure()
        for parts in self._programs():
            if not self.daemons[parts[0]].running:
                self.daemons[parts[0]] = self._daemon(*parts)

    @property
    def quorum(self) -> str:
        """Where ZooKeeper is."""
        return f"{LOOPBACK}:{self.ports['zookeeper']}"

    def socket(self, daemon: str = "regionserver") -> Path:
        """The socket of a region server's or a DataNode's plug-in."""
        store = "hdfs" if daemon.startswith("datanode") else "hbase"
        return self.folder / f"run/{store}/{daemon}.sock"

    def datanodes(self) -> dict[str, str]:
        """Names of the DataNodes by the addresses that HDFS knows them by."""
        names = self.layout.datanode_names()
        return {f"{LOOPBACK}:{self.ports[name]}": name for name in names}

    # Configuration

    def _environment_of_all(self) -> dict[str, str]:
        options = {
            f"{store}_{kind.upper()}_JAVA_OPTIONS": self.layout.java_options_of(kind)
            for store, kinds in (
                ("HDFS", ("namenode", "datanode")),
                ("HBASE", ("master", "regionserver")),
            )
            for kind in kinds
        }
        clients = {f"{store}_CLIENT_JAVA_OPTIONS": "-Xmx512m" for store in ("HDFS", "HBASE")}
        zookeeper = {"ZOOKEEPER_JAVA_OPTIONS": self.layout.java_options_of("zookeeper")}
        places = {
            "HBASE_CONF_DIR": str(self.configuration),
            "HADOOP_CONF_DIR": str(self.hdfs_configuration),
            "ZOOKEEPER_CONF_DIR": str(self.folder / "conf/zookeeper"),
        }
        return {**os.environ, **options, **clients, **zookeeper, **places}

    def _configure(self) -> None:
        layout, folder, ports = self.layout, self.folder, self.ports
        core = site_xml(site_files.core_site(folder, ports))
        self._write("zookeeper/zoo.cfg", site_files.zookeeper_configuration(folder, ports))
        for name in ["hdfs", *layout.datanode_names()]:
            datanode = "datanode" if name == "hdfs" else name
            hdfs = site_files.hdfs_site(layout, folder, ports, datanode)
            self._write(f"{name}/core-site.xml", core)
            self._write(f"{name}/hdfs-site.xml", site_xml(hdfs))
        for name in ["hbase", "master", *layout.region_server_names()]:
            site = site_files.hbase_site(layout, folder, ports, name)
            self._write(f"{name}/hbase-site.xml", site_xml(site))

    def _write(self, name: str, text: str) -> None:
        path = self.folder / "conf" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    # Daemons

    def _programs(self) -> list[tuple[str, str, str, str]]:
        """Name, store, folder of configuration and command of each daemon, in starting order."""
        layout = self.layout
        return [
            ("zookeeper", "zookeeper", "zookeeper", "serve"),
            ("namenode", "hdfs", "hdfs", "namenode"),
            *((name, "hdfs", name, "datanode") for name in layout.datanode_names()),
            ("master", "hbase", "master", "master"),
            *((name, "hbase", name, "regionserver") for name in layout.region_server_names()),
        ]

    def _daemon(self, name: str, store: str, configuration: str, command: str) -> Daemon:
        program = str(self.prefixes[store] / "bin" / store)
        argv = [program, "--config", str(self.folder / "conf" / configuration), command]
        return Daemon(name, argv, self._environment, self.folder / f"log/{name}.log")

    def format(self) -> None:
        """Make the folders of a new file system."""
        for name in ("data/zookeeper", "tmp/hdfs", "tmp/hbase"):
            (self.folder / name).mkdir(parents=True)
        self.hdfs("namenode", "-format", "-force", "-nonInteractive")

    def start(self, *names: str, under: Sequence[str] = ()) -> None:
        """Start daemons; they are not waited for."""
        for name in names:
            self.daemons[name].start(under)

    def start_all(self, under: Sequence[str] = ()) -> None:
        """Start what does not run, each when those it needs are up, and wait until all serve."""
        for name, daemon in self.daemons.items():
            if not daemon.running:
                daemon.start(under)
            # A master is up when the region server has its meta table.
            if name != "master":
                self._wait_until_up(name)
        self.wait_until_serving()

    def kill(self, *names: str) -> None:
        """End daemons at once."""
        for name in names:
            self.daemons[name].kill()

    def stop(self, *names: str) -> None:
        """Stop daemons as an operator does, all if none is named, clients before servers."""
        for name in reversed(names or list(self.daemons)):
            self.daemons[name].stop()

    def end_all(self) -> None:
        """End all processes at once, whatever they do."""
        for daemon in reversed(list(self.daemons.values())):
            daemon.kill()

    def ended(self) -> list[Daemon]:
        """Daemons that do not run."""
        return [daemon for daemon in self.daemons.values() if not daemon.running]

    # Waiting

    def _wait_until_up(self, name: str) -> None:
        daemon = self.daemons[name]
        if name == "zookeeper":
            self._wait_for(daemon, self._zookeeper_serves)
        elif name == "namenode":
            self._wait_for(daemon, self._namenode_answers)
        elif name.startswith("datanode"):
            daemon.wait_for(DATANODE_IS_UP, START_TIMEOUT_SECONDS)
        else:
            said = MASTER_IS_UP if name == "master" else REGION_SERVER_IS_UP
            daemon.wait_for(said, START_TIMEOUT_SECONDS)

    def _wait_for(self, daemon: Daemon, serves) -> None:
        def serves_or_ended() -> bool:
            if not daemon.running:
                raise RuntimeError(f"{daemon.name} has ended\n{daemon.log_end()}")
            return serves()

        wait_until(serves_or_ended, f"{daemon.name} that serves", 0.1, START_TIMEOUT_SECONDS)

    def _zookeeper_serves(self) -> bool:
        with contextlib.suppress(OSError):
            return "Mode:" in four_letter_word(self.ports["zookeeper"], b"srvr")
        return False

    def _namenode_answers(self) -> bool:
        with contextlib.suppress(OSError, LookupError):
            return bool(self.jmx("namenode", NAMENODE_BEAN))
        return False

    def _file_system_serves(self) -> bool:
        with contextlib.suppress(OSError, LookupError):
            return self.jmx("namenode", NAMENODE_BEAN)["FSState"] == "Operational"
        return False

    def wait_until_serving(self) -> None:
        """Wait until all that runs is up, and no region is on its way."""
        running = [name for name, daemon in self.daemons.items() if daemon.running]
        for name in running:
            self._wait_until_up(name)
        if "namenode" in running:
            self._wait_for(self.daemons["namenode"], self._file_system_serves)
        if "master" in running:
            servers = sum(name.startswith("regionserver") for name in running)
            wait_until(
                lambda: self._regions_are_open(servers),
                f"{servers} region servers, and no region in transition",
                interval_seconds=0.5,
                timeout_seconds=START_TIMEOUT_SECONDS,
            )

    def _regions_are_open(self, servers: int) -> bool:
        words = ("-o", "json", "--timeout", str(ANSWER_TIMEOUT_SECONDS), "status")
        status = json.loads(self.hbase(*words, check=False) or "{}")
        if not status.get("regions") or status["regions_in_transition"]:
            return False
        return len(status["live_servers"]) == servers

    # Commands

    def command(self, store: str, *arguments: str) -> tuple[list[str], dict[str, str]]:
        """How a command of a staged build is run for this node: its words and its environment."""
        return [str(self.prefixes[store] / "bin" / store), *arguments], dict(self._environment)

    def hbase(self, *arguments: str, **options: Any) -> str:
        """What a command of HBase prints; options are those of _run."""
        return self._run("hbase", arguments, **options)

    def hbase_json(self, *arguments: str, **options: Any) -> Any:
        """The JSON that a command of HBase prints."""
        return json.loads(self._run("hbase", ("-o", "json", *arguments), **options))

    def hdfs(self, *arguments: str, **options: Any) -> str:
        """What a command of HDFS prints."""
        return self._run("hdfs", arguments, **options)

    def _run(
        self,
        store: str,
        arguments: Sequence[str],
        input: str | None = None,
        environment: Mapping[str, str] | None = None,
        check: bool = True,
        timeout_seconds: float = COMMAND_TIMEOUT_SECONDS,
    ) -> str:
        words, names = self.command(store, *arguments)
        done = subprocess.run(
            words,
            env={**names, **(environment or {})},
            input=input if input is not None else "",
            capture_output=True,
            text=True,
            timeout=timeout_seconds,
            check=False,
        )
        if check and done.returncode:
            error = subprocess.CalledProcessError(done.returncode, words)
            error.add_note(f"{done.stdout[-4000:]}{done.stderr[-4000:]}")
            raise error
        return done.stdout

    def jmx(self, daemon: str, query: str) -> dict[str, Any]:
        """A bean of a daemon with a web page; LookupError when it has none of that name."""
        return bean(daemon, f"{LOOPBACK}:{self.ports[f'{daemon}-web']}", query)

    def lines_with(self, words: Iterable[str]) -> list[str]:
        """Lines of all logs that have one of some words."""
        texts = [log.read_text(errors="replace") for log in sorted(self.folder.glob("log/*"))]
        wanted = tuple(words)
        return [
            line
            for text in texts
            for line in text.splitlines()
            if any(word in line for word in wanted)
        ]

    def log_ends(self, lines: int = 40) -> str:
        """The last lines of every daemon's log."""
        return "\n".join(
            f"== {name}\n{daemon.log_end(lines)}" for name, daemon in self.daemons.items()
        )


def four_letter_word(port: int, word: bytes) -> str:
    """What a ZooKeeper server answers."""
    with socket.create_connection((LOOPBACK, port), ANSWER_TIMEOUT_SECONDS) as connection:
        connection.sendall(word)
        answer = b""
        while part := connection.recv(4096):
            answer += part
    return answer.decode(errors="replace")


@contextlib.contextmanager
def one_node(
    layout: Layout,
    parent: Path | None = None,
    under: Sequence[str] = (),
    prefixes: Mapping[str, Path] | None = None,
) -> Iterator[OneNode]:
    """A node that serves, in a folder of its own; ended and removed afterwards.

    When what is done with it fails, the ends of its logs are a note of the exception.
    """
    folder = Path(tempfile.mkdtemp(prefix="sluice-hbase-", dir=parent))
    with ended_by_signal():
        node = None
        try:
            node = OneNode(layout, folder, prefixes)
            node.format()
            node.start_all(under)
            yield node
        except Exception as error:
            if node:
                error.add_note(node.log_ends())
            raise
        finally:
            if node:
                node.end_all()
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def ended_by_signal() -> Iterator[None]:
    """Let SIGTERM end this program as Control-C does, so that what it started is ended too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
