"""Cassandra as published, by the launcher of the distribution: tables, tools, restarts, a kill."""

import subprocess
from pathlib import Path

import pytest
from cassandra_node import CassandraNode
from plugin_client import PluginClient

ROWS = 100
INSERT = "INSERT INTO shop.orders (name, amount) VALUES ('order {0}', {0})"
COUNT = "SELECT COUNT(*), SUM(amount) FROM shop.orders"
WHOLE = [str(ROWS), str(ROWS * (ROWS + 1) // 2)]


@pytest.fixture(scope="module")
def filled(node: CassandraNode) -> CassandraNode:
    """A node whose writes are on disk when they are acknowledged, with rows."""
    node.stop()
    node.sync = "batch"
    node.start()
    node.cql(
        "CREATE KEYSPACE shop"
        " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE shop.orders (name text PRIMARY KEY, amount int)",
        *(INSERT.format(number) for number in range(1, ROWS + 1)),
    )
    return node


def test_rows_are_read_and_tools_answer(filled: CassandraNode) -> None:
    assert filled.cql(COUNT) == [WHOLE]
    assert "UN  127.0.0.1" in filled.nodetool("status")
    assert filled.command("version") == "5.0.9\n"
    assert "5.0.9" in filled.nodetool("version")


def test_a_statement_that_is_refused_is_named(filled: CassandraNode) -> None:
    address = f"127.0.0.1:{filled.ports.client}"
    said = filled.command("cql", "--address", address, "SELECT x FROM shop.orders", status=1)
    assert "SELECT x FROM shop.orders: " in said
    assert "what to do: correct the statement" in said


def test_the_plugin_keeps_the_contract(filled: CassandraNode, sluice: Path) -> None:
    filled.nodetool("flush", "shop")
    check = [str(sluice), "local", "check", "--patience", "2m", str(filled.socket)]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 failed, 0 skipped" in done.stdout


def test_requests_are_counted_by_intervals(filled: CassandraNode) -> None:
    """A read of rows takes some time, whatever the machine; the interval that has it is shown."""
    with PluginClient(filled.socket) as plugin:
        filled.cql(COUNT)
        seen = filled.wait_until(
            lambda: [each for each in plugin.snapshot()["latencies"] if each["count"] > 0],
            bool,
        )
    for each in seen:
        assert 0 < each["p50_seconds"] <= each["p99_seconds"] <= each["max_seconds"]
        assert each["mean_seconds"] > 0


def test_acknowledged_rows_outlive_a_kill_and_an_orderly_end(filled: CassandraNode) -> None:
    filled.cql(INSERT.format(ROWS + 1))
    filled.kill()
    assert filled.socket.exists(), "a kill leaves it: the next start has to take it over"
    filled.start()
    assert filled.cql(COUNT) == [[str(ROWS + 1), str((ROWS + 1) * (ROWS + 2) // 2)]]
    with PluginClient(filled.socket) as plugin:
        assert plugin.snapshot()["leases"] == []

    filled.stop()
    assert not filled.socket.exists()
    dumped = sorted((filled.folder / "data/data/shop").rglob("*-Data.db"))
    assert '"order 1"' in "".join(
        filled.command("sstabledump", str(file)).replace(" : ", ":") for file in dumped
    )
    filled.start()
    assert filled.cql(COUNT) == [[str(ROWS + 1), str((ROWS + 1) * (ROWS + 2) // 2)]]


def test_without_the_plugin_there_is_no_socket(filled: CassandraNode) -> None:
    filled.stop()
    filled.plugin = ""
    filled.start()
    assert filled.cql(COUNT)[0][0] == str(ROWS + 1)
    assert not filled.socket.exists()
