#!/usr/bin/python3
"""Runs a node of Cassandra for one run of an experiment: an instance with a measured disk.

Actions: loaded, start, save, settings, restart-killed, stop, each on every host of the cluster in
turn. `loaded` and `start` read a JSON object from standard input: run (of the plan), node (name in
the inventory), nodes (all of the cluster in their turn, address by name), directory (the measured
disk), copies (loaded data), java_options. The last node that is started waits until the cluster is
whole. Each action prints a JSON object. It needs nothing but the standard library.

Settings of a run that begin with `cassandra.` are those of cassandra.yaml, with `plugin.` those of
the plug-in, without `sluice.`; the variant `stock` has none.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import cassandra_cluster
import evaluation_program

INSTANCE = "evaluation"
STATE = Path("/run/sluice-evaluation-cassandra.json")
LOGS = Path("/var/log/sluice-evaluation/cassandra")
CONFIGURATION = Path("/etc/sluice/cassandra") / INSTANCE
INSTALLED = Path("/opt/sluice/cassandra")
USER = "cassandra"
# The reader of the logs takes times for UTC.
UNIT = "[Service]\nEnvironment=TZ=UTC\n"
# What says where the rows are: copies of loaded data are kept apart by it.
LAYOUT = ("ycsb.cassandra.replicas",)


class Store:
    """Program, options and folders of a node in a run."""

    def __init__(self, order: dict):
        run = order["run"]
        self.order = order
        self.node = order["node"]
        self.settings = run["settings"]
        self.has_plugin = run["variant"] == "patched"
        build = run["version"] + ("" if self.has_plugin else "-stock")
        self.unit = f"sluice-cassandra-{build}@{INSTANCE}.service"
        self.program = INSTALLED / build / "bin" / "cassandra"
        form = [str(run["data"]["record_count"]), run["data"].get("records", "")]
        layout = [str(self.settings[name]) for name in LAYOUT if name in self.settings]
        # Both variants are one program, and read what either has written.
        copy = ["cassandra", run["version"], *filter(None, form), *layout]
        self.copy = Path(order["copies"]) / "-".join(copy) / self.node
        self.data = Path(order["directory"]) / "cassandra" / "node"

    @property
    def is_last(self) -> bool:
        """Whether all others were started before."""
        return self.node == list(self.order["nodes"])[-1]

    @property
    def address(self) -> str:
        """Where the node listens."""
        return self.order["nodes"][self.node]

    def of(self, prefix: str) -> dict:
        """The settings whose names begin so, without that."""
        begin = f"{prefix}."
        return {
            name.removeprefix(begin): value
            for name, value in self.settings.items()
            if name.startswith(begin)
        }

    def plugin(self) -> dict:
        """Properties of the plug-in; none without it."""
        return self.of("plugin") if self.has_plugin else {}

    def environment(self) -> dict[str, str]:
        """Of the node."""
        properties = [f"-Dsluice.{name}={value}" for name, value in self.plugin().items()]
        return {
            "CASSANDRA_DATA_DIR": str(self.data),
            "CASSANDRA_JMX_PORT": str(cassandra_cluster.MANAGEMENT_PORT),
            "CASSANDRA_PLUGIN": "sluice" if self.has_plugin else "",
            "CASSANDRA_JAVA_OPTIONS": " ".join([self.order["java_options"], *properties]),
        }


def read_state() -> Store:
    """The store that `start` started."""
    return Store(evaluation_program.started(STATE))


def write_configuration(store: Store) -> None:
    """Settings and environment of the instance, and what its unit needs."""
    CONFIGURATION.mkdir(parents=True, exist_ok=True)
    settings = cassandra_cluster.configuration(
        store.node, store.order["nodes"], store.of("cassandra")
    )
    # JSON is YAML.
    (CONFIGURATION / "cassandra.yaml").write_text(json.dumps(settings, indent=2) + "\n")
    lines = [f'{name}="{value}"\n' for name, value in store.environment().items()]
    (CONFIGURATION / "environment").write_text("".join(lines))
    evaluation_program.drop_ins(store.unit).mkdir(parents=True, exist_ok=True)
    (evaluation_program.drop_ins(store.unit) / "evaluation.conf").write_text(UNIT)
    evaluation_program.systemctl("daemon-reload")


def loaded() -> dict:
    """Whether there is a loaded copy for the run."""
    return {"loaded": Store(json.load(sys.stdin)).copy.exists()}


def start() -> dict:
    """Start the node on an empty disk, from a loaded copy if there is one."""
    order = json.load(sys.stdin)
    store = Store(order)
    if not store.program.exists():
        raise SystemExit(f"{store.program} is not there: install the package of this variant")
    from_copy = store.copy.exists()
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    began = time.monotonic()
    shutil.rmtree(store.data.parent, ignore_errors=True)
    write_configuration(store)
    evaluation_program.own(store.data.parent, USER, 0o750)
    if from_copy:
        evaluation_program.copy(store.copy, store.data)
    else:
        evaluation_program.own(store.data, USER, 0o750)
    seconds = time.monotonic() - began
    subprocess.run(["sync", "--file-system", store.data.parent], check=True)
    STATE.touch(mode=0o600)
    STATE.write_text(json.dumps(order))
    evaluation_program.systemctl("start", store.unit)
    # One after the other: each has to find those before it.
    cassandra_cluster.wait(
        f"{store.node} does not serve", lambda: cassandra_cluster.serves(store.address)
    )
    if store.is_last:
        cassandra_cluster.make_whole(order["nodes"], store.program, CONFIGURATION)
    return {"restored_from_copy": from_copy, "seconds": round(seconds, 3)}


def save() -> dict:
    """Stop the node in good order, and keep its data for later runs."""
    store = read_state()
    evaluation_program.systemctl("stop", store.unit)
    with evaluation_program.new_copy(store.copy) as incoming:
        evaluation_program.copy(store.data, incoming)
    return {}


def settings() -> dict:
    """Settings as the node reports them, and those of the plug-in."""
    store = read_state()
    found = cassandra_cluster.reported(store.address, store.program, CONFIGURATION)
    told = {f"cassandra.{name}": value for name, value in found.items()}
    return told | {f"plugin.{name}": str(value) for name, value in store.plugin().items()}


def restart_killed() -> dict:
    """What a node reads again when it is killed is not measured."""
    raise SystemExit("a killed node of Cassandra is not measured: leave redo_after_kill off")


def stop() -> dict:
    """End the node, keep its log, and leave the disk free."""
    if STATE.exists():
        store = read_state()
        shutil.rmtree(evaluation_program.drop_ins(store.unit), ignore_errors=True)
        evaluation_program.kill(store.unit)
        evaluation_program.keep_journal(store.unit, LOGS / f"{store.node}-journal.log")
        shutil.rmtree(store.data.parent, ignore_errors=True)
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
