"""What the programs have in common that run a store for one run of an experiment.

Installed beside them, on the hosts of the store. It needs nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

# Drop-ins here are gone with the boot.
UNITS_OF_THIS_BOOT = Path("/run/systemd/system")
# A stop in good order writes all that is dirty, on a slow disk.
SYSTEMCTL_TIMEOUT_SECONDS = 1500.0
# On cgroup v1 systemd is not told that a killed unit is empty, and would wait for it without end.
KILLED_UNIT = "[Service]\nRestart=no\nTimeoutStopSec=1s\n"


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


def drop_ins(unit: str) -> Path:
    """The folder of settings of a unit that are gone with the boot."""
    return UNITS_OF_THIS_BOOT / f"{unit}.d"


def _runs(unit: str) -> bool:
    return systemctl("show", "--property=MainPID", "--value", unit).strip() != "0"


def kill(*units: str) -> None:
    """Kill every process of units, and wait until systemd takes them for stopped.

    One that failed, and is about to be started again, is stopped too.
    """
    killed = [drop_ins(unit) / "killed.conf" for unit in units]
    for path in killed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(KILLED_UNIT)
    try:
        systemctl("daemon-reload")
        if running := [unit for unit in units if _runs(unit)]:
            systemctl("kill", "--signal=KILL", *running)
        systemctl("stop", *units)
    finally:
        for path in killed:
            path.unlink()
            # The folder may have settings of others.
            with contextlib.suppress(OSError):
                path.parent.rmdir()
        systemctl("daemon-reload")


def keep_journal(unit: str, log: Path) -> None:
    """Copy what a unit has said in this boot, which is of this run: its disk was made before it."""
    subprocess.run(["journalctl", "--sync"], check=True)
    argv = ["journalctl", "--boot", "--output=cat", f"--unit={unit}"]
    with log.open("wb") as journal:
        subprocess.run(argv, check=True, stdout=journal)


def own(path: Path, user: str, mode: int) -> None:
    """Make a folder of a daemon's user."""
    path.mkdir(parents=True, exist_ok=True)
    entry = pwd.getpwnam(user)
    os.chown(path, entry.pw_uid, entry.pw_gid)
    path.chmod(mode)


@contextlib.contextmanager
def new_copy(copy: Path) -> Iterator[Path]:
    """A place that is the copy when all has come there, and one of before is no more."""
    incoming = copy.parent / f"{copy.name}.incoming"
    shutil.rmtree(incoming, ignore_errors=True)
    incoming.parent.mkdir(parents=True, exist_ok=True)
    yield incoming
    shutil.rmtree(copy, ignore_errors=True)
    incoming.rename(copy)


def copy(source: Path, target: Path) -> None:
    """Copy a file or folder with owners, rights and times."""
    subprocess.run(["cp", "-a", source, target], check=True)


def pool(*words: str) -> str:
    """What a command about the pool prints; an error ends this program with what it said."""
    done = subprocess.run(["sluice", "pool", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"sluice pool {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def remove_volume(volume: str) -> None:
    """Remove a volume; where the agents have failed it stays, and the next run has another one."""
    try:
        pool("remove", "--recursive", volume, "/")
        pool("remove-volume", volume)
    except SystemExit as refusal:
        print(f"volume {volume} stays: {refusal}", file=sys.stderr)


def started(state: Path) -> dict:
    """The order by which a store was started."""
    if not state.exists():
        raise SystemExit("nothing was started: call start first")
    return json.loads(state.read_text())


def run_action(actions: dict[str, Callable[[], dict]], further_usage: str = "") -> None:
    """Run the action that the command line names, and print what it gives."""
    if len(sys.argv) != 2 or sys.argv[1] not in actions:
        raise SystemExit(f"usage: evaluation_store.py {{{','.join(actions)}}}{further_usage}")
    print(json.dumps(actions[sys.argv[1]]()))
