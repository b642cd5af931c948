#!/usr/bin/python3
"""Runs RocksDB for one run of an experiment, on a node: the database inside the load's own process.

Actions: loaded, start, save, settings, restart-killed, stop, client. `loaded` and `start` read a
JSON object from standard input: run (of the plan), node, directory (of the databases), copies
(loaded data), user (of the load) and java_options. `client ARGV...` becomes a program of the load
with the library, the options and the user of the run; each other action prints a JSON object. It
needs nothing but the standard library, and for a database in a pool the program sluice.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import evaluation_program

STATE = Path("/run/sluice-evaluation-rocksdb.json")
LOGS = Path("/var/log/sluice-evaluation/rocksdb")
INSTALLED = Path("/opt/sluice/rocksdb")
INSTANCE = "evaluation"
GROUP = "sluice"
# The reader of the logs needs the statistics, once a second, and one log for each opening.
FIXED = {"stats_dump_period_sec": 1, "max_log_file_size": 0, "keep_log_file_num": 1000}
RESULTS = "--results"
# With plugin.pool_volume the database is in a pool, in a volume of the node and the run: what a run
# has left whose agents failed is nobody's concern.
POOL_VOLUME = "plugin.pool_volume"
# Messages of such a database, which are read when its agents may be gone.
MESSAGES = Path("/var/log/sluice-evaluation/rocksdb-messages")
# Files that a database makes anew, and the one that it holds while it is open.
NOT_RESTORED = ("LOG", "LOCK")
# Loaded data is one copy for all runs of a variant: these are for the runs alone, or it would be
# as the first of them happens to want it.
NOT_WHILE_LOADING = ("family.disable_auto_compactions", "database.wal_dir", "plugin.")
# Folders of logs on a disk beside the measured one; they are made and removed with the database.
WAL_DIRECTORY = "database.wal_dir"
LOG_FOLDERS = (WAL_DIRECTORY, "plugin.wal_slow_directory")


class Store:
    """The library, options and folders of a run."""

    def __init__(self, order: dict):
        run = order["run"]
        self.order = order
        self.patched = run["variant"] == "patched"
        label = run["version"] + ("" if self.patched else "-stock")
        self.library = INSTALLED / label / "lib" / f"librocksdb-preload.so.{run['version']}"
        self.directory = Path(order["directory"]) / order["node"]
        data = [str(run["data"]["record_count"]), run["data"].get("records", "")]
        self.copy = Path(order["copies"]) / "-".join(["rocksdb", label, *filter(None, data)])
        self.settings = run["settings"]
        if order.get("is_loading", False):
            self.settings = {
                name: value
                for name, value in self.settings.items()
                if not name.startswith(NOT_WHILE_LOADING)
            }
        if POOL_VOLUME in self.settings:
            self.settings = self.settings | {
                POOL_VOLUME: order.get("pool_volume", self.settings[POOL_VOLUME]),
                "plugin.pool_local_directory": str(MESSAGES),
                "database.db_log_dir": str(MESSAGES),
            }

    @property
    def volume(self) -> str:
        """The volume of the pool that the database is in, or nothing."""
        return self.settings.get(POOL_VOLUME, "")

    @property
    def messages(self) -> Path:
        """Where the database writes what it does."""
        return MESSAGES if self.volume else self.directory

    def log_folders(self) -> list[Path]:
        """Where the run has logs besides the folder of the database."""
        return [Path(self.settings[name]) for name in LOG_FOLDERS if name in self.settings]

    def of(self, prefix: str) -> dict:
        """The settings whose names begin so, without that."""
        begin = f"{prefix}."
        return {
            name.removeprefix(begin): value
            for name, value in self.settings.items()
            if name.startswith(begin)
        }

    def properties(self) -> dict[str, str]:
        """What the load's program is told."""
        return {
            "rocksdb.directory": str(self.directory),
            "rocksdb.databaseoptions": option_string(self.of("database") | FIXED),
            "rocksdb.familyoptions": option_string(self.of("family")),
        } | {name: str(value) for name, value in self.of("binding").items()}

    def environment(self) -> dict[str, str]:
        """Of the load's program; the plug-in is in it where the run has options for it."""
        found = {
            "LANG": "C.UTF-8",
            "PATH": os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin"),
            # The reader of the logs takes their times for that.
            "TZ": "UTC",
            "LD_PRELOAD": str(self.library),
            "SLUICE_YCSB_JAVA_OPTIONS": self.order["java_options"],
        }
        if self.patched and (plugin := self.of("plugin")):
            options = {"id": "sluice", "instance": INSTANCE} | plugin
            service = f"compaction_service={{{option_string(options)}}}"
            found["ROCKSDB_DB_OPTIONS_OVERRIDE"] = service
        return found


def option_string(options: dict) -> str:
    """As RocksDB reads it."""
    return ";".join(f"{name}={value}" for name, value in options.items())


def read_state() -> Store:
    """The store that `start` started."""
    return Store(evaluation_program.started(STATE))


def own(path: Path, user: str) -> None:
    """Make a folder of the load's user, whose files the workers of other nodes can use."""
    path.mkdir(parents=True, exist_ok=True)
    shutil.chown(path, user, GROUP)
    path.chmod(0o2770)


def make_log_folders(store: Store) -> None:
    """Make them empty, on a disk that is there; a copy's logs go where the run has them."""
    for folder in store.log_folders():
        if not folder.parent.is_dir():
            raise SystemExit(f"{folder.parent} is not there: take an inventory with a slow disk")
        shutil.rmtree(folder, ignore_errors=True)
        own(folder, store.order["user"])
    if WAL_DIRECTORY in store.settings:
        for log in store.directory.glob("*.log"):
            shutil.move(log, store.settings[WAL_DIRECTORY])


def listed(volume: str, folder: Path) -> list[dict]:
    """What a folder of the pool has."""
    return json.loads(evaluation_program.pool("list", volume, str(folder), "-o", "json"))["entries"]


def put_into_pool(store: Store) -> None:
    """Make the volume, with the loaded data in the folder that the database is opened with."""
    evaluation_program.pool("create-volume", store.volume)
    for folder in [*reversed(store.directory.parents), store.directory][1:]:
        evaluation_program.pool("make-directory", store.volume, str(folder))
    for path in sorted(store.copy.iterdir()):
        if not path.name.startswith(NOT_RESTORED):
            evaluation_program.pool(
                "put", store.volume, str(path), str(store.directory / path.name)
            )
    # The load asks the node whether there is a database, and which families it has.
    own(store.directory, store.order["user"])
    for path in [store.copy / "CURRENT", *store.copy.glob("MANIFEST-*")]:
        evaluation_program.copy(path, store.directory)
    shutil.rmtree(MESSAGES, ignore_errors=True)
    own(MESSAGES, store.order["user"])


def newest_options(store: Store) -> str:
    """The options that the database was opened with last, as RocksDB has written them down."""
    if store.volume:
        entries = listed(store.volume, store.directory)
        files = sorted(e["name"] for e in entries if e["name"].startswith("OPTIONS-"))
    else:
        files = sorted(path.name for path in store.directory.glob("OPTIONS-*"))
    if not files:
        raise SystemExit(f"{store.directory} has no OPTIONS file: no load has opened the database")
    if not store.volume:
        return (store.directory / files[-1]).read_text()
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / files[-1]
        evaluation_program.pool("get", store.volume, str(store.directory / files[-1]), str(copied))
        return copied.read_text()


def loaded() -> dict:
    """Whether there is a loaded copy for the run."""
    return {"loaded": Store(json.load(sys.stdin)).copy.exists()}


def start() -> dict:
    """Make the folder of the database, from a loaded copy if there is one."""
    order = json.load(sys.stdin)
    if volume := order["run"]["settings"].get(POOL_VOLUME):
        order["pool_volume"] = f"{volume}-{order['node']}-{time.time_ns()}"
    store = Store(order)
    if not store.library.exists():
        raise SystemExit(f"{store.library} is not there: install the package of this variant")
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    began = time.monotonic()
    shutil.rmtree(store.directory, ignore_errors=True)
    own(store.directory.parent, store.order["user"])
    from_copy = store.copy.exists()
    # Who starts without the copy that there is to be makes it.
    is_loading = not from_copy and store.order["run"]["data"].get("restore_from_copy", False)
    if store.volume and not (from_copy or is_loading):
        raise SystemExit("a database in a pool begins with a copy: set restore_from_copy")
    if from_copy and store.volume:
        put_into_pool(store)
    elif from_copy:
        evaluation_program.copy(store.copy, store.directory)
        for log in store.directory.glob("LOG*"):
            log.unlink()
    else:
        own(store.directory, store.order["user"])
    # A load that is for all runs has its logs in the database.
    if not is_loading:
        make_log_folders(store)
    seconds = time.monotonic() - began
    subprocess.run(["sync", "--file-system", store.directory], check=True)
    STATE.touch(mode=0o600)
    STATE.write_text(json.dumps(store.order | {"is_loading": is_loading}))
    return {"restored_from_copy": from_copy, "seconds": round(seconds, 3)}


def save() -> dict:
    """Keep the database for later runs."""
    store = read_state()
    with evaluation_program.new_copy(store.copy) as incoming:
        evaluation_program.copy(store.directory, incoming)
    return {}


def settings() -> dict:
    """The options that the database was opened with last, by the prefix of what they are for."""
    store = read_state()
    found, section = {}, ""
    for line in map(str.strip, newest_options(store).splitlines()):
        if line.startswith("["):
            section = line.strip("[]").partition(" ")[0]
        elif "=" in line and section in ("DBOptions", "CFOptions"):
            name, _, value = line.partition("=")
            found[f"{'database' if section == 'DBOptions' else 'family'}.{name}"] = value
    return found | {f"plugin.{name}": str(value) for name, value in store.of("plugin").items()}


def restart_killed() -> dict:
    """There is no server to kill: the database ends with the load."""
    raise SystemExit("RocksDB has no server: leave redo_after_kill off")


def stop() -> dict:
    """Keep the logs, the oldest first, and leave the disk free."""
    if STATE.exists():
        store = read_state()
        # In a folder of messages their names begin with that of the database.
        old = sorted(store.messages.glob("*LOG.old.*"))
        for number, log in enumerate([*old, *store.messages.glob("*LOG")], 1):
            shutil.copyfile(log, LOGS / f"{store.order['node']}-{number:02d}.log")
        for folder in (store.directory, *store.log_folders()):
            shutil.rmtree(folder, ignore_errors=True)
        STATE.unlink()
        if store.volume:
            evaluation_program.remove_volume(store.volume)
    return {"logs": str(LOGS)}


def client(argv: list[str]) -> None:
    """Become a program of the load, as its user."""
    store = read_state()
    user = pwd.getpwnam(store.order["user"])
    if RESULTS in argv:
        own(Path(argv[argv.index(RESULTS) + 1]), user.pw_name)
    told = [word for pair in store.properties().items() for word in ("-p", "=".join(pair))]
    os.initgroups(user.pw_name, user.pw_gid)
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)
    # Workers of other nodes read by the group.
    os.umask(0o007)
    os.chdir("/")
    os.execvpe(argv[0], [*argv, *told], store.environment())


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
    if len(sys.argv) > 2 and sys.argv[1] == "client":
        client(sys.argv[2:])
    evaluation_program.run_action(ACTIONS, " | client ARGV...")


if __name__ == "__main__":
    main()
