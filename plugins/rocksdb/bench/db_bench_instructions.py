"""Instructions that db_bench executes per operation, counted by valgrind's callgrind.

The count of an operation is the difference of a long and a short run, over the difference of their
operations: start and end cancel. What would count differently by chance is kept alike: random
numbers are those of the repetition in all arms, there is one client, and no compaction begins by
itself, since when it would is a matter of time. `fill and compact` flushes and compacts all that
was put, so that its operations have their part of both.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from db_bench import EXISTING, Arm, check_override, command, environment
from sluice_evaluation.bench.callgrind import counted, counting
from sluice_evaluation.bench.pinning import processors
from sluice_evaluation.bench.turns import memory_folder

SHORT, LONG = 5_000, 25_000
BY_HAND = "--disable_auto_compactions=1"
MODES = {
    "fillrandom": ("fillrandom", "--writes", [BY_HAND]),
    "readrandom": ("readrandom", "--reads", [BY_HAND, EXISTING]),
    "fill and compact": ("fillrandom,flush,compact", "--writes", [BY_HAND]),
}


def _count(programs: Path, database: Path, arm: Arm, mode: str, operations: int, seed: int) -> int:
    """Instructions of one run of db_bench."""
    benchmarks, amount, options = MODES[mode]
    counts = database.with_name("counts")
    counts.unlink(missing_ok=True)
    run = command(
        programs, database, benchmarks, *options, f"{amount}={operations}", f"--seed={seed}"
    )
    done = subprocess.run(
        [*counting(str(counts)), *run],
        env=environment(arm.override),
        capture_output=True,
        text=True,
        check=False,
    )
    total = counted(counts)
    if done.returncode or total is None:
        raise SystemExit(f"db_bench failed inside valgrind:\n{done.stderr}")
    check_override(database, arm.override)
    return total


def _per_operation(programs: Path, arm: Arm, mode: str, made: Path, seed: int) -> float:
    """Instructions per operation of one repetition; what is read is a copy of `made`."""
    counts = []
    with tempfile.TemporaryDirectory(prefix="sluice-callgrind-", dir=memory_folder()) as name:
        database = Path(name, "database")
        for operations in (SHORT, LONG):
            if EXISTING in MODES[mode][2]:
                shutil.copytree(made, database)
            counts.append(_count(programs, database, arm, mode, operations, seed))
            shutil.rmtree(database)
    return (counts[1] - counts[0]) / (LONG - SHORT)


def per_operation(programs: Path, arm: Arm, mode: str, made: Path, repetitions: int) -> list[float]:
    """Instructions per operation, a value each repetition, as many at once as processors."""
    print(f"{mode}: {arm}", file=sys.stderr)
    with ThreadPoolExecutor(len(set(processors()))) as runs:
        seeds = range(1, repetitions + 1)
        return list(runs.map(lambda seed: _per_operation(programs, arm, mode, made, seed), seeds))
