#!/usr/bin/python3
"""Runs a node of Ignite for one run of an experiment: an instance of its own, with a measured disk.

Actions: loaded, start, save, settings, restart-killed, stop, each on every host of the cluster in
turn. `loaded` and `start` read a JSON object from standard input: run (of the plan), node (name in
the inventory), nodes (all of the cluster in their turn, address by name), directory (the measured
disk), copies (loaded data), rocksdb_version, java_options. The last node that is started makes the
cluster, unless its data is that of one, and waits until it is whole. Each action prints a JSON
object. It needs nothing but the standard library, and for tables in a pool the program sluice.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import evaluation_program
import ignite_cluster
import ignite_pool

INSTANCE = "evaluation"
STATE = Path("/run/sluice-evaluation-ignite.json")
LOGS = Path("/var/log/sluice-evaluation/ignite")
CONFIGURATION = Path("/etc/sluice/ignite") / INSTANCE
INSTALLED = Path("/opt/sluice")
# State of the node and metadata of the cluster, which are not on the measured disk; nor are
# messages of databases in a pool, which are read when its agents may be gone.
DATA = Path("/var/lib/sluice/ignite") / INSTANCE
MESSAGES = DATA / "messages"
USER = "ignite"
# Sockets of the plug-in and the agent are the group's; the reader of the logs takes times for UTC.
UNIT = "[Service]\nSupplementaryGroups=sluice\nEnvironment=TZ=UTC\n"
POOL_VOLUME = "plugin.pool_volume"
# What says where the rows are: copies of loaded data are kept apart by it.
LAYOUT = ("ycsb.ignite.partitions", "ycsb.ignite.partitionshares", "ycsb.ignite.placement")


class Store:
    """The library, options and folders of a node in a run."""

    def __init__(self, order: dict):
        run = order["run"]
        self.order = order
        self.node = order["node"]
        self.settings = run["settings"]
        self.patched = run["variant"] == "patched"
        self.unit = f"sluice-ignite-{run['version']}@{INSTANCE}.service"
        self.program = INSTALLED / "ignite" / run["version"] / "bin" / "ignite"
        library = order["rocksdb_version"]
        build = library + ("" if self.patched else "-stock")
        self.library = INSTALLED / "rocksdb" / build / f"lib/librocksdb-preload.so.{library}"
        form = [str(run["data"]["record_count"]), run["data"].get("records", "")]
        layout = [str(self.settings[name]) for name in LAYOUT if name in self.settings]
        copy = ["ignite", run["version"], build, *filter(None, form), *layout]
        self.copy = Path(order["copies"]) / "-".join(copy) / self.node
        self.partitions = Path(order["directory"]) / "ignite" / "partitions"

    @property
    def is_last(self) -> bool:
        """Whether all others were started before."""
        return self.node == list(self.order["nodes"])[-1]

    @property
    def volume(self) -> str:
        """The volume of the pool that tables and logs are in, or nothing."""
        return self.order.get("pool_volume", "")

    def of(self, prefix: str) -> dict:
        """The settings whose names begin so, without that."""
        begin = f"{prefix}."
        return {
            name.removeprefix(begin): value
            for name, value in self.settings.items()
            if name.startswith(begin)
        }

    def plugin(self) -> dict:
        """Options of the plug-in; none while data is loaded, which is for all runs of a variant."""
        if not self.patched or self.order.get("is_loading", False):
            return {}
        in_pool = {"pool_volume": self.volume, "pool_local_directory": str(DATA)}
        return self.of("plugin") | (in_pool if self.volume else {})

    def environment(self) -> dict[str, str]:
        """Of the node; without options for it there is no plug-in."""
        found = {
            "IGNITE_NODE_NAME": self.node,
            "IGNITE_DATA_DIR": str(DATA),
            "IGNITE_JAVA_OPTIONS": self.order["java_options"],
            "LD_PRELOAD": str(self.library),
        }
        if plugin := self.plugin():
            options = {"id": "sluice", "instance": INSTANCE} | plugin
            databases = {"compaction_service": f"{{{option_string(options)}}}"}
            if self.volume:
                databases["db_log_dir"] = str(MESSAGES)
            found["ROCKSDB_DB_OPTIONS_OVERRIDE"] = option_string(databases)
        return found


def option_string(options: dict) -> str:
    """As RocksDB reads it."""
    return ";".join(f"{name}={value}" for name, value in options.items())


def read_state() -> Store:
    """The store that `start` started."""
    return Store(evaluation_program.started(STATE))


def write_configuration(store: Store) -> None:
    """Settings and environment of the instance, and what its unit needs."""
    CONFIGURATION.mkdir(parents=True, exist_ok=True)
    nodes = store.order["nodes"]
    settings = ignite_cluster.configuration(
        nodes[store.node], list(nodes.values()), store.partitions, store.of("profile")
    )
    (CONFIGURATION / "ignite-config.conf").write_text(json.dumps(settings, indent=2) + "\n")
    lines = [f'{name}="{value}"\n' for name, value in store.environment().items()]
    (CONFIGURATION / "environment").write_text("".join(lines))
    evaluation_program.drop_ins(store.unit).mkdir(parents=True, exist_ok=True)
    (evaluation_program.drop_ins(store.unit) / "evaluation.conf").write_text(UNIT)
    evaluation_program.systemctl("daemon-reload")


def restore(store: Store) -> None:
    """Put the loaded data where the run has it."""
    evaluation_program.copy(store.copy / "node", DATA)
    if store.volume:
        ignite_pool.put(store.volume, store.copy / "partitions", store.partitions)
    else:
        evaluation_program.copy(store.copy / "partitions", store.partitions)
        for log in store.partitions.rglob("LOG*"):
            log.unlink()


def clear(store: Store) -> None:
    """Leave nothing of the node's data."""
    for folder in (DATA, store.partitions.parent):
        shutil.rmtree(folder, ignore_errors=True)


def loaded() -> dict:
    """Whether there is a loaded copy for the run."""
    return {"loaded": Store(json.load(sys.stdin)).copy.exists()}


def start() -> dict:
    """Start the node on an empty disk, from a loaded copy if there is one."""
    order = json.load(sys.stdin)
    store = Store(order)
    if not store.library.exists():
        raise SystemExit(f"{store.library} is not there: install the package of this variant")
    from_copy = store.copy.exists()
    # Who starts without the copy that there is to be makes it.
    order["is_loading"] = not from_copy and order["run"]["data"].get("restore_from_copy", False)
    volume = store.settings.get(POOL_VOLUME)
    if volume and not (from_copy or order["is_loading"]):
        raise SystemExit("tables in a pool begin with a copy: set restore_from_copy")
    if volume and from_copy:
        # What a run has left whose agents failed is nobody's concern.
        order["pool_volume"] = f"{volume}-{store.node}-{time.time_ns()}"
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    began = time.monotonic()
    clear(store)
    write_configuration(store)
    evaluation_program.own(store.partitions.parent, USER, 0o750)
    if from_copy:
        restore(store)
    else:
        evaluation_program.own(DATA, USER, 0o750)
    evaluation_program.own(MESSAGES, USER, 0o750)
    seconds = time.monotonic() - began
    subprocess.run(["sync", "--file-system", store.partitions.parent], check=True)
    STATE.touch(mode=0o600)
    STATE.write_text(json.dumps(order))
    evaluation_program.systemctl("start", store.unit)
    if store.is_last:
        ignite_cluster.make_whole(order["nodes"], store.program, USER, is_new=not from_copy)
    return {"restored_from_copy": from_copy, "seconds": round(seconds, 3)}


def save() -> dict:
    """Stop the node in good order, and keep its data for later runs."""
    store = read_state()
    evaluation_program.systemctl("stop", store.unit)
    with evaluation_program.new_copy(store.copy) as incoming:
        incoming.mkdir()
        for name, folder in (("node", DATA), ("partitions", store.partitions)):
            evaluation_program.copy(folder, incoming / name)
        shutil.rmtree(incoming / "node" / MESSAGES.name, ignore_errors=True)
    return {}


def settings() -> dict:
    """Settings as the node reports them, and those of the plug-in."""
    store = read_state()
    found = ignite_cluster.reported(store.order["nodes"][store.node])
    return found | {f"plugin.{name}": str(value) for name, value in store.plugin().items()}


def restart_killed() -> dict:
    """What a node reads again when it is killed is not measured."""
    raise SystemExit("a killed node of Ignite is not measured: leave redo_after_kill off")


def keep_logs(store: Store) -> None:
    """Messages of the databases with tables and logs, the oldest first, and the journal."""
    if store.volume:
        name = str(store.partitions).strip("/").replace("/", "_")
        logs = [*sorted(MESSAGES.glob(f"{name}*LOG.old.*")), *sorted(MESSAGES.glob(f"{name}*LOG"))]
    else:
        found = sorted(store.partitions.rglob("LOG*"))
        # A database's former ones come before the one that it has written last.
        logs = sorted(found, key=lambda path: (path.parent, path.name == "LOG", path.name))
    for number, log in enumerate(logs, 1):
        shutil.copyfile(log, LOGS / f"{store.node}-{number:02d}.log")
    evaluation_program.keep_journal(store.unit, LOGS / f"{store.node}-journal.log")


def stop() -> dict:
    """End the node, keep its logs, and leave the disk free."""
    if STATE.exists():
        store = read_state()
        shutil.rmtree(evaluation_program.drop_ins(store.unit), ignore_errors=True)
        evaluation_program.kill(store.unit)
        keep_logs(store)
        clear(store)
        STATE.unlink()
        if store.volume:
            evaluation_program.remove_volume(store.volume)
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
