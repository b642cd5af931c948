"""A store whose compactions a peer does, under a load that goes on whatever is waited for."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agents import PATIENCE_SECONDS, wait_for
from commanded_store import CommandedStore
from sluice_evaluation.bench.plugin_socket import PluginSocket
from small_file_system import SmallFileSystem
from two_nodes import Nodes
from worker_in_job import WorkerInJob, stop_in_job

# Some megabytes a second: enough for a compaction every second.
BATCH_PAUSE_SECONDS = 0.01
WORKER_JOBS = "sluice_compaction_worker_jobs_total"


class Offloading:
    """Store, nodes, and the file system that they share."""

    def __init__(
        self,
        store: CommandedStore,
        nodes: Nodes,
        file_system: SmallFileSystem,
        wall_clock: Path,
        folder: Path,
    ) -> None:
        self.store = store
        self.nodes = nodes
        self.file_system = file_system
        self._wall_clock = wall_clock
        self._folder = folder

    def write_until(self, what: str, is_so: Callable[[], object]) -> None:
        """Write rows until something is so: none of these writes may fail."""
        end = time.monotonic() + PATIENCE_SECONDS
        self.store.write()
        while not is_so():
            assert time.monotonic() < end, f"waited {PATIENCE_SECONDS} s for {what}"
            time.sleep(BATCH_PAUSE_SECONDS)
            self.store.write()

    def stop_worker_in_job(self) -> WorkerInJob:
        """Write until a worker is in the middle of a job, and have it stand still there."""
        caught: list[WorkerInJob] = []

        def is_caught() -> bool:
            found = (stop_in_job(job) for job in self.nodes.jobs())
            caught.extend(worker for worker in found if worker)
            return bool(caught)

        self.write_until("a worker in the middle of a job", is_caught)
        return caught[0]

    def figures(self) -> dict[str, float]:
        """Give what the plug-in has counted since the store was opened."""
        with PluginSocket(self.nodes.sockets / "rocksdb" / "main.sock") as plugin:
            return plugin.snapshot()["figures"]

    def local_compactions(self) -> dict[str, float]:
        """Give how many compactions the store was left with, by reason."""
        counts = self.figures().items()
        return {name: count for name, count in counts if name.startswith("local_compactions")}

    @contextmanager
    def left_to_store(self, reason: str) -> Iterator[None]:
        """Write, in the end, until one more compaction was left to the store for this reason."""
        with self._counted(f"local_compactions_{reason.replace('-', '_')}_total"):
            yield

    @contextmanager
    def done_by_peer(self) -> Iterator[None]:
        """Write, in the end, until the peer has done one more."""
        with self._counted("remote_compactions_total"):
            yield

    @contextmanager
    def _counted(self, name: str) -> Iterator[None]:
        before = self.figures().get(name, 0)
        yield
        self.write_until(f"another of {name}", lambda: self.figures().get(name, 0) > before)

    def worker_jobs(self, result: str = "") -> float:
        """Give how many jobs the peer has ended since its agent was started, by result or all."""
        wanted = f'{WORKER_JOBS}{{result="{result}"}}' if result else WORKER_JOBS
        told = self.nodes.worker.metrics().items()
        return sum(count for name, count in told if name.startswith(wanted))

    def set_wall_clock(self, pid: int, ahead_seconds: int) -> None:
        """Put a process's clock ahead of the machine's; the process goes on if it was stopped."""
        subprocess.run([str(self._wall_clock), str(pid), str(ahead_seconds)], check=True)

    def check(self) -> None:
        """Check that all rows are as they were acknowledged, and that no job has left anything."""
        self.store.settle()
        self.wait_for_nothing_left()
        self.store.check()

    def wait_for_nothing_left(self) -> None:
        wait_for(
            "the end of what jobs have left",
            lambda: not self.nodes.left() and not self.nodes.workers(),
        )

    def log_ends(self, lines: int) -> str:
        """Give the last lines of each log."""
        logs = [self._folder / "store.log", *sorted(self._folder.glob("*/agent.log"))]
        ends = ((log, log.read_text().splitlines()[-lines:]) for log in logs)
        return "\n".join(
            "\n".join([f"{log.relative_to(self._folder)}:", *end]) for log, end in ends
        )

    def restart_store(self) -> None:
        """Close it as one does, and open it again."""
        self.store.close()
        self.wait_for_nothing_left()
        self.store.open()
