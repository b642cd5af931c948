"""ZooKeeper, NameNode, DataNode, HMaster and region server as processes on ports of their own."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 240
STOP_SECONDS = 120
POLL_SECONDS = 0.5
PORTS = (
    *("zookeeper", "namenode", "namenode_http", "datanode", "datanode_http", "datanode_ipc"),
    *("master", "master_http", "regionserver", "regionserver_http"),
)
# Java's own status after SIGTERM.
TERMINATED = 143
SMALL = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.net.preferIPv4Stack=true"
DAEMONS = {
    # Name: store, command, options of Java.
    "zookeeper": ("zookeeper", "serve", {"ZOOKEEPER_JAVA_OPTIONS": f"{SMALL} -Xmx128m"}),
    "namenode": ("hdfs", "namenode", {"HDFS_NAMENODE_JAVA_OPTIONS": f"{SMALL} -Xmx256m"}),
    "datanode": ("hdfs", "datanode", {"HDFS_DATANODE_JAVA_OPTIONS": f"{SMALL} -Xmx256m"}),
    "master": ("hbase", "master", {"HBASE_MASTER_JAVA_OPTIONS": f"{SMALL} -Xmx512m"}),
    "regionserver": (
        "hbase",
        "regionserver",
        {"HBASE_REGIONSERVER_JAVA_OPTIONS": f"{SMALL} -Xmx512m"},
    ),
}


def wait_until(what: str, condition: Callable[[], bool]) -> None:
    """Poll until the condition holds; fails after PATIENCE_SECONDS."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"not within {PATIENCE_SECONDS} s: {what}"
        time.sleep(POLL_SECONDS)


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


@dataclass
class Stack:
    """One of each daemon, with data and logs below FOLDER."""

    folder: Path
    prefixes: dict[str, Path]
    processes: dict[str, subprocess.Popen] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)

    def start(self) -> None:
        """Start all, and wait until HBase has its region server; data that are there stay."""
        if not self.ports:
            self.ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
            self._write_configuration()
            self.call("hdfs", "namenode", "-format", "-nonInteractive")
        for name in DAEMONS:
            self._start_daemon(name)
        wait_until("HDFS is out of safe mode", self._hdfs_is_up)
        wait_until("HBase has its region server", self._hbase_is_up)

    def stop(self) -> dict[str, int]:
        """End all by SIGTERM, the last one first; gives their exit statuses."""
        statuses = {}
        for name in reversed(list(self.processes)):
            process = self.processes.pop(name)
            process.send_signal(signal.SIGTERM)
            try:
                statuses[name] = process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                statuses[name] = process.wait()
        return statuses

    def hbase(self, *arguments: str, **options: Any) -> str:
        return self.call("hbase", *arguments, **options)

    def hbase_json(self, *arguments: str) -> Any:
        return json.loads(self.hbase("-o", "json", *arguments))

    def hdfs(self, *arguments: str, **options: Any) -> str:
        return self.call("hdfs", *arguments, **options)

    def call(self, store: str, *arguments: str, text: str = "", status: int = 0) -> str:
        """Run a command of the store's launcher; gives what it prints."""
        done = subprocess.run(
            [str(self._launcher(store)), *arguments],
            env=self._environment(),
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, f"{store} {arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def _launcher(self, store: str) -> Path:
        return self.prefixes[store] / "bin" / store

    def _environment(self) -> dict[str, str]:
        configuration = str(self.folder / "conf")
        return {
            **os.environ,
            "HBASE_CONF_DIR": configuration,
            "HADOOP_CONF_DIR": configuration,
            "ZOOKEEPER_CONF_DIR": configuration,
        }

    def _start_daemon(self, name: str) -> None:
        store, command, options = DAEMONS[name]
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [str(self._launcher(store)), command],
                env=self._environment() | options,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _is_answered(self, store: str, *arguments: str) -> str:
        for name, process in self.processes.items():
            assert process.poll() is None, f"{name} ended:\n{self.log(name)[-3000:]}"
        done = subprocess.run(
            [str(self._launcher(store)), *arguments],
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout if done.returncode == 0 else ""

    def _hdfs_is_up(self) -> bool:
        return "Safe mode is OFF" in self._is_answered("hdfs", "dfsadmin", "-safemode", "get")

    def _hbase_is_up(self) -> bool:
        answer = self._is_answered("hbase", "-o", "json", "--timeout", "10", "status")
        if not answer:
            return False
        status = json.loads(answer)
        opened = status["regions"] > 0 and not status["regions_in_transition"]
        return len(status["live_servers"]) == 1 and opened

    def _write_configuration(self) -> None:
        folder, ports = self.folder / "conf", self.ports
        folder.mkdir()
        data = self.folder / "data"
        (data / "zookeeper").mkdir(parents=True)
        (folder / "zoo.cfg").write_text(
            f"tickTime=2000\ndataDir={data}/zookeeper\n"
            f"clientPort={ports['zookeeper']}\nclientPortAddress=127.0.0.1\n"
        )
        name_node = f"hdfs://127.0.0.1:{ports['namenode']}"
        write_site(folder / "core-site.xml", {"fs.defaultFS": name_node})
        write_site(
            folder / "hdfs-site.xml",
            {
                "dfs.namenode.name.dir": f"file://{data}/name",
                "dfs.datanode.data.dir": f"[DISK]file://{data}/disk",
                "dfs.replication": "1",
                "dfs.namenode.http-address": f"127.0.0.1:{ports['namenode_http']}",
                "dfs.datanode.address": f"127.0.0.1:{ports['datanode']}",
                "dfs.datanode.http.address": f"127.0.0.1:{ports['datanode_http']}",
                "dfs.datanode.ipc.address": f"127.0.0.1:{ports['datanode_ipc']}",
                # A wait after the last block report, for machines that are still to come.
                "dfs.namenode.safemode.extension": "0",
            },
        )
        write_site(
            folder / "hbase-site.xml",
            {
                "hbase.rootdir": f"{name_node}/hbase",
                "hbase.tmp.dir": f"{data}/hbase",
                "hbase.cluster.distributed": "true",
                "hbase.zookeeper.quorum": "127.0.0.1",
                "hbase.zookeeper.property.clientPort": str(ports["zookeeper"]),
                "hbase.master.hostname": "localhost",
                "hbase.regionserver.hostname": "localhost",
                "hbase.master.port": str(ports["master"]),
                "hbase.master.info.port": str(ports["master_http"]),
                "hbase.regionserver.port": str(ports["regionserver"]),
                "hbase.regionserver.info.port": str(ports["regionserver_http"]),
            },
        )


def write_site(file: Path, settings: dict[str, str]) -> None:
    properties = "".join(
        f"<property><name>{name}</name><value>{value}</value></property>\n"
        for name, value in settings.items()
    )
    file.write_text(f"<configuration>\n{properties}</configuration>\n")
