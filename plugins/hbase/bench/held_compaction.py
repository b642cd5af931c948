"""Measures what a held compaction does, and whether its output is that of one that was not held.

A table with overwritten and deleted cells is cloned twice. The compaction of one clone is held for
some seconds several times, that of the other runs through. While it is held, the plug-in's progress
and the files of the DataNode are looked at. Then the cells of both outputs, keys, times, kinds and
values, are compared, as upstream's printer of store files reads them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from datanode_files import datanode_bytes
from one_node import STORE, Layout, OneNode, one_node
from ordered_compactions import OrderedCompactions
from sluice_evaluation.bench.command_line import at_least, measurement_parser, report
from sluice_evaluation.bench.plugin_socket import PluginSocket
from sluice_evaluation.bench.turns import memory_folder
from sluice_evaluation.bench.waiting import wait_until
from sluice_evaluation.measurements import Figure
from tables import QUIET_SITE, cell_lines, cells_of_files, file_paths, load, row

SOURCE, UNHELD, HELD = "source", "unheld", "held"
FAMILY = "f"
ROWS = 8_000
LOADS = 4
# What has been merged goes at once, and the output alone is left.
SITE = {**QUIET_SITE, "hbase.hfile.compaction.discharger.interval": "1000"}
RATE = 4_000_000
HOLD_SECONDS = 4.0
SETTLED_LOOKS = 20
LOOK_SECONDS = 0.02


def make_tables(node: OneNode) -> None:
    """A table of several files, whose cells overwrite each other, and two clones of it."""
    node.hbase("create", SOURCE, "--family", f"{FAMILY},VERSIONS=2")
    for number in range(LOADS):
        first = number * ROWS // 2  # half of the rows are those of the file before
        lines = cell_lines(range(first, first + ROWS), [f"{FAMILY}:q", f"{FAMILY}:r"], number)
        load(node, SOURCE, lines)
    node.hbase("delete", SOURCE, row(ROWS), f"{FAMILY}:q")
    node.hbase("delete", SOURCE, row(ROWS + 1))
    node.hbase("flush", SOURCE)
    node.hbase("snapshot", "create", SOURCE, "clones")
    for clone in (UNHELD, HELD):
        node.hbase("snapshot", "clone", "clones", clone)


def settled_bytes(folder: Path) -> int:
    """Size of all blocks, when what was on its way has come."""
    sizes: list[int] = []

    def settled() -> bool:
        sizes.append(datanode_bytes(folder))
        return len(sizes) >= SETTLED_LOOKS and len(set(sizes[-SETTLED_LOOKS:])) == 1

    wait_until(settled, "a DataNode that writes nothing", LOOK_SECONDS)
    return sizes[-1]


def hold_once(compactions: OrderedCompactions, blocks: Path, until_bytes: int) -> tuple[int, int]:
    """Bytes that were compacted, and that came to the DataNode, in a hold at this progress."""
    wait_until(lambda: compactions.done_bytes() >= until_bytes, "progress of the compaction", 0.001)
    compactions.hold()
    before = compactions.done_bytes()
    written = settled_bytes(blocks)
    time.sleep(HOLD_SECONDS)
    after, later = compactions.done_bytes(), datanode_bytes(blocks)
    compactions.set_rate(RATE)
    return after - before, later - written


def hold_and_resume(
    compactions: OrderedCompactions, blocks: Path, holds: int
) -> list[tuple[int, int]]:
    """What hold_once gives, at evenly spread points of a compaction that ends afterwards."""
    compactions.start(RATE)
    total = compactions.left_bytes() + compactions.done_bytes()
    points = [total * number // (holds + 1) for number in range(1, holds + 1)]
    seen = [hold_once(compactions, blocks, point) for point in points]
    compactions.finish()
    return seen


def differing_cells(first: Sequence[str], second: Sequence[str]) -> int:
    """How many cells are in one and not in the other, or at another place."""
    if len(first) == len(second):
        return sum(one != other for one, other in zip(first, second, strict=True))
    counts, others = Counter(first), Counter(second)
    return (counts - others).total() + (others - counts).total()


def measure(node: OneNode, holds: int) -> Iterator[Figure]:
    """What holds let through, and the cells of both outputs."""
    make_tables(node)
    blocks = node.folder / "data/datanode"
    with PluginSocket(node.socket()) as plugin:
        unheld = OrderedCompactions(plugin, UNHELD, 1)
        unheld.start(RATE)
        unheld.finish()
        held = OrderedCompactions(plugin, HELD, 1)
        seen = hold_and_resume(held, blocks, holds)
        plugin.clear()
    wait_until(
        lambda: all(len(file_paths(node, table, FAMILY)) == 1 for table in (UNHELD, HELD)),
        "one file of each table",
        interval_seconds=1,
    )
    compacted, written = (list(side) for side in zip(*seen, strict=True))
    during = f"in {holds} holds of {HOLD_SECONDS:g} s"
    for what, values in (("compacted", compacted), ("that came to the DataNode", written)):
        most = max(values, key=abs)
        yield Figure(f"bytes {what} {during}", "1", most, expected={"max": 0}, values=values)
    yield Figure(
        "compactions begun for that", "1", len(held.progress.done_bytes), expected={"max": 1}
    )
    first, second = (cells_of_files(node, table, FAMILY) for table in (UNHELD, HELD))
    yield Figure("cells of the output without a hold", "1", len(first), expected={"min": ROWS})
    differing = differing_cells(first, second)
    yield Figure("cells that differ with holds", "1", differing, expected={"max": 0})


def main() -> None:
    """Command line."""
    parser = measurement_parser(STORE, __doc__)
    parser.add_argument("--holds", type=at_least(1), default=5, help="(default: %(default)s)")
    args = parser.parse_args()
    layout = Layout(version=args.version, site=SITE)
    with one_node(layout, memory_folder()) as node:
        figures = list(measure(node, args.holds))
    report(args, "held-compaction", "Hold and resume of a running compaction", figures)


if __name__ == "__main__":
    main()
