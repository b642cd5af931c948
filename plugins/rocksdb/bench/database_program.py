"""A program with databases that fills and compacts them when it is told to."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from sluice_evaluation.bench.command_line import Store
from sluice_evaluation.bench.staged import staged_prefix

STORE = Store("rocksdb", "RocksDB", "11.8.1")
SOURCE = Path(__file__).with_name("compacted_databases.cc")
WORKER = Path("bin/sluice-compact")
ENDING_SECONDS = 60


def patched_prefix(version: str) -> Path:
    """The staged tree with the plug-in; SystemExit when there is none."""
    return staged_prefix(STORE.name, version, "patched", str(WORKER))


def compiled_program(prefix: Path, folder: Path, source: Path = SOURCE) -> Path:
    """A program of one file in a folder, linked with the library of a staged tree."""
    program = folder / source.stem
    library = prefix / "lib"
    command = ["c++", "-std=c++20", "-O2", "-fno-rtti", "-Wall", "-Wextra", "-Werror"]
    command += ["-I", str(prefix / "include"), "-o", str(program), str(source)]
    command += ["-L", str(library), f"-Wl,-rpath,{library}", "-lrocksdb"]
    subprocess.run(command, check=True)
    return program


def plugin_options(**settings: object) -> str:
    """The option of a database that brings the plug-in with these settings."""
    given = ";".join(f"{name}={value}" for name, value in settings.items())
    return f"compaction_service={{id=sluice;{given}}}"


class DatabaseProgram:
    """The program with its databases open; they are closed with its context."""

    def __init__(
        self, program: Path, options: str, databases: Sequence[Path], under: Sequence[str] = ()
    ):
        """Start it, with one option string for all databases."""
        command = [*under, str(program), options, *map(str, databases)]
        self._running = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> DatabaseProgram:
        try:
            self._answer("opening")
        except SystemExit:
            self._running.communicate()
            raise
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        try:
            self._running.communicate(timeout=ENDING_SECONDS)
        finally:
            # It has ended, unless it could not close what it has open.
            self._running.kill()
            self._running.wait()
        if error is None and self._running.returncode:
            raise SystemExit(f"{SOURCE.stem} has failed to close its databases")

    def fill(self, database: Path, keys: int, value_bytes: int) -> float:
        """Seconds in which so many new values were put, and compacted to the last level."""
        return self._ask(f"fill {database} {keys} {value_bytes}")

    def compact(self, database: Path, first: int, end: int) -> float:
        """Seconds in which the tables with the keys from the first to the end were compacted."""
        return self._ask(f"compact {database} {first} {end}")

    @contextlib.contextmanager
    def reading(self, database: Path, keys: int, threads: int) -> Iterator[None]:
        """So many threads read random ones of the first keys, one after the other."""
        self._ask(f"read {database} {keys} {threads}")
        yield
        self._ask(f"read {database} {keys} 0")

    def reads(self, database: Path) -> int:
        """How many keys were read since the threads have begun."""
        return int(self._ask(f"count {database}"))

    def _ask(self, command: str) -> float:
        self._running.stdin.write(f"{command}\n")
        self._running.stdin.flush()
        return self._answer(command)

    def _answer(self, to: str) -> float:
        line = self._running.stdout.readline()
        if not line.endswith("\n"):
            raise SystemExit(f"{SOURCE.stem} has ended at `{to}`; what is above says why")
        return float(line)
