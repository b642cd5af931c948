"""Upstream's db_bench of a staged tree, on databases of its own, timed in turns."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sluice_evaluation.bench.pinning import pinned, processors
from sluice_evaluation.bench.processor_time import processor_seconds
from sluice_evaluation.bench.turns import TurnTaker, memory_folder
from sluice_evaluation.bench.waiting import wait_until

PROGRAM = Path("bin/db_bench")
LIBRARIES = Path("lib")
KEYS = 1_000_000
OPTIONS = [
    f"--num={KEYS}",
    "--value_size=100",
    "--threads=1",
    # Small, so that there are many flushes and compactions, and none decides a round.
    f"--write_buffer_size={4 << 20}",
    f"--target_file_size_base={4 << 20}",
    f"--max_bytes_for_level_base={16 << 20}",
]
EXISTING = "--use_existing_db=1"
# What a writer beside a reader may do, so that most of the processor is the reader's.
WRITER_BYTES_PER_SECOND = 2 << 20
BENCHMARKS = {
    "fillrandom": [],
    "readrandom": [EXISTING],
    "readwhilewriting": [EXISTING, f"--benchmark_write_rate_limit={WRITER_BYTES_PER_SECOND}"],
}
OVERRIDE = "ROCKSDB_DB_OPTIONS_OVERRIDE"
ACCEPTED = f"{OVERRIDE} (ignored unless OK): OK"
# db_bench says so on standard error after its first hundred operations.
HAS_BEGUN = b"... finished "
LOOK_SECONDS = 0.001


@dataclass(frozen=True)
class Arm:
    """What is compared: the variant of a staged tree, and options of its databases."""

    variant: str
    override: str = ""


def environment(override: str) -> dict[str, str]:
    """Variables of a program whose databases get these options."""
    kept = {name: value for name, value in os.environ.items() if name != OVERRIDE}
    return {**kept, OVERRIDE: override} if override else kept


def command(programs: Path, database: Path, benchmarks: str, *options: str) -> list[str]:
    """Runs benchmarks on a database."""
    named = [f"--benchmarks={benchmarks}", f"--db={database}"]
    return [str(programs / PROGRAM), *named, *OPTIONS, *options]


def operations_done(output: str, benchmark: str) -> int:
    """Operations that db_bench says a benchmark has done; ValueError when it says none."""
    found = re.search(rf"^{benchmark} +:.* (\d+) operations;", output, re.M)
    if not found or int(found[1]) == 0:
        raise ValueError(f"db_bench tells of no operation of {benchmark}:\n{output}")
    return int(found[1])


def check_override(database: Path, override: str) -> None:
    """SystemExit when a database has not taken the options that it was given, or has taken any."""
    log = (database / "LOG").read_text(errors="replace")
    if (ACCEPTED in log) != bool(override):
        raise SystemExit(f"{database}: options are not those that were given: see its LOG")


@contextlib.contextmanager
def copied_programs(prefix: Path) -> Iterator[Path]:
    """A copy of what is run of a staged tree, in memory that no other copy shares."""
    with tempfile.TemporaryDirectory(prefix="sluice-programs-", dir=memory_folder()) as name:
        folder = Path(name)
        (folder / PROGRAM.parent).mkdir()
        shutil.copy2(prefix / PROGRAM, folder / PROGRAM)
        shutil.copytree(prefix / LIBRARIES, folder / LIBRARIES, symlinks=True)
        yield folder


def make_database(programs: Path, database: Path) -> None:
    """Each key once, in tables of the last level."""
    filling = command(programs, database, "filluniquerandom,compact")
    subprocess.run(filling, check=True, env=environment(""), capture_output=True)


class Load:
    """db_bench at work, stopped but in its turns; ended with the context at the latest."""

    def __init__(
        self,
        programs: Path,
        database: Path,
        benchmark: str,
        override: str,
        seed: int,
        lasts_seconds: int,
    ):
        """Start it; it ends by its own clock."""
        self._database = database
        self._benchmark = benchmark
        self._override = override
        self._messages = database.with_name(f"{database.name}.messages")
        timed = [f"--duration={lasts_seconds}", f"--seed={seed}", *BENCHMARKS[benchmark]]
        with self._messages.open("wb") as messages:
            self._running = subprocess.Popen(
                [*pinned(processors()[0]), *command(programs, database, benchmark, *timed)],
                stdout=subprocess.PIPE,
                stderr=messages,
                text=True,
                env=environment(override),
            )
        self.taker = TurnTaker(self._running, lasts_seconds)

    def __enter__(self) -> Load:
        wait_until(self._has_begun, f"operations of {self._benchmark}", LOOK_SECONDS)
        self.taker.connected(has_worked=False)
        self._used_before = processor_seconds(self._running.pid)
        return self

    def __exit__(self, *_: object) -> None:
        # It may be stopped, and would stay so for ever.
        self._running.kill()
        self._running.wait()
        self._running.stdout.close()

    def _has_begun(self) -> bool:
        if self._running.poll() is not None:
            raise SystemExit(f"db_bench has ended:\n{self._messages.read_text()}")
        return HAS_BEGUN in self._messages.read_bytes()

    def end(self) -> tuple[float, float]:
        """Operations per second of its turns, and processor seconds per operation."""
        used = processor_seconds(self._running.pid) - self._used_before
        self.taker.wait_for_its_clock()
        output, _ = self._running.communicate()
        if self._running.returncode:
            raise SystemExit(f"db_bench failed:\n{self._messages.read_text()}")
        check_override(self._database, self._override)
        count = operations_done(output, self._benchmark)
        return count / self.taker.active_seconds, used / count


def with_databases(
    folder: Path, arms: Sequence[str], benchmark: str, made: Path
) -> dict[str, Path]:
    """By arm, where its database is or will be: a copy of the one that was made, or none yet."""
    databases = {arm: folder / f"{benchmark}-{number}" for number, arm in enumerate(arms)}
    if EXISTING in BENCHMARKS[benchmark]:
        for database in databases.values():
            shutil.copytree(made, database)
    return databases
