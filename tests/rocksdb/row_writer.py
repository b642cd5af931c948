"""A process that writes rows to a database, and has said which of them must survive."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

from sluice_evaluation.bench.waiting import wait_until

PATIENCE_SECONDS = 120


class RowWriter:
    """It writes until its context ends, or it is killed; at an error it ends, or PERSISTS."""

    def __init__(
        self, program: Path, options: str, database: Path, log: Path, *, persists: bool = False
    ):
        self._log = log
        with log.open("a") as said:
            self._running = subprocess.Popen(
                [program, options, database, "persist" if persists else "write"],
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
            )
        self.acknowledged = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def _read(self) -> None:
        assert self._running.stdout is not None
        for line in self._running.stdout:
            self.acknowledged = int(line)

    def wait_for(self, is_so: Callable[[], bool], what: str) -> None:
        """Wait until something is so, while it writes."""

        def is_so_and_it_lives() -> bool:
            assert self._running.poll() is None, self._log.read_text()
            return is_so()

        wait_until(is_so_and_it_lives, what)

    def wait_for_rows(self, count: int) -> None:
        """Wait until so many more rows have been acknowledged."""
        wanted = self.acknowledged + count
        self.wait_for(lambda: self.acknowledged >= wanted, f"row {wanted}")

    def kill(self) -> None:
        """End it by SIGKILL; what it had said before that is known then."""
        self._running.kill()
        self._running.wait(PATIENCE_SECONDS)
        self._reader.join(PATIENCE_SECONDS)


def checked_rows(program: Path, options: str, database: Path) -> int:
    """The last row of a database that opens and has all rows before it; else AssertionError."""
    done = subprocess.run(
        [program, options, database, "check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)
