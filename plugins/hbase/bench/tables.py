"""Tables of a one-node HBase: their data, their compactions, their files."""

from __future__ import annotations

import random
import string
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence

from one_node import OneNode
from sluice_evaluation.bench.waiting import wait_until

VALUE_BYTES = 1000
LINES_AT_ONCE = 1000

# Nothing is compacted but what the measurement asks for, and no number of files makes writes wait.
QUIET_SITE = {
    "hbase.hstore.compaction.min": "100",
    "hbase.hstore.compaction.max": "200",
    "hbase.hstore.blockingStoreFiles": "1000",
}


def row(number: int) -> str:
    """The key of a row; keys sort as their numbers do."""
    return f"{number:08d}"


def cell_lines(
    rows: Iterable[int], columns: Sequence[str], seed: int, value_bytes: int = VALUE_BYTES
) -> Iterator[str]:
    """Lines of cells as `hbase put --stdin` reads them, the same for the same seed."""
    random_numbers = random.Random(seed)
    letters = "".join(random_numbers.choices(string.ascii_letters, k=64 * value_bytes))
    for number in rows:
        for column in columns:
            start = random_numbers.randrange(len(letters) - value_bytes)
            yield f"{row(number)}\t{column}\t{letters[start : start + value_bytes]}\n"


def put(node: OneNode, table: str, lines: Iterable[str]) -> None:
    """Write cells, in one process."""
    words, environment = node.command("hbase", "put", table, "--stdin")
    with tempfile.TemporaryFile("w+") as complaints:
        process = subprocess.Popen(
            words,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
            text=True,
        )
        try:
            _feed(process, lines)
            if process.wait():
                complaints.seek(0)
                raise RuntimeError(f"hbase put {table} failed: {complaints.read()}")
        finally:
            process.kill()
            process.wait()


def _feed(process: subprocess.Popen, lines: Iterable[str]) -> None:
    try:
        with process.stdin as stdin:
            batch: list[str] = []
            for line in lines:
                batch.append(line)
                if len(batch) == LINES_AT_ONCE:
                    stdin.writelines(batch)
                    batch.clear()
            stdin.writelines(batch)
    except BrokenPipeError:
        pass  # its error output says why


def load(node: OneNode, table: str, lines: Iterable[str]) -> None:
    """Write cells into a new file of each family."""
    put(node, table, lines)
    node.hbase("flush", table)


def major_compact(node: OneNode, table: str) -> None:
    """Merge all files of each family, and wait until that is done."""
    node.hbase("compact", table, "--major")
    wait_until(
        lambda: node.hbase("compaction-state", table).strip() == "none",
        f"the end of the compactions of {table}",
        interval_seconds=0.2,
    )


def file_paths(node: OneNode, table: str, family: str) -> list[str]:
    """The files of a family, in HDFS."""
    folder = f"/hbase/data/default/{table}/*/{family}"
    return sorted(node.hdfs("dfs", "-ls", "-C", folder).split())


def cells_of_files(node: OneNode, table: str, family: str) -> list[str]:
    """Every cell in the files of a family, with key, time, kind and value, in their order."""
    cells: list[str] = []
    for path in file_paths(node, table, family):
        cells += kept_lines(node.hbase("hfile", "-p", "-f", path))
    return cells


def kept_lines(printed: str) -> list[str]:
    """The cells that upstream's printer of store files has printed."""
    return [line for line in printed.splitlines() if line.startswith("K: ")]
