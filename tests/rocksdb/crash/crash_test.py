"""Upstream's crash test, with the compactions of its db_stress done by another node."""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from rocksdb_stage import Staged
from sluice_evaluation.bench.plugin_socket import PluginSocket
from two_nodes import Nodes
from worker_library import USE_PUT_ENTITY_ONE_IN

INSTANCE = "crash"
STARTED = re.compile(r"Running db_stress with pid=\d+")
LOCAL = re.compile("local_compactions_(.*)_total")
LOOK_SECONDS = 0.2
DISTURBED_SECONDS = 10
"""How long a lost peer, or a machine that stood still, has its effect: time-outs are of 5 s."""
STANDSTILL_SECONDS = 4
LONGEST_ROUND_SECONDS = 45
OVERTIME_SECONDS = 2400
"""What upstream's script may take beyond its duration: 900 s, or 1200 s for a last look."""

PINNED = {
    # The service is the plug-in's.
    "remote_compaction_worker_threads": 0,
    # Faults would be those of a file system that workers do not see.
    "metadata_read_fault_one_in": 0,
    "metadata_write_fault_one_in": 0,
    "read_fault_one_in": 0,
    "write_fault_one_in": 0,
    "open_metadata_read_fault_one_in": 0,
    "open_metadata_write_fault_one_in": 0,
    "open_read_fault_one_in": 0,
    "open_write_fault_one_in": 0,
    "sync_fault_injection": 0,
    # These stay local by rule.
    "enable_blob_files": 0,
    "enable_blob_direct_write": 0,
    "enable_blob_garbage_collection": 0,
    "allow_setting_blob_options_dynamically": 0,
    # It looks into the memory of db_stress.
    "enable_compaction_filter": 0,
    # No OPTIONS file says what its collector is to collect.
    "sqfc_version": 0,
    # Upstream's own remote compactions cannot have these either.
    "use_timed_put_one_in": 0,
    "inplace_update_support": 0,
    "test_secondary": 0,
    "mmap_read": 0,
    "use_put_entity_one_in": USE_PUT_ENTITY_ONE_IN,
    # Each has up to 4 parts: no more than there are slots.
    "max_background_compactions": 4,
    "max_key": 100000,
}
"""What db_stress is not left to choose, so that another node can do its compactions."""

OF_MODE = {
    "blackbox": {},
    # Upstream's numbers are for many processors.
    "whitebox": {"ops_per_thread": 2000, "random_kill_odd": 88889},
}

# Upstream removes the database in the end.
WRAPPER = """#!/bin/sh
case " $* " in
*" --destroy_db_and_exit=1 "*) find "{databases}" -name '.sluice-compaction-*' >>"{left}" ;;
esac
exec "{db_stress}" "$@"
"""


@dataclass
class Round:
    """One db_stress, from its start to its end."""

    figures: dict[str, int] = field(default_factory=dict)
    """The plug-in's, a fraction of a second before the end."""
    is_disturbed: bool = False
    """Whether the peer was lost meanwhile, or the machine stood still."""

    @property
    def remote(self) -> int:
        return self.figures.get("remote_compactions_total", 0)

    @property
    def local(self) -> dict[str, int]:
        """How many compactions were not done by the other node, by reason."""
        matches = ((LOCAL.fullmatch(each), count) for each, count in self.figures.items())
        return {match[1].replace("_", "-"): count for match, count in matches if match}


class CrashTest:
    """A run of db_crashtest.py, as it comes; the worker's agent is killed in every other round."""

    def __init__(self, mode: str, tree: Staged, nodes: Nodes, seconds: int) -> None:
        self.rounds: list[Round] = []
        self.strikes = 0
        self._nodes = nodes
        self._databases = nodes.database.parent
        self.log = self._databases.parent / "db_crashtest.log"
        self.left = self._databases.parent / "left"
        self._socket = nodes.sockets / "rocksdb" / f"{INSTANCE}.sock"
        self._latest_end = time.monotonic() + seconds + OVERTIME_SECONDS
        self._looked_at = time.monotonic()
        self._disturbed_until = 0.0
        self._started = self._start(mode, tree, seconds)
        self._reader = self.log.open(errors="replace")
        self._unread = ""

    def run(self) -> int:
        """Look on to its end; gives the script's exit status."""
        try:
            while self._started.poll() is None:
                assert time.monotonic() < self._latest_end, f"it does not end: {self.log}"
                self._look()
                time.sleep(LOOK_SECONDS)
        finally:
            self._kill()
        self._read_log()
        self._reader.close()
        return self._started.wait()

    def _start(self, mode: str, tree: Staged, seconds: int) -> subprocess.Popen:
        script = tree.build / "source" / "tools" / "db_crashtest.py"
        pinned = PINNED | OF_MODE[mode] | self._times(mode, seconds)
        arguments = [f"--{name}={value}" for name, value in pinned.items()]
        command = [sys.executable, "-u", script, mode, *arguments]
        with self.log.open("wb") as log:
            return subprocess.Popen(
                [*command, f"--stress_cmd={self._wrapper(tree)}"],
                env=os.environ | self._environment(tree),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @staticmethod
    def _times(mode: str, seconds: int) -> dict[str, int]:
        if mode == "whitebox":
            return {"duration": seconds}
        return {"duration": seconds, "interval": min(LONGEST_ROUND_SECONDS, max(10, seconds // 10))}

    def _wrapper(self, tree: Staged) -> Path:
        wrapper = self._databases.parent / "db_stress"
        db_stress = tree.prefix / "bin" / "db_stress"
        wrapper.write_text(
            WRAPPER.format(databases=self._databases, left=self.left, db_stress=db_stress)
        )
        wrapper.chmod(0o755)
        return wrapper

    def _environment(self, tree: Staged) -> dict[str, str]:
        # db_stress looks at each call to its file system, and passes it on as it is.
        more = f";instance={INSTANCE};plain_files=true}}"
        return {
            "TEST_TMPDIR": str(self._databases),
            "ROCKSDB_DB_OPTIONS_OVERRIDE": self._nodes.service_options().removesuffix("}") + more,
            # How the script asks whether sync points are compiled in.
            "DEBUG_LEVEL": "1" if tree.testing else "0",
        }

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._looked_at > STANDSTILL_SECONDS:
            self._disturbed_until = now + DISTURBED_SECONDS
        self._looked_at = now
        self._read_log()
        before = len(self.rounds)
        shown = self._figures()
        self._read_log()
        # Else it may have been the one before that answered.
        if shown and before and before == len(self.rounds):
            self._note(self.rounds[-1], shown)

    def _note(self, current: Round, shown: dict[str, int]) -> None:
        current.figures = shown
        current.is_disturbed |= self._looked_at < self._disturbed_until
        if current.remote > 0 and len(self.rounds) >= 2 * (self.strikes + 1):
            current.is_disturbed = True
            self._strike()

    def _strike(self) -> None:
        """Kill the worker's agent, and all that works for it, in the middle of jobs."""
        self._nodes.worker.kill()
        self._nodes.worker.start()
        self._nodes.wait_for_peer()
        self.strikes += 1
        self._looked_at = time.monotonic()
        self._disturbed_until = self._looked_at + DISTURBED_SECONDS

    def _figures(self) -> dict[str, int] | None:
        """Give those of the plug-in; nothing between two rounds, or before a database is open."""
        try:
            with PluginSocket(self._socket) as plugin:
                return plugin.snapshot()["figures"]
        except OSError:
            return None

    def _read_log(self) -> None:
        """Note the rounds that have begun."""
        self._unread += self._reader.read()
        *lines, self._unread = self._unread.split("\n")
        self.rounds += [Round() for line in lines if STARTED.match(line)]

    def _kill(self) -> None:
        """End db_stress, too, if the script does not come to its end."""
        if self._started.poll() is None:
            os.killpg(self._started.pid, signal.SIGKILL)
