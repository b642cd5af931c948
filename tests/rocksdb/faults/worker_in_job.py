"""A worker that was stopped while it writes a table: there is no moment at which its job ends."""

import contextlib
import os
import signal
from pathlib import Path

from agents import wait_for
from two_nodes import RunningJob


class WorkerInJob:
    """A process of `sluice-compact` that is in the middle of its job, and stands still there."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def go_on(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def is_gone(self) -> bool:
        return _states(self.pid) <= {"Z"}


def stop_in_job(job: RunningJob) -> WorkerInJob | None:
    """Stop the worker of a job while it writes a table; nothing if it does not write one."""
    if not _writes_table(job):
        return None
    worker = WorkerInJob(job.worker)
    try:
        os.kill(worker.pid, signal.SIGSTOP)
        wait_for("the worker's stop", lambda: _states(worker.pid) <= {"T", "Z"})
        if _writes_table(job):
            return worker
        worker.go_on()
    except ProcessLookupError:
        # It has ended meanwhile.
        return None
    return None


def _writes_table(job: RunningJob) -> bool:
    """Say whether a table of the output is open to be written."""
    files = Path(f"/proc/{job.worker}/fd")
    try:
        return any(_is_open_table(each, job.output) for each in files.iterdir())
    except (FileNotFoundError, ProcessLookupError):
        return False


def _is_open_table(file: Path, output: Path) -> bool:
    target = file.readlink()
    if target.parent != output or target.suffix != ".sst":
        return False
    (flags,) = (
        line.split()[1]
        for line in (file.parents[1] / "fdinfo" / file.name).read_text().splitlines()
        if line.startswith("flags:")
    )
    return int(flags, 8) & os.O_ACCMODE != os.O_RDONLY


def _states(pid: int) -> set[str]:
    """Give the letters of the states of a process's threads; none once it is gone."""
    letters = set()
    for thread in Path(f"/proc/{pid}/task").glob("*/stat"):
        # One that has ended is none.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            # After the name, which may hold anything, in parentheses.
            letters.add(thread.read_text().rpartition(")")[2].split()[0])
    return letters
