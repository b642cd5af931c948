"""Ignite, its code as published, with the patched RocksDB in place of the one that it brings."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from ignite_node import IgniteNode, start_cluster
from rocksdb_stage import Staged

Preloaded = Callable[[str], dict[str, str]]
MakeNodes = Callable[[int], list[IgniteNode]]

ROWS = 500
TABLE = (
    "CREATE ZONE orders (PARTITIONS 2, REPLICAS 1) STORAGE PROFILES ['rocks']",
    "CREATE TABLE orders (name VARCHAR PRIMARY KEY, amount INT) ZONE orders",
    "CREATE INDEX orders_by_amount ON orders USING SORTED (amount)",
    "INSERT INTO orders SELECT 'order ' || CAST(x AS VARCHAR), x"
    f" FROM TABLE(SYSTEM_RANGE(1, {ROWS}))",
)
COUNT = "SELECT COUNT(*), SUM(amount) FROM orders"
LARGEST = "SELECT name FROM orders WHERE amount > 498 ORDER BY amount"
WHOLE = [str(ROWS), str(ROWS * (ROWS + 1) // 2)]
DATABASE = "partitions/db/rocksdb-rocks"


def make_table(node: IgniteNode) -> None:
    """Make a cluster of NODE alone, and fill the table."""
    start_cluster([node])
    node.sql(*TABLE)


def test_tables_are_in_the_patched_library_and_sluice_sees_it(
    make_nodes: MakeNodes, preloaded: Preloaded, patched: Staged, sockets: Path, sluice: Path
) -> None:
    (node,) = make_nodes(1)
    node.environment = preloaded("ignite")
    make_table(node)
    assert node.command("status", "--rest", node.rest).stdout == "STARTED\n"
    assert node.sql(COUNT, LARGEST) == [WHOLE, ["order 499"], ["order 500"]]

    assert patched.preload.name in node.mapped_files()
    said = node.override_lines()
    assert DATABASE in said
    assert all(line.endswith("(ignored unless OK): OK") for line in said.values()), said

    socket = str(sockets / "rocksdb" / "ignite.sock")
    ask = [str(sluice), "local", "snapshot", socket, "-o", "json"]
    answer = subprocess.run(ask, check=True, capture_output=True, text=True).stdout
    families = {debt.get("scope", "") for debt in json.loads(answer)["snapshot"]["debts"]}
    assert {"rocksdb-rocks/cf-data", "vault/default"} <= families
    check = [str(sluice), "local", "check", "--patience", "2m", socket]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

    node.stop()
    assert not Path(socket).exists()
    node.start()
    node.wait_for("STARTED")
    assert node.sql("UPDATE orders SET amount = 0 WHERE name = 'order 500'", LARGEST) == [
        ["order 499"]
    ]


def test_without_the_library_nothing_is_different_for_ignite(
    make_nodes: MakeNodes, preloaded: Preloaded, sockets: Path
) -> None:
    """The jar's own library knows no override, and reads what the patched one wrote."""
    (node,) = make_nodes(1)
    node.environment = preloaded("ignite")
    make_table(node)
    node.stop()
    del node.environment["LD_PRELOAD"]
    node.start()
    node.wait_for("STARTED")
    assert node.sql(COUNT, LARGEST) == [WHOLE, ["order 499"], ["order 500"]]
    assert set(node.override_lines().values()) == {""}
    assert list((sockets / "rocksdb").iterdir()) == []
