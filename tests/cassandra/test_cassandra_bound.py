"""The bound of files at which every order on compactions ends."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from cassandra_node import CassandraNode, free_ports
from plugin_client import PluginClient, Refused

LIMIT = 6
TABLE = (
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE k.t (a int PRIMARY KEY)"
    " WITH compaction = {'class': 'SizeTieredCompactionStrategy'}",
)
NEVER = {"name": "defer_until_debt_bytes", "number": 1e15}


@pytest.fixture(scope="module")
def bounded(
    cassandra: Path, sockets: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CassandraNode]:
    made = CassandraNode(cassandra, tmp_path_factory.mktemp("node") / "n2", sockets, free_ports())
    made.java_options.append(f"-Dsluice.compaction.limit.files={LIMIT}")
    try:
        made.start()
        yield made
    finally:
        made.kill()


def test_a_deferral_is_given_up_at_the_bound(bounded: CassandraNode) -> None:
    bounded.cql(*TABLE)
    with PluginClient(bounded.socket) as plugin:
        for number in range(LIMIT):
            # Given, then renewed as an agent does it.
            plugin.set("compaction", NEVER, scope="k.t")
            plugin.set("compaction", {"name": "hold"})
            bounded.cql(f"INSERT INTO k.t (a) VALUES ({number})")
            bounded.nodetool("flush", "k", "t")
        bounded.wait_until(
            lambda: plugin.figure("compaction_order_ends_total"), lambda ends: ends == 1
        )
        assert plugin.snapshot()["leases"] == []
        # Nothing holds the node's own compaction any more, after which orders are taken again.
        bounded.wait_until(lambda: plugin.debt("k.t")["files"], lambda files: files <= LIMIT / 2)
        bounded.wait_until(lambda: is_taken(plugin), bool)


def is_taken(plugin: PluginClient) -> bool:
    """Whether the deferral is taken; it may be refused for the bound alone."""
    try:
        plugin.set("compaction", NEVER, scope="k.t")
    except Refused as refused:
        assert refused.code == -32003, refused
        assert f"the bound is {LIMIT}" in str(refused)
        return False
    return True
