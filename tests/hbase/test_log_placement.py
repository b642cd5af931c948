"""Logs of HBase on two tiers of HDFS, by order, on the daemons of the staged builds."""

import re
import threading
from collections.abc import Iterator

import pytest
from one_node import Layout, OneNode, one_node
from sluice_evaluation.bench.plugin_socket import PluginSocket
from sluice_evaluation.bench.waiting import wait_until

KIND = "log-placement"
TIERED = {
    "hbase.wal.provider": "dev.sluice.hbase.log.TieredWALProvider",
    "hbase.hregion.impl": "dev.sluice.hbase.log.TieredLogRegion",
}
HEAPS = {"regionserver": "512m"}
ROUNDS = 3
ROWS = 300
# A block of a log by its file, and the type of storage that it is on.
BLOCK = re.compile(r"^(/hbase/WALs/\S+)|DatanodeInfoWithStorage\[[^]]*,(\w+)\]", re.MULTILINE)


@pytest.fixture
def one_log() -> Iterator[OneNode]:
    """A region server with upstream's log, and a DataNode with an SSD and a disk."""
    with one_node(Layout(tiers=True, heaps=HEAPS)) as node:
        yield node


@pytest.fixture
def two_logs() -> Iterator[OneNode]:
    """The same with a log on each tier."""
    with one_node(Layout(tiers=True, heaps=HEAPS, site=TIERED)) as node:
        yield node


def order(node: OneNode, daemon: str, tier: str) -> None:
    with PluginSocket(node.socket(daemon)) as plugin:
        plugin.set(KIND, "", "tier", tier)


def clear(node: OneNode, daemon: str) -> None:
    with PluginSocket(node.socket(daemon)) as plugin:
        plugin.clear()


def figure(node: OneNode, daemon: str, name: str) -> float:
    with PluginSocket(node.socket(daemon)) as plugin:
        return plugin.snapshot()["figures"][name]


def move(node: OneNode, tier: str) -> None:
    """Order a tier of the log, and wait until it is moved."""
    before = figure(node, "regionserver", "wal_moves_total")
    order(node, "regionserver", tier)
    wait_until(
        lambda: figure(node, "regionserver", "wal_moves_total") > before, "a log that is moved"
    )


def storage_of_logs(node: OneNode) -> list[str]:
    """Where the last block of each file of a log is that is open, hbase:meta's left out."""
    told = node.hdfs("fsck", "/hbase/WALs", "-files", "-blocks", "-locations", "-openforwrite")
    found: dict[str, str] = {}
    name = ""
    for file, storage in BLOCK.findall(told):
        name = file or name
        if storage and not name.endswith(".meta"):
            found[name] = storage
    return list(found.values())


def rows(value: str, prefix: str = "row") -> str:
    return "".join(f"{prefix}{number:06}\tcf:q\t{value}{number}\n" for number in range(ROWS))


def test_the_log_is_on_the_tier_that_is_ordered(one_log: OneNode):
    one_log.hbase("create", "moved", "--family", "cf")
    move(one_log, "fast")
    one_log.hbase("put", "moved", "--stdin", input=rows("fast"))
    assert storage_of_logs(one_log)[-1] == "SSD"
    order(one_log, "datanode", "slow")
    move(one_log, "slow")
    move(one_log, "fast")
    one_log.hbase("put", "moved", "--stdin", input=rows("redirected"))
    assert storage_of_logs(one_log)[-1] == "DISK"
    assert figure(one_log, "datanode", "redirect_redirected_replicas_total") >= 1
    clear(one_log, "datanode")
    clear(one_log, "regionserver")
    assert one_log.hbase("scan", "moved") == rows("redirected")
    assert "is HEALTHY" in one_log.hdfs("fsck", "/hbase/data")


def test_killed_servers_lose_nothing_of_a_log_that_moves(one_log: OneNode):
    one_log.hbase("create", "killed", "--family", "cf")
    for number in range(ROUNDS):
        killed_while_written(one_log, f"{number}-", lambda tier: move(one_log, tier))


def test_killed_servers_lose_nothing_of_two_logs(two_logs: OneNode):
    two_logs.hbase("create", "killed", "--family", "cf")
    for number in range(ROUNDS):
        killed_while_written(
            two_logs, f"{number}-", lambda tier: order(two_logs, "regionserver", tier)
        )


def killed_while_written(node: OneNode, value: str, to_tier) -> None:
    """Write rows to each tier and while it changes, kill all servers of data, ask for all rows."""
    for tier in ("slow", "fast"):
        to_tier(tier)
        node.hbase("put", "killed", "--stdin", input=rows(value, tier))
        assert figure(node, "regionserver", f"wal_{tier}_bytes_total") > ROWS
    written = threading.Event()

    def change_tiers() -> None:
        while not written.is_set():
            for tier in ("slow", "fast"):
                to_tier(tier)

    changing = threading.Thread(target=change_tiers)
    changing.start()
    try:
        said = node.hbase("put", "killed", "--stdin", input=rows(value))
    finally:
        written.set()
        changing.join()
    assert said == f"wrote {ROWS} cells\n"
    # A master ends by itself when there is no DataNode to write to: it is killed as well.
    node.kill("regionserver", "master", "datanode")
    node.start_all()
    node.hbase("transitions", "--wait", "120")
    in_order = rows(value, "fast") + rows(value) + rows(value, "slow")
    assert node.hbase("scan", "killed") == in_order
