"""Measures whether a compaction on another node is slower where a database has many small tables.

A database has 500 tables of half a mebibyte, and a compaction takes some of them, side by side. The
same compaction is done by the store itself, and by the worker of another node: each has a processor
of its own. Both stores have a copy of the same data, and compact the same keys in an order drawn
anew for each round; a compaction makes tables of the same size, so that it can be done again. What
is timed is the call of the program that has the database open. The ratio is of the mean times of a
round, its interval Fieller's at 95 %, over rounds. Compactions are of two sizes, with a ratio each:
hardly more than the least that a store offers by default, 16 MiB, and larger.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compacting_nodes import CompactingNodes, compacting_nodes
from database_program import (
    STORE,
    DatabaseProgram,
    compiled_program,
    patched_prefix,
    plugin_options,
)
from sluice_evaluation.bench.command_line import at_least, measurement_parser, report
from sluice_evaluation.bench.pinning import pinned, processors
from sluice_evaluation.bench.plugin_socket import PluginSocket
from sluice_evaluation.bench.ratios import ratio_figure
from sluice_evaluation.bench.turns import memory_folder
from sluice_evaluation.measurements import Figure

TABLES = 500
TABLE_BYTES = 512 << 10
VALUE_BYTES = 1024
INPUT_BYTES = {"17 MiB": 17 << 20, "64 MiB": 64 << 20}
# Of both stores but the place where they compact.
OPTIONS = (
    "create_if_missing=true;compression=kNoCompression;max_background_jobs=4;"
    f"target_file_size_base={TABLE_BYTES};max_compaction_bytes={1 << 30}"
)
LOCAL, REMOTE = "local", "remote"
DONE_ELSEWHERE = "remote_compactions_total"
LEAST_ROUNDS = 4


@dataclass
class Side:
    """A store that compacts in one of both places."""

    program: DatabaseProgram
    database: Path
    plugin: PluginSocket

    def done_elsewhere(self) -> int:
        """How many compactions other nodes have done."""
        return int(self.plugin.snapshot()["figures"].get(DONE_ELSEWHERE, 0))


def service_options(side: str, nodes: CompactingNodes) -> str:
    """Options of a store."""
    service = plugin_options(
        instance=side,
        socket_directory=nodes.sockets,
        agent_socket=nodes.compactions,
        remote=str(side == REMOTE).lower(),
    )
    return f"{OPTIONS};{service}"


def opened(
    stack: contextlib.ExitStack, program: Path, side: str, database: Path, nodes: CompactingNodes
) -> Side:
    """A store with its database open, on the processor of its node."""
    options = service_options(side, nodes)
    running = DatabaseProgram(program, options, [database], pinned(processors()[0]))
    stack.enter_context(running)
    plugin = stack.enter_context(PluginSocket(nodes.sockets / f"rocksdb/{side}.sock"))
    return Side(running, database, plugin)


def make_database(program: Path, database: Path) -> None:
    """The database that both sides have copies of; SystemExit when its tables are not as wanted."""
    keys = TABLES * TABLE_BYTES // VALUE_BYTES
    with DatabaseProgram(program, OPTIONS, [database]) as running:
        running.fill(database, keys, VALUE_BYTES)
    tables = len(list(database.glob("*.sst")))
    if not TABLES * 0.9 <= tables <= TABLES * 1.2:
        raise SystemExit(f"the database has {tables} tables, and not about {TABLES}")


def random_keys(input_bytes: int, order: random.Random) -> tuple[int, int]:
    """First key and end of a compaction that has so many bytes."""
    wanted = input_bytes // VALUE_BYTES
    first = order.randrange(TABLES * TABLE_BYTES // VALUE_BYTES - wanted)
    return first, first + wanted


def compaction_seconds(side: str, store: Side, keys: tuple[int, int]) -> float:
    """How long a compaction of some keys took; SystemExit when it was done at the wrong place."""
    before = store.done_elsewhere()
    seconds = store.program.compact(store.database, *keys)
    elsewhere = store.done_elsewhere() - before
    if elsewhere != (1 if side == REMOTE else 0):
        raise SystemExit(f"{elsewhere} compactions of the {side} side were done by another node")
    return seconds


def round_seconds(
    sides: dict[str, Side], input_bytes: int, compactions: int, order: random.Random
) -> dict[str, float]:
    """By side, the mean seconds of compactions of the same keys."""
    seconds = {side: [] for side in sides}
    for _ in range(compactions):
        keys = random_keys(input_bytes, order)
        for side in order.sample(sorted(sides), len(sides)):
            seconds[side].append(compaction_seconds(side, sides[side], keys))
    return {side: statistics.mean(values) for side, values in seconds.items()}


def measure_series(
    version: str, rounds: int, compactions: int
) -> dict[str, dict[str, list[float]]]:
    """Seconds by size of the compaction and side, a value each round."""
    series = {size: {LOCAL: [], REMOTE: []} for size in INPUT_BYTES}
    prefix = patched_prefix(version)
    with contextlib.ExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=memory_folder())))
        program = compiled_program(prefix, data)
        nodes = stack.enter_context(compacting_nodes(prefix, version, data))
        make_database(program, data / "made")
        for number in range(1, rounds + 1):
            print(f"round {number} of {rounds}", file=sys.stderr)
            with one_round(program, data, nodes) as sides:
                order = random.Random(number)
                for size, input_bytes in INPUT_BYTES.items():
                    took = round_seconds(sides, input_bytes, compactions, order)
                    for side, seconds in took.items():
                        series[size][side].append(seconds)
    return series


@contextlib.contextmanager
def one_round(program: Path, data: Path, nodes: CompactingNodes) -> Iterator[dict[str, Side]]:
    """Both sides, started anew on new copies of the same database, and warm."""
    with contextlib.ExitStack() as stack:
        sides = {}
        for side in (LOCAL, REMOTE):
            database = data / side
            shutil.copytree(data / "made", database)
            stack.callback(shutil.rmtree, database)
            sides[side] = opened(stack, program, side, database, nodes)
            keys = random_keys(max(INPUT_BYTES.values()), random.Random(0))
            compaction_seconds(side, sides[side], keys)
        yield sides


def figures_of(size: str, seconds: dict[str, list[float]]) -> Iterator[Figure]:
    """Times of a compaction of one size, and their ratio."""
    what = f"compaction of {size} among {TABLES} small tables"
    for side, values in seconds.items():
        yield Figure(f"{what}, {side}", "s", statistics.mean(values), values=values)
    name = f"{what}: time on another node over that of the store"
    yield ratio_figure(name, seconds[REMOTE], seconds[LOCAL], {"max": 1.0})


def measure(version: str, rounds: int, compactions: int) -> Iterator[Figure]:
    """Figures of compactions of each size."""
    for size, seconds in measure_series(version, rounds, compactions).items():
        yield from figures_of(size, seconds)


def main() -> None:
    """Command line."""
    parser = measurement_parser(STORE, __doc__)
    parser.add_argument(
        "--rounds", type=at_least(LEAST_ROUNDS), default=12, help="(default: %(default)s)"
    )
    parser.add_argument(
        "--compactions",
        type=at_least(1),
        default=20,
        help="of each size and side in a round (default: %(default)s)",
    )
    args = parser.parse_args()
    figures = list(measure(args.version, args.rounds, args.compactions))
    report(args, "small-files", "Compactions among many small tables", figures)


if __name__ == "__main__":
    main()
