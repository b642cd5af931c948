"""Runs a store's script with a log file and a line of progress."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from sluice_dist.errors import DistError

_LAST_LINES = 40


def run_script(
    script: Path, title: str, log: Path, environment: dict[str, str], prefix: tuple[str, ...] = ()
) -> float:
    """Run SCRIPT, under the command PREFIX if given; gives the seconds that it took.

    What it says goes to LOG. Raises DistError with the last lines of LOG if it fails.
    """
    status, seconds = run_logged(script, title, log, environment, prefix)
    if status == 0:
        return seconds
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-_LAST_LINES:])
    raise DistError(f"{title} failed (exit status {status}):\n{tail}", f"see {log}")


def run_logged(
    script: Path, title: str, log: Path, environment: dict[str, str], prefix: tuple[str, ...] = ()
) -> tuple[int, float]:
    """Run SCRIPT as `run_script` does; gives its exit status and the seconds that it took."""
    log.parent.mkdir(parents=True, exist_ok=True)
    print(f"{title}: log {log}", file=sys.stderr)
    start = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*prefix, str(script)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # A group of its own, so that an interrupt ends all of it.
            start_new_session=True,
        )
        try:
            status = _watch(process, title, start)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            raise
    seconds = time.monotonic() - start
    _say(f"{title}: {'done' if status == 0 else 'failed'} after {_clock(seconds)}\n")
    return status, seconds


def _watch(process: subprocess.Popen, title: str, start: float) -> int:
    while True:
        try:
            return process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            if sys.stderr.isatty():
                _say(f"{title}: {_clock(time.monotonic() - start)}")


def _say(text: str) -> None:
    start = "\r" if sys.stderr.isatty() else ""
    print(f"{start}{text}", end="", file=sys.stderr, flush=True)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}m{int(seconds) % 60:02}s"
