"""A node that is reached over SSH: one connection for its commands and for a socket of a store."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from sluice_evaluation.bench.waiting import wait_until

CONNECT_TIMEOUT_SECONDS = 120
COMMAND_TIMEOUT_SECONDS = 600
# A node that is slow for minutes is still there.
KEPT = ("ServerAliveInterval=15", "ServerAliveCountMax=40", "ControlPersist=no")


class NodeConnection:
    """The connection; it is made when it is first needed, and anew when it has broken."""

    def __init__(
        self, name: str, address: str, ssh_options: Sequence[str], remote_socket: str, folder: Path
    ):
        """Its files are in a folder with a short path: that of a socket has at most 108 bytes."""
        self.name = name
        self.address = address
        self._remote_socket = remote_socket
        self._local_socket = folder / f"{name}.sock"
        self._log = folder / f"{name}.log"
        self._control = folder / f"{name}.ssh"
        # Of an option that is there twice, SSH takes the first.
        self._ssh = ["ssh", "-o", "BatchMode=yes", "-S", str(self._control), *ssh_options]
        self._process: subprocess.Popen | None = None

    def close(self) -> None:
        """End it, if it is there."""
        if self._process:
            self._process.terminate()
            self._process.wait()

    @property
    def socket(self) -> Path:
        """The store's socket, as a file of this machine.

        Who connects to it while the store does not serve is turned away at the first request.
        """
        self._connect()
        return self._local_socket

    def run(
        self,
        *words: str,
        input: str = "",
        check: bool = True,
        timeout_seconds: float = COMMAND_TIMEOUT_SECONDS,
    ) -> str:
        """What a command prints there."""
        self._connect()
        done = subprocess.run(
            [*self._ssh, self.address, shlex.join(words)],
            input=input,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout_seconds,
            check=False,
        )
        if check and done.returncode:
            error = subprocess.CalledProcessError(done.returncode, [self.name, *words])
            error.add_note(f"{done.stdout[-4000:]}{done.stderr[-4000:]}")
            raise error
        return done.stdout

    def script(self, script: str, *arguments: str, input: str = "") -> str:
        """What a shell script prints there; it ends with the first command that fails."""
        return self.run("sh", "-euc", script, "sh", *arguments, input=input)

    def _connect(self) -> None:
        if self._process and self._process.poll() is None:
            return
        for left in (self._control, self._local_socket):
            left.unlink(missing_ok=True)
        options = [word for option in KEPT for word in ("-o", option)]
        forward = f"{self._local_socket}:{self._remote_socket}"
        command = [*self._ssh, *options, "-M", "-N", "-L", forward, self.address]
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # signals to the terminal are not for it
            )
        wait_until(self._is_there, f"a connection to {self.name}", 0.1, CONNECT_TIMEOUT_SECONDS)

    def _is_there(self) -> bool:
        if self._process.poll() is not None:
            said = self._log.read_text(errors="replace")[-4000:]
            raise RuntimeError(f"no connection to {self.name} at {self.address}:\n{said}")
        # The socket is there first; who is asked over it answers when the connection is.
        asked = [*self._ssh, "-O", "check", self.address]
        return subprocess.run(asked, capture_output=True, check=False).returncode == 0
