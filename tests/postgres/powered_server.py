"""PostgreSQL servers that can be ended as a loss of power ends them, and their load."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from cluster import Cluster, own, staged_prefix
from sluice_evaluation.bench.waiting import wait_until

CLIENTS = 4
SCALE = 2
TRANSACTION = Path(__file__).with_name("marked_transaction.sql")

SETTINGS = {
    "listen_addresses": "",
    "shared_preload_libraries": "sluice",
    "shared_buffers": "64MB",
    # No checkpoint but those that are ordered.
    "checkpoint_timeout": "1h",
    "max_wal_size": "1GB",
    "bgwriter_lru_maxpages": "0",
    "autovacuum": "off",
    "log_checkpoints": "on",
    "synchronous_commit": "on",
    "restart_after_crash": "off",
    "wal_keep_size": "512MB",
    "dynamic_shared_memory_type": "mmap",  # goes with the data
}


@functools.cache
def testing_prefix() -> Path:
    """Folder of the staged testing build."""
    return staged_prefix("17.11", "patched", testing=True)


def _children(parent: int) -> list[int]:
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    return [int(pid) for pid in children.split()]


@dataclass(frozen=True)
class Running:
    """What the machine's memory holds of a server."""

    postmaster: int
    children: list[int]
    shared_memory_id: int


class PoweredServer(Cluster):
    """A server with its socket and log in `folder`, and its data where a disk may lose it."""

    def __init__(self, prefix: Path, folder: Path, data: Path):
        super().__init__(prefix, folder)
        folder.mkdir()
        own(folder)
        self.data = data

    def adopt(self, origin: Path, settings: dict[str, str]) -> None:
        """Take over the data of a server that was stopped."""
        subprocess.run(["cp", "--archive", origin, self.data], check=True)
        self.configure({"unix_socket_directories": str(self.folder), **settings})
        subprocess.run(["sync", "--file-system", self.data], check=True)

    def said(self) -> str:
        """What the server has said so far."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def value(self, query: str):
        """First column of the first row."""
        with self.connect() as session:
            row = session.execute(query).fetchone()
            return row[0] if row else None

    def execute(self, *statements: str) -> None:
        """Run statements, each in a transaction of its own."""
        with self.connect() as session:
            for statement in statements:
                session.execute(statement)

    def wait_for(self, condition: str) -> None:
        """Wait until a condition holds on the progress row; TimeoutError."""
        wait_until(lambda: self.progress_is(condition), condition)

    def progress_is(self, condition: str) -> bool:
        """Whether a condition holds on the progress row."""
        return bool(self.value(f"SELECT {condition} FROM sluice.checkpoint_progress"))

    def running(self) -> Running | None:
        """What runs of it, None when nothing does."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
            postmaster, shared_memory_id = int(lines[0]), int(lines[6].split()[1])
            command = Path(f"/proc/{postmaster}/cmdline").read_bytes().decode()
        except (OSError, ValueError, IndexError):
            return None
        if str(self.data) not in command.split("\0"):  # ids are reused
            return None
        return Running(postmaster, _children(postmaster), shared_memory_id)

    def kill(self, running: Running | None) -> None:
        """End every process at once; `running` as it was before the disk failed."""
        if running is None:
            return
        pids = {running.postmaster, *running.children}
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            os.kill(running.postmaster, signal.SIGSTOP)  # it starts no more
            pids.update(_children(running.postmaster))
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        # Its lock file stands until the killed postmaster is reaped.
        wait_until(
            lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids),
            "the end of all server processes",
        )
        remove = ["ipcrm", "--shmem-id", str(running.shared_memory_id)]
        subprocess.run(remove, check=False, stderr=subprocess.DEVNULL)


class Load:
    """pgbench, with a log of what it was told is committed."""

    def __init__(self, server: PoweredServer):
        self._server = server
        command = [server.prefix / "bin/pgbench", "-n", "-c", str(CLIENTS), "-T", "3600"]
        command += ["-s", str(SCALE), "-f", TRANSACTION, "-l", "--log-prefix=commits"]
        command += ["-h", server.folder, "-U", "postgres", "postgres"]
        self._process = subprocess.Popen(
            [str(word) for word in command],
            cwd=server.folder,
            stdout=subprocess.DEVNULL,
            stderr=(server.folder / "pgbench.err").open("w"),
        )

    def wait_for_commits(self, commits: int) -> None:
        """Wait until so many more transactions are visible."""
        count = "SELECT count(*) FROM pgbench_history"
        target = self._server.value(count) + commits
        wait_until(lambda: self._server.value(count) >= target, f"{commits} more commits")

    def disconnect(self) -> None:
        """End it while the server runs on, with nothing in flight."""
        self._server.execute(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
            " WHERE application_name = 'pgbench'"
        )

    def acknowledged(self) -> Counter[int]:
        """By client: transactions whose COMMIT was answered, when all sessions have ended."""
        self._process.wait(timeout=60)
        log = self._server.folder / f"commits.{self._process.pid}"
        return Counter(int(line.split()[0]) for line in log.read_text().splitlines())

    def end(self) -> None:
        """End it, if it still runs."""
        self._process.kill()
        self._process.wait()
