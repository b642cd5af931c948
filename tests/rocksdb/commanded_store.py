"""A JVM with the jar as published and a preloaded library, which writes what it is told."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agents import PATIENCE_SECONDS
from row_history import Batch, RowHistory

_SOURCE = Path(__file__).with_name("CommandedStore.java")


def compile_store(jar: Path, folder: Path) -> list[str]:
    """Give the command of the program, compiled into FOLDER."""
    subprocess.run(["javac", "-cp", str(jar), "-d", str(folder), str(_SOURCE)], check=True)
    options = ["-Xmx128m", "-XX:+UseSerialGC"]
    return ["java", *options, "-cp", f"{jar}:{folder}", _SOURCE.stem]


class StoreEndedError(Exception):
    """The store has ended before it answered; the text has what it said."""


class CommandedStore:
    """One process at a time, on one database, with the history of its rows."""

    def __init__(
        self, command: list[str], database: Path, folder: Path, variables: dict[str, str]
    ) -> None:
        self._command = [*command, str(database)]
        self._folder = folder
        self._log = folder / "store.log"
        # The jar unpacks its library: to one place, else each store that is killed leaves a copy.
        self._variables = os.environ | {"ROCKSDB_SHAREDLIB_DIR": str(folder)} | variables
        self.history = RowHistory(seed=7)

    def open(self) -> None:
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                self._command,
                env=self._variables,
                # A JVM that crashes leaves its report there.
                cwd=self._folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        with self._within_patience():
            assert self._read_line() == "open"

    @property
    def pid(self) -> int:
        return self._process.pid

    def write(self) -> None:
        """Have it write another batch of the history, and acknowledge it."""
        batch = self.history.next_batch()
        self.write_rows(batch)
        self.history.acknowledge(batch)

    def write_rows(self, batch: Batch) -> None:
        """Have it write what the history does not know of."""
        assert self._ask(_write_lines(batch)) == ["written"]

    def settle(self) -> None:
        """Have it flush, and compact until there is nothing to compact."""
        assert self._ask("settle\n") == ["settled"]

    def check(self) -> None:
        """Have it read all; DamageError unless all is as it was acknowledged."""
        assert self._ask("verify\n") == ["background-errors 0"]
        rows = self._ask("scan\n", until="scanned")[:-1]
        self.history.check(dict(row.split(" ") for row in rows))

    def kill(self) -> None:
        """Kill it while it writes a batch, of which it may have written nothing or all."""
        batch = self.history.next_batch()
        with self._within_patience():
            self._send(_write_lines(batch))
        self._process.send_signal(signal.SIGKILL)
        answer, _ = self._process.communicate()
        if answer == "written\n":
            self.history.acknowledge(batch)
        else:
            self.history.leave_undecided(batch)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        self._process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WNOWAIT)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        self._process.communicate(timeout=PATIENCE_SECONDS)
        assert self._process.returncode == 0, self._log.read_text()

    def end(self) -> None:
        """End it in any case."""
        self._process.kill()
        self._process.communicate()

    def _ask(self, text: str, until: str = "") -> list[str]:
        """Give the lines of its answer, the last of which is UNTIL; without that one line."""
        with self._within_patience():
            self._send(text)
            lines = [self._read_line()]
            while until and lines[-1] != until:
                lines.append(self._read_line())
        return lines

    def _send(self, text: str) -> None:
        try:
            self._process.stdin.write(text)
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise StoreEndedError(self._log.read_text()) from error

    def _read_line(self) -> str:
        line = self._process.stdout.readline()
        if not line.endswith("\n"):
            raise StoreEndedError(self._log.read_text())
        return line.rstrip("\n")

    @contextmanager
    def _within_patience(self) -> Iterator[None]:
        """A store that does not answer is killed, which ends the wait for it."""
        patience = threading.Timer(PATIENCE_SECONDS, self._process.kill)
        patience.start()
        try:
            yield
        finally:
            patience.cancel()


def _write_lines(batch: Batch) -> str:
    rows = (key if value is None else f"{key} {value}" for key, value in batch.items())
    return "".join(f"{line}\n" for line in (f"write {len(batch)}", *rows))
