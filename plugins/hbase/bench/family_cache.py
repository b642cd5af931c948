"""Measures what a scan of one family takes from the block cache of another that is read.

A client (FamilyReads.java) gets random rows of one family, whose blocks take seven tenths of the
cache, and reads rows of a scan of another family between the gets. Hit ratios are of data blocks,
after a warm-up of as many gets.

On the patched store the plug-in counts by family, first without a reservation, then with one.
Stock counts for the whole server: there all hits are taken for those of the family that is read,
which can only make stock look better than it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from family_figures import Lookups, family_lookups, highest_hit_ratio
from java_client import JavaClient
from one_node import STORE, Layout, OneNode, one_node
from sluice_evaluation.bench.command_line import at_least, measurement_parser, report
from sluice_evaluation.bench.plugin_socket import PluginSocket
from sluice_evaluation.bench.turns import memory_folder
from sluice_evaluation.bench.waiting import wait_until
from sluice_evaluation.measurements import Figure
from tables import QUIET_SITE, cell_lines, load, major_compact

CLIENT = "FamilyReads.java"
TABLE, READ, SCANNED = "shelves", "read", "scanned"
SCOPE = f"{TABLE}/{READ}"
HEAP_BYTES = 1 << 30
CACHE_BYTES = 12 << 20
BLOCK_BYTES = 16 << 10
VALUE_BYTES = 960  # 1 KiB a cell with its key
READ_ROWS, SCANNED_ROWS = 8 << 10, 40 << 10
TOUCH_STEP = 8  # two rows of each block
SCANNED_PER_GET = 64
RESERVED_BYTES = int(0.78 * CACHE_BYTES)
MOST_LOST, LEAST_LOST_BY_STOCK = 0.02, 0.20
# Longer than the region server keeps the numbers that it shows.
SETTLED_SECONDS = 12
SERVER_BEAN = "Hadoop:service=HBase,name=RegionServer,sub=Server"

SITE = {**QUIET_SITE, "hfile.block.cache.size": f"{CACHE_BYTES / HEAP_BYTES:.6f}"}


def make_table(node: OneNode) -> None:
    """Both families in one region and one file each."""
    attributes = f"BLOCKSIZE={BLOCK_BYTES},BLOOMFILTER=NONE"
    families = [f"{family},{attributes}" for family in (READ, SCANNED)]
    node.hbase("create", TABLE, "--family", families[0], "--family", families[1])
    for seed, (family, rows) in enumerate({READ: READ_ROWS, SCANNED: SCANNED_ROWS}.items()):
        load(node, TABLE, cell_lines(range(rows), [f"{family}:q"], seed, VALUE_BYTES))
    major_compact(node, TABLE)


class Reader(JavaClient):
    """The client that reads."""

    def __init__(self, node: OneNode):
        super().__init__(node, CLIENT, TABLE, READ, READ_ROWS, SCANNED)


def lookups(
    reader: Reader, look: Callable[[], Lookups], gets: int, scanned_per_get: int
) -> Lookups:
    """Lookups of so many gets, after as many that do not count."""
    reader.ask("read", gets, scanned_per_get)
    before = look()
    reader.ask("read", gets, scanned_per_get)
    return look().since(before)


def shown_lookups(node: OneNode) -> Lookups:
    """Of all data blocks of the region server, when it shows the same for long enough."""
    shown: list[tuple[float, Lookups]] = []

    def settled() -> bool:
        bean = node.jmx("regionserver", SERVER_BEAN)
        now = Lookups(bean["blockCacheDataHitCount"], bean["blockCacheDataMissCount"])
        if not shown or shown[-1][1] != now:
            shown.append((time.monotonic(), now))
        return time.monotonic() - shown[-1][0] > SETTLED_SECONDS

    wait_until(settled, "numbers of the block cache that stay", interval_seconds=0.5)
    return shown[-1][1]


def points_lost(name: str, before: float, after: float, expected: dict | None) -> Figure:
    """The figure of what a hit ratio has lost."""
    return Figure(f"{name}: hit ratio lost to the scan", "1", before - after, expected=expected)


def measure_stock(node: OneNode, gets: int) -> Iterator[Figure]:
    """Hit ratios of stock: undisturbed, and the highest that it can be beside the scan."""
    with Reader(node) as reader:
        reader.ask("touch", TOUCH_STEP)
        alone = lookups(reader, lambda: shown_lookups(node), gets, 0)
        both = lookups(reader, lambda: shown_lookups(node), gets, SCANNED_PER_GET)
    beside = highest_hit_ratio(both, gets, alone.total / gets)
    yield Figure("stock: hit ratio undisturbed", "1", alone.hit_ratio)
    yield Figure("stock: hit ratio beside the scan, at most", "1", beside)
    yield points_lost("stock", alone.hit_ratio, beside, {"min": LEAST_LOST_BY_STOCK})


def measure_patched(node: OneNode, gets: int) -> Iterator[Figure]:
    """Hit ratios of the family, without and with a reservation."""
    with PluginSocket(node.socket()) as plugin, Reader(node) as reader:

        def look() -> Lookups:
            return family_lookups(plugin.snapshot()["figures"], SCOPE)

        reader.ask("touch", TOUCH_STEP)
        alone = lookups(reader, look, gets, 0).hit_ratio
        shared = lookups(reader, look, gets, SCANNED_PER_GET).hit_ratio
        plugin.set("cache", SCOPE, "reserved_bytes", RESERVED_BYTES, seconds=600)
        reader.ask("touch", TOUCH_STEP)
        reserved = lookups(reader, look, gets, SCANNED_PER_GET).hit_ratio
    yield Figure("patched: hit ratio undisturbed", "1", alone)
    yield Figure("patched, nothing reserved: hit ratio beside the scan", "1", shared)
    yield Figure("patched, reserved: hit ratio beside the scan", "1", reserved)
    yield points_lost("patched, nothing reserved", alone, shared, None)
    yield points_lost("patched, reserved", alone, reserved, {"max": MOST_LOST})


ARMS = {"stock": measure_stock, "patched": measure_patched}


def main() -> None:
    """Command line."""
    parser = measurement_parser(STORE, __doc__)
    parser.add_argument(
        "--gets", type=at_least(100), default=4000, help="of each part (default: %(default)s)"
    )
    args = parser.parse_args()
    figures: list[Figure] = []
    for variant, measure in ARMS.items():
        layout = Layout(
            variant=variant,
            plugin=variant == "patched",
            version=args.version,
            site=SITE,
            heaps={"regionserver": f"{HEAP_BYTES >> 20}m"},
        )
        with one_node(layout, memory_folder()) as node:
            make_table(node)
            figures += measure(node, args.gets)
    report(args, "family-cache", "Block cache of a family beside a scan of another", figures)


if __name__ == "__main__":
    main()
