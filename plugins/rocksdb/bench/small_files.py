"""Measures whether a compaction on another node is slower where a database has many small tables.

A database has 500 tables of half a mebibyte, and a compaction takes some of them, side by side. The
same compaction is done by the store itself, and by the worker of another node: each has a processor
of its own. Both stores have a copy of the same data, and compact the same keys in an order drawn
anew for each round; a compaction makes tables of the same size, so that it can be done again. What
is timed is the call of the program that has the database open. The ratio is of the mean times of a
round, its interval Fieller's at 95 %, over rounds. Compactions are of two sizes, with a ratio each:
hardly more than the least that a store offers by default, 16 MiB, and larger.

Each is done by a store that has nothing else to do, which policy `offload` would leave where it is,
and by one that has a client: a thread of it reads random keys, one after the other, for as long as
the compaction takes, on the same processor. How many it has read in a second is given as a ratio.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
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
KEYS = TABLES * TABLE_BYTES // VALUE_BYTES
INPUT_BYTES = {"17 MiB": 17 << 20, "64 MiB": 64 << 20}
IDLE, BUSY = "idle", "busy"
READERS = {IDLE: 0, BUSY: 1}
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


@dataclass
class Series:
    """What compactions of one size, on one side, have come to: a mean each round."""

    seconds: list[float] = field(default_factory=list)
    reads_per_second: list[float] = field(default_factory=list)

    def add(self, compactions: list[Compaction]) -> None:
        """Those of one round."""
        seconds = statistics.mean(each.seconds for each in compactions)
        self.seconds.append(seconds)
        self.reads_per_second.append(statistics.mean(each.reads for each in compactions) / seconds)


@dataclass(frozen=True)
class Compaction:
    """How long one took, and how many keys a client has read meanwhile."""

    seconds: float
    reads: int


def make_database(program: Path, database: Path) -> None:
    """The database that both sides have copies of; SystemExit when its tables are not as wanted."""
    with DatabaseProgram(program, OPTIONS, [database]) as running:
        running.fill(database, KEYS, VALUE_BYTES)
    tables = len(list(database.glob("*.sst")))
    if not TABLES * 0.9 <= tables <= TABLES * 1.2:
        raise SystemExit(f"the database has {tables} tables, and not about {TABLES}")


def random_keys(input_bytes: int, order: random.Random) -> tuple[int, int]:
    """First key and end of a compaction that has so many bytes."""
    wanted = input_bytes // VALUE_BYTES
    first = order.randrange(KEYS - wanted)
    return first, first + wanted


def compacted(side: str, store: Side, keys: tuple[int, int], load: str) -> Compaction:
    """A compaction of some keys; SystemExit when it was done at the wrong place."""
    before = store.done_elsewhere()
    with store.program.reading(store.database, KEYS, READERS[load]):
        reads_before = store.program.reads(store.database)
        seconds = store.program.compact(store.database, *keys)
        reads = store.program.reads(store.database) - reads_before
    elsewhere = store.done_elsewhere() - before
    if elsewhere != (1 if side == REMOTE else 0):
        raise SystemExit(f"{elsewhere} compactions of the {side} side were done by another node")
    return Compaction(seconds, reads)


def add_round(
    series: dict[str, Series],
    sides: dict[str, Side],
    input_bytes: int,
    load: str,
    compactions: int,
    order: random.Random,
) -> None:
    """Compactions of the same keys, added to the series of each side."""
    done = {side: [] for side in sides}
    for _ in range(compactions):
        keys = random_keys(input_bytes, order)
        for side in order.sample(sorted(sides), len(sides)):
            done[side].append(compacted(side, sides[side], keys, load))
    for side, each in done.items():
        series[side].add(each)


def measure_series(
    version: str, rounds: int, compactions: int
) -> dict[tuple[str, str], dict[str, Series]]:
    """Series by size of the compaction and load of the store, and by side."""
    kinds = [(size, load) for load in READERS for size in INPUT_BYTES]
    series = {kind: {LOCAL: Series(), REMOTE: Series()} for kind in kinds}
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
                for size, load in kinds:
                    of_kind = series[size, load]
                    add_round(of_kind, sides, INPUT_BYTES[size], load, compactions, order)
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
            compacted(side, sides[side], keys, IDLE)
        yield sides


def figures_of(size: str, load: str, series: dict[str, Series]) -> Iterator[Figure]:
    """Times of a compaction of one size, their ratio, and that of what was read meanwhile."""
    what = f"compaction of {size} among {TABLES} small tables, {load} store"
    for side, values in series.items():
        mean = statistics.mean(values.seconds)
        yield Figure(f"{what}, {side}", "s", mean, values=values.seconds)
    local, remote = series[LOCAL], series[REMOTE]
    name = f"{what}: time on another node over that of the store"
    yield ratio_figure(name, remote.seconds, local.seconds, {"max": 1.0})
    if READERS[load]:
        name = f"{what}: reads a second meanwhile, on another node over in the store"
        yield ratio_figure(name, remote.reads_per_second, local.reads_per_second)


def measure(version: str, rounds: int, compactions: int) -> Iterator[Figure]:
    """Figures of compactions of each size."""
    for (size, load), series in measure_series(version, rounds, compactions).items():
        yield from figures_of(size, load, series)


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
        help="of each size, load and side in a round (default: %(default)s)",
    )
    args = parser.parse_args()
    figures = list(measure(args.version, args.rounds, args.compactions))
    report(args, "small-files", "Compactions among many small tables", figures)


if __name__ == "__main__":
    main()
