"""A server process of its own: started, stopped, killed and started again on the same data."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from sluice_evaluation.bench.waiting import wait_until

LOOPBACK = "127.0.0.1"
# Below those that the kernel gives to clients: a server that is down must find its port free.
PORTS = range(20_000, 32_000)


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface on which nothing listens."""
    found: list[int] = []
    for port in random.SystemRandom().sample(PORTS, len(PORTS)):
        if len(found) == count:
            break
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind((LOOPBACK, port))
            found.append(port)
    return found


class Daemon:
    """A process that serves until it is ended; what it says goes to a file."""

    def __init__(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], log: Path
    ):
        self.name = name
        self.log = log
        self._command = list(command)
        self._environment = dict(environment)
        self._process: subprocess.Popen | None = None
        self._said_before = 0

    def start(self, under: Sequence[str] = ()) -> None:
        """Start it, perhaps by a tool such as taskset; it is not waited for."""
        if self.running:
            raise RuntimeError(f"{self.name} runs already, as process {self.pid}")
        self._said_before = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("a") as output:
            self._process = subprocess.Popen(
                [*under, *self._command],
                env=self._environment,
                cwd=self.log.parent,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # signals to the terminal are not for it
            )

    @property
    def running(self) -> bool:
        """Whether it has been started and has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its process; RuntimeError when it has not been started."""
        if self._process is None:
            raise RuntimeError(f"{self.name} has not been started")
        return self._process.pid

    def stop(self, timeout_seconds: float = 60) -> None:
        """End it as an operator does; TimeoutError when it had to be killed."""
        if not self.running:
            return
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)
        try:
            self._process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            message = f"{self.name} did not stop within {timeout_seconds:.0f} s\n{self.log_end()}"
            raise TimeoutError(message) from None

    def kill(self) -> None:
        """End it, and what it has started, at once."""
        if not self.running:
            return
        self._signal(signal.SIGKILL)
        self._process.wait()

    def freeze(self) -> None:
        """Stop it where it stands."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if not self.running:
            return  # its id may be another's by now
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def said(self, text: str) -> bool:
        """Whether its log has a text since its last start."""
        return text in self.said_since_start()

    def said_since_start(self) -> str:
        """What its log has since its last start."""
        if not self.log.exists():
            return ""
        with self.log.open("rb") as log:
            log.seek(self._said_before)
            return log.read().decode(errors="replace")

    def wait_for(self, text: str, timeout_seconds: float = 180) -> None:
        """Wait until its log has a text since its last start; RuntimeError when it has ended."""

        def said_or_ended() -> bool:
            if self.said(text):
                return True
            if not self.running:
                raise RuntimeError(f"{self.name} has ended\n{self.log_end()}")
            return False

        what = f"'{text}' in {self.log}"
        wait_until(said_or_ended, what, interval_seconds=0.1, timeout_seconds=timeout_seconds)

    def log_end(self, lines: int = 40) -> str:
        """The last lines of its log."""
        if not self.log.exists():
            return f"{self.log} is not there"
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
