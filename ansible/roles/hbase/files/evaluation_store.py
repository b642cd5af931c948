#!/usr/bin/python3
"""Runs HBase for one run of an experiment, on the node and with a disk for measurements.

ZooKeeper, HDFS, a master and a region server, each an instance of its own. Actions: loaded, start,
save, settings, restart-killed, stop. `loaded` and `start` read a JSON object from standard input:
run (of the plan), directory (the measured disk), copies (loaded data), host (the node's name),
hdfs_version, zookeeper_version, and java_options by daemon. Each action prints a JSON object. It
needs nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import evaluation_program
import hbase_configuration
from hbase_configuration import INSTANCE

STATE = Path("/run/sluice-evaluation-hbase.json")
LOGS = Path("/var/log/sluice-evaluation/hbase")
START_TIMEOUT_SECONDS = 600.0
ANSWER_TIMEOUT_SECONDS = 5.0
# The folders on the disk and their users.
FOLDERS = {"zookeeper": "zookeeper", "name": "hdfs", "data": "hdfs"}
# In the order in which they are started.
DAEMONS = ("zookeeper", "namenode", "datanode", "master", "regionserver")
REPORTED = ("hbase.", "hfile.", "dfs.", "sluice.")
# How many regions a copy has, so that a start from it knows when all of them serve.
REGIONS = "regions.json"


class NoAnswer(Exception):
    """A daemon does not answer yet, or not with what was asked for."""


class Store:
    """The builds, units and folders of a run."""

    def __init__(self, order: dict):
        run = order["run"]
        self.order = order
        self.host = order["host"]
        further = run["measure"].get("server_java_options", [])
        self.java_options = {
            daemon: " ".join([options, *further])
            for daemon, options in order["java_options"].items()
        }
        label = run["version"] + ("" if run["variant"] == "patched" else "-stock")
        hdfs = f"sluice-hdfs-{order['hdfs_version']}"
        self.hdfs_program = Path(f"/opt/sluice/hdfs/{order['hdfs_version']}/bin/hdfs")
        self.units = {
            "zookeeper": f"sluice-zookeeper-{order['zookeeper_version']}@{INSTANCE}.service",
            "namenode": f"{hdfs}-namenode@{INSTANCE}.service",
            "datanode": f"{hdfs}-datanode@{INSTANCE}.service",
            "master": f"sluice-hbase-{label}-master@{INSTANCE}.service",
            "regionserver": f"sluice-hbase-{label}-regionserver@{INSTANCE}.service",
        }
        self.directory = Path(order["directory"])
        data = [str(run["data"]["record_count"]), run["data"].get("records", "")]
        self.copy = Path(order["copies"]) / "-".join(["hbase", label, *filter(None, data)])
        self.settings = dict(run["settings"])
        # What is loaded for all runs is on the measured disk alone.
        if run["data"].get("restore_from_copy", False) and not self.copy.exists():
            self.settings.pop(hbase_configuration.VOLUMES, None)

    def further_volumes(self) -> list[Path]:
        """Folders of the DataNode that are on other disks than the measured one."""
        volumes = hbase_configuration.volumes(self.settings)
        return [volume for volume in volumes if not volume.is_relative_to(self.directory)]

    def page(self, port: int, path: str) -> dict:
        """The JSON object at a web page of a daemon."""
        # Not through a proxy: the daemons are on this node.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            url = f"http://{self.host}:{port}{path}"
            with opener.open(url, timeout=ANSWER_TIMEOUT_SECONDS) as answer:
                return json.load(answer)
        except (OSError, urllib.error.URLError, json.JSONDecodeError) as error:
            raise NoAnswer(f"port {port}: {error}") from error

    def bean(self, port: int, name: str) -> dict:
        """The figures of a daemon."""
        beans = self.page(port, f"/jmx?qry={name}").get("beans", [])
        if not beans:
            raise NoAnswer(f"port {port} has no {name} yet")
        return beans[0]


def prepare_data(store: Store) -> bool:
    """Put the folders of the daemons on their disks; whether there was a loaded copy."""
    for volume in store.further_volumes():
        if not volume.parent.is_dir():
            raise SystemExit(f"{volume.parent} is not there: take an inventory with a slow disk")
        shutil.rmtree(volume, ignore_errors=True)
        evaluation_program.own(volume, FOLDERS["data"], 0o700)
    from_copy = store.copy.exists()
    for folder, user in FOLDERS.items():
        if from_copy:
            evaluation_program.copy(store.copy / folder, store.directory / folder)
        else:
            evaluation_program.own(store.directory / folder, user, 0o700)
    return from_copy


def format_name(store: Store) -> None:
    """Make an empty file system."""
    argv = [store.hdfs_program, "--config", hbase_configuration.folder("hdfs")]
    done = subprocess.run(
        [*map(str, argv), "namenode", "-format", "-nonInteractive"], user="hdfs", group="hdfs",
        extra_groups=[], cwd="/", capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise SystemExit(f"{argv[0]} namenode -format ended with {done.returncode}: {done.stderr}")


def zookeeper_serves(store: Store) -> bool:
    """Whether it says so."""
    with socket.create_connection((store.host, 2181), ANSWER_TIMEOUT_SECONDS) as connection:
        connection.sendall(b"ruok")
        return connection.recv(16) == b"imok"


def hdfs_serves(store: Store) -> bool:
    """Whether blocks can be read and written."""
    system = store.bean(9870, "Hadoop:service=NameNode,name=FSNamesystemState")
    return system["FSState"] == "Operational" and system["NumLiveDataNodes"] == 1


def region_count(store: Store) -> int:
    """Regions that the region server serves."""
    server = store.bean(16030, "Hadoop:service=HBase,name=RegionServer,sub=Server")
    return int(server["regionCount"])


def hbase_serves(store: Store, regions: int) -> bool:
    """Whether the master is done with its start, and that many regions serve."""
    master = store.bean(16010, "Hadoop:service=HBase,name=Master,sub=Server")
    if not master.get("masterFinishedInitializationTime", 0):
        return False
    moving = store.page(16010, "/rits.jsp?format=json")["rits"]
    return not moving and region_count(store) >= regions


def wait(what: str, is_ready: Callable[[], bool]) -> float:
    """Seconds until it is ready; an end of this program when that takes too long."""
    start, problem = time.monotonic(), "it says that it is not"
    while True:
        try:
            if is_ready():
                return time.monotonic() - start
        except (NoAnswer, OSError, KeyError) as error:
            problem = str(error)
        if time.monotonic() - start > START_TIMEOUT_SECONDS:
            raise SystemExit(f"{what} is not ready: {problem}; see journalctl --unit 'sluice-*'")
        time.sleep(0.1)


def start_daemons(store: Store, regions: int) -> None:
    """Start all of them, each when what it needs serves."""
    evaluation_program.systemctl("start", store.units["zookeeper"])
    wait("ZooKeeper", lambda: zookeeper_serves(store))
    evaluation_program.systemctl("start", store.units["namenode"], store.units["datanode"])
    wait("HDFS", lambda: hdfs_serves(store))
    evaluation_program.systemctl("start", store.units["master"], store.units["regionserver"])
    wait("HBase", lambda: hbase_serves(store, regions))


def write_back(store: Store) -> None:
    """Leave nothing for the kernel to write to the measured disk while it is measured."""
    subprocess.run(["sync", "--file-system", store.directory], check=True)


def drop_pages_of_blocks(directory: Path) -> int:
    """Drop the clean pages of a DataNode's blocks; how many files there were.

    A bound on the page cache (`page_cache_bytes`) counts what is read from then on.
    """
    dropped = 0
    for path in directory.rglob("blk_*"):
        # A block may be gone, or have moved, since it was listed.
        with contextlib.suppress(FileNotFoundError), path.open("rb") as block:
            os.posix_fadvise(block.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            dropped += 1
    return dropped


def read_state() -> Store:
    """The store that `start` started."""
    return Store(evaluation_program.started(STATE))


def loaded() -> dict:
    """Whether there is a loaded copy for the run."""
    return {"loaded": Store(json.load(sys.stdin)).copy.exists()}


def start() -> dict:
    """Start HBase on an empty disk, from a loaded copy if there is one."""
    store = Store(json.load(sys.stdin))
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    began = time.monotonic()
    hbase_configuration.write(store.host, store.directory, store.settings, store.java_options)
    from_copy = prepare_data(store)
    seconds = time.monotonic() - began
    STATE.touch(mode=0o600)
    STATE.write_text(json.dumps(store.order))
    if not from_copy:
        format_name(store)
    # Of HBase itself: the catalogue, at least.
    start_daemons(store, json.loads((store.copy / REGIONS).read_text()) if from_copy else 1)
    write_back(store)
    drop_pages_of_blocks(store.directory / "data")
    return {"restored_from_copy": from_copy, "seconds": round(seconds, 3)}


def save() -> dict:
    """Stop all daemons in good order and keep their folders for later runs."""
    store = read_state()
    regions = region_count(store)
    for daemon in reversed(DAEMONS):
        evaluation_program.systemctl("stop", store.units[daemon])
    with evaluation_program.new_copy(store.copy) as incoming:
        incoming.mkdir()
        for folder in FOLDERS:
            evaluation_program.copy(store.directory / folder, incoming / folder)
        (incoming / REGIONS).write_text(json.dumps(regions))
    return {}


def settings() -> dict:
    """Settings as the region server reports them, those of Hadoop's other parts left out."""
    reported = read_state().page(16030, "/conf?format=json")["properties"]
    return {e["key"]: str(e["value"]) for e in reported if e["key"].startswith(REPORTED)}


def restart_killed() -> dict:
    """Kill the region server, start it, and wait until all regions serve again."""
    store = read_state()
    regions = region_count(store)
    evaluation_program.kill(store.units["regionserver"])
    evaluation_program.systemctl("start", store.units["regionserver"])
    return {"seconds_until_ready": wait("HBase", lambda: hbase_serves(store, regions))}


def stop() -> dict:
    """End HBase and leave its disk free; nothing is written back to what is not used again."""
    if STATE.exists():
        store = read_state()
        evaluation_program.kill(*store.units.values())
        for daemon in ("master", "regionserver"):
            evaluation_program.keep_journal(store.units[daemon], LOGS / f"{daemon}.log")
        STATE.unlink()
    return {"logs": str(LOGS)}


ACTIONS = {
    "loaded": loaded,
    "start": start,
    "save": save,
    "settings": settings,
    "restart-killed": restart_killed,
    "stop": stop,
}


if __name__ == "__main__":
    evaluation_program.run_action(ACTIONS)
