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
import os
import pwd
import shutil
import subprocess
import sys
import time
from pathlib import Path

import cassandra_cluster

INSTANCE = "evaluation"
STATE = Path("/run/sluice-evaluation-cassandra.json")
LOGS = Path("/var/log/sluice-evaluation/cassandra")
UNITS_OF_THIS_BOOT = Path("/run/systemd/system")
CONFIGURATION = Path("/etc/sluice/cassandra") / INSTANCE
INSTALLED = Path("/opt/sluice/cassandra")
USER = "cassandra"
SYSTEMCTL_TIMEOUT_SECONDS = 600.0
# On cgroup v1 systemd is not told that a killed unit is empty, and would wait for it without end.
KILLED_UNIT = "[Service]\nRestart=no\nTimeoutStopSec=1s\n"
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


def systemctl(*argv: str) -> str:
    """Run systemctl, give what it prints; an error or no end in time ends this program."""
    command = ["systemctl", *argv]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=SYSTEMCTL_TIMEOUT_SECONDS
        )
    except subprocess.TimeoutExpired as late:
        raise SystemExit(f"{' '.join(command)}: no end after {late.timeout:.0f} s") from late
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def own(path: Path) -> None:
    """Make a folder of the node's user."""
    path.mkdir(parents=True, exist_ok=True)
    entry = pwd.getpwnam(USER)
    os.chown(path, entry.pw_uid, entry.pw_gid)
    path.chmod(0o750)


def read_state() -> Store:
    """The store that `start` started."""
    if not STATE.exists():
        raise SystemExit("nothing was started: call start first")
    return Store(json.loads(STATE.read_text()))


def override(store: Store) -> Path:
    """Where settings of the unit are that are gone with the boot."""
    return UNITS_OF_THIS_BOOT / f"{store.unit}.d"


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
    override(store).mkdir(parents=True, exist_ok=True)
    (override(store) / "evaluation.conf").write_text(UNIT)
    systemctl("daemon-reload")


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
    own(store.data.parent)
    if from_copy:
        subprocess.run(["cp", "-a", store.copy, store.data], check=True)
    else:
        own(store.data)
    seconds = time.monotonic() - began
    subprocess.run(["sync", "--file-system", store.data.parent], check=True)
    STATE.touch(mode=0o600)
    STATE.write_text(json.dumps(order))
    systemctl("start", store.unit)
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
    systemctl("stop", store.unit)
    incoming = store.copy.parent / f"{store.copy.name}.incoming"
    for folder in (incoming, store.copy):
        shutil.rmtree(folder, ignore_errors=True)
    incoming.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", store.data, incoming], check=True)
    incoming.rename(store.copy)
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


def kill(store: Store) -> None:
    """Kill every process of the unit, and wait until systemd takes it for stopped."""
    killed = override(store) / "killed.conf"
    killed.parent.mkdir(parents=True, exist_ok=True)
    killed.write_text(KILLED_UNIT)
    try:
        systemctl("daemon-reload")
        if systemctl("show", "--property=MainPID", "--value", store.unit).strip() != "0":
            systemctl("kill", "--signal=KILL", store.unit)
        systemctl("stop", store.unit)
    finally:
        shutil.rmtree(override(store))
        systemctl("daemon-reload")


def keep_log(store: Store) -> None:
    """The journal, which has all that the node says."""
    argv = ["journalctl", "--boot", "--output=cat", f"--unit={store.unit}"]
    with (LOGS / f"{store.node}-journal.log").open("wb") as journal:
        subprocess.run(argv, check=True, stdout=journal)


def stop() -> dict:
    """End the node, keep its log, and leave the disk free."""
    if STATE.exists():
        store = read_state()
        kill(store)
        keep_log(store)
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


def main() -> None:
    """Run the action that the command line names."""
    if len(sys.argv) != 2 or sys.argv[1] not in ACTIONS:
        raise SystemExit(f"usage: evaluation_store.py {{{','.join(ACTIONS)}}}")
    print(json.dumps(ACTIONS[sys.argv[1]]()))


if __name__ == "__main__":
    main()
