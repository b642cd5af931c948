#!/usr/bin/python3
"""Runs PostgreSQL for one run of an experiment, on the node and with a disk for measurements.

Actions: loaded, start, save, settings, restart-killed, stop. `loaded` and `start` read a JSON
object from standard input: run (of the plan), directory (the measured disk), copies (loaded data
directories), passwords (by role) and port. Each action prints a JSON object. It needs nothing but
the standard library, and for data in a pool the program sluice.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import evaluation_program

INSTANCE = "evaluation"
UNIT_DATA = Path("/var/lib/sluice/postgres") / INSTANCE
SOCKETS = Path("/run/sluice/postgres")
STATE = Path("/run/sluice-evaluation-postgres.json")
LOGS = Path("/var/log/sluice-evaluation/postgres")
START_TIMEOUT_SECONDS = 600.0
# With this setting the data is in a pool, in a volume of the node and the run, which is mounted
# here. What a run has left whose agents failed is nobody's concern.
POOL_VOLUME = "pool.volume"
POOL_MOUNT = Path("/srv/sluice-evaluation-pool")
POOL_UNIT = "sluice-evaluation-pool.service"

HBA = """local all postgres peer
local all sluice_agent peer map=sluice
local all all scram-sha-256
host all all samenet scram-sha-256
"""
IDENT = "sluice sluice sluice_agent\n"
# Agent and controller give orders; the load generator ends its load with a checkpoint.
ROLES = {
    "sluice_agent": "LOGIN IN ROLE pg_checkpoint, pg_monitor",
    "sluice_controller": "LOGIN IN ROLE pg_checkpoint, pg_monitor",
    "ycsb": "LOGIN IN ROLE pg_checkpoint",
}


class Store:
    """The build, the unit and the data directory of a run."""

    def __init__(self, order: dict):
        run = order["run"]
        self.order = order
        self.settings = {k: v for k, v in run["settings"].items() if k != POOL_VOLUME}
        self.is_patched = run["variant"] == "patched"
        label = run["version"] + ("" if self.is_patched else "-stock")
        self.programs = Path(f"/opt/sluice/postgres/{label}/bin")
        self.unit = f"sluice-postgres-{label}@{INSTANCE}.service"
        # What loaded data is copied from was not in a pool.
        self.volume = order.get("pool_volume", "")
        self.data = (POOL_MOUNT if self.volume else Path(order["directory"])) / "data"
        data = [str(run["data"]["record_count"]), run["data"].get("records", "")]
        self.copy = Path(order["copies"]) / "-".join(["postgres", label, *filter(None, data)])
        self.port = order["port"]


def as_postgres(*argv: str | Path, **options) -> subprocess.CompletedProcess:
    """Run a program as the server's user; an error ends this program with what it said."""
    done = subprocess.run(
        [str(word) for word in argv], user="postgres", group="postgres", extra_groups=[],
        cwd="/", capture_output=True, text=True, check=False, **options,
    )  # fmt: skip
    if done.returncode != 0:
        raise SystemExit(f"{argv[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return done


def sql(store: Store, statement: str) -> str:
    """Run SQL as the superuser over the local socket."""
    argv = [store.programs / "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", SOCKETS]
    done = as_postgres(*argv, "-p", str(store.port), "-d", "postgres", input=statement)
    return done.stdout


def quoted(value: object) -> str:
    """A value inside single quotes of the configuration file."""
    return str(value).replace("\\", "\\\\").replace("'", "''")


def configuration(store: Store) -> str:
    """The configuration file: what the run asks for, and what this program needs."""
    wanted = {
        "listen_addresses": "*",
        "unix_socket_directories": str(SOCKETS),
        **store.settings,
        "port": store.port,
        "log_destination": "stderr",
        "logging_collector": "off",
        "log_line_prefix": "%n ",
        "log_checkpoints": "on",
    }
    return "".join(f"{name} = '{quoted(value)}'\n" for name, value in wanted.items())


def wait_until_ready(store: Store) -> float:
    """Seconds until the server answers."""
    start = time.monotonic()
    argv = [store.programs / "pg_isready", "-q", "-h", SOCKETS, "-p", str(store.port)]
    while subprocess.run(argv, check=False).returncode != 0:
        if time.monotonic() - start > START_TIMEOUT_SECONDS:
            raise SystemExit(f"{store.unit} did not answer: see journalctl --unit {store.unit}")
        time.sleep(0.02)
    return time.monotonic() - start


def mount_pool(store: Store) -> None:
    """Make the volume and mount it, by a process that lasts until `stop`."""
    POOL_MOUNT.mkdir(parents=True, exist_ok=True)
    evaluation_program.pool("create-volume", store.volume)
    unit = ["systemd-run", "--quiet", "--collect", f"--unit={POOL_UNIT}", "--property=Type=notify"]
    subprocess.run([*unit, "sluice", "pool", "mount", store.volume, POOL_MOUNT], check=True)


def leave_pool(volume: str) -> None:
    """Take the mount away, and the volume with it."""
    try:
        evaluation_program.systemctl("stop", POOL_UNIT)
    except SystemExit as refusal:
        print(f"volume {volume} stays: {refusal}", file=sys.stderr)
        return
    evaluation_program.remove_volume(volume)


def prepare_data(store: Store) -> bool:
    """Put a data directory on the measured disk; whether it is a loaded copy."""
    evaluation_program.own(store.data.parent, "postgres", 0o755)
    from_copy = store.copy.exists()
    if from_copy:
        evaluation_program.copy(store.copy, store.data)
    else:
        options = ["--data-checksums", "--encoding=UTF8", "--locale=C.UTF-8", "--auth=peer"]
        as_postgres(store.programs / "initdb", "-D", store.data, *options)
    evaluation_program.own(UNIT_DATA.parent, "postgres", 0o750)
    UNIT_DATA.unlink(missing_ok=True)
    UNIT_DATA.symlink_to(store.data)
    (store.data / "postgresql.conf").write_text(configuration(store))
    (store.data / "pg_hba.conf").write_text(HBA)
    (store.data / "pg_ident.conf").write_text(IDENT)
    return from_copy


def write_back(store: Store) -> None:
    """Leave nothing to be written to the measured disks while they are measured."""
    if store.volume:
        # A sync of any file of a mounted pool takes all that was written before with it.
        subprocess.run(["sync", store.data / "postgresql.conf"], check=True)
        return
    subprocess.run(["sync", "--file-system", store.data], check=True)


def make_objects(store: Store) -> None:
    """Roles, database and extension, on a new data directory."""
    for role, attributes in ROLES.items():
        password = store.order["passwords"].get(role)
        secret = f" PASSWORD '{password}'" if password else ""
        sql(store, f"CREATE ROLE {role} {attributes}{secret}")
    sql(store, "CREATE DATABASE ycsb OWNER ycsb")
    if store.is_patched:
        sql(store, "CREATE EXTENSION sluice")
        sql(store, "ALTER ROLE sluice_agent SET sluice.statement_latency = off")


def read_state() -> Store:
    """The store that `start` started."""
    return Store(evaluation_program.started(STATE))


def loaded() -> dict:
    """Whether there is a loaded copy for the run."""
    return {"loaded": Store(json.load(sys.stdin)).copy.exists()}


def start() -> dict:
    """Start a server on an empty disk, from a loaded copy if there is one."""
    order = json.load(sys.stdin)
    store = Store(order)
    volume = order["run"]["settings"].get(POOL_VOLUME)
    is_loading = not store.copy.exists() and order["run"]["data"]["restore_from_copy"]
    if volume and not is_loading:
        store = Store(order | {"pool_volume": f"{volume}-{order['node']}-{time.time_ns()}"})
    STATE.touch(mode=0o600)
    STATE.write_text(json.dumps(store.order))
    LOGS.mkdir(parents=True, exist_ok=True)
    (LOGS / "postgres.log").unlink(missing_ok=True)
    began = time.monotonic()
    if store.volume:
        mount_pool(store)
    from_copy = prepare_data(store)
    seconds = time.monotonic() - began
    evaluation_program.systemctl("start", store.unit)
    wait_until_ready(store)
    if not from_copy:
        make_objects(store)
    write_back(store)
    return {"restored_from_copy": from_copy, "seconds": round(seconds, 3)}


def save() -> dict:
    """Stop the server and keep its data directory for later runs."""
    store = read_state()
    sql(store, "CHECKPOINT")
    evaluation_program.systemctl("stop", store.unit)
    with evaluation_program.new_copy(store.copy) as incoming:
        evaluation_program.copy(store.data, incoming)
    return {}


def settings() -> dict:
    """All settings as the server reports them."""
    return json.loads(sql(read_state(), "SELECT json_object_agg(name, setting) FROM pg_settings"))


def restart_killed() -> dict:
    """Kill the server, start it, and wait until it answers."""
    store = read_state()
    evaluation_program.kill(store.unit)
    evaluation_program.systemctl("start", store.unit)
    return {"seconds_until_ready": wait_until_ready(store)}


def stop() -> dict:
    """End the server and leave its disk free; nothing is written back to what is not used again."""
    if STATE.exists():
        store = read_state()
        evaluation_program.kill(store.unit)
        evaluation_program.keep_journal(store.unit, LOGS / "postgres.log")
        STATE.unlink()
        if store.volume:
            leave_pool(store.volume)
    UNIT_DATA.unlink(missing_ok=True)
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
