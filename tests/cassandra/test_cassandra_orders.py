"""Orders to the plug-in of a node: compactions, caches, and what is left when they end."""

import random
from collections.abc import Iterator

import pytest
from cassandra_node import CassandraNode
from plugin_client import PluginClient, Refused

MEBIBYTE = 1 << 20
# Cassandra counts what a compaction has done with every hundredth row.
ROW_BYTES = 20_000
FULL = {"name": "full"}
HOLD = {"name": "hold"}
OWN_THROUGHPUT = 7 * MEBIBYTE


def rate(mebibytes: float) -> dict:
    return {"name": "rate_bytes_per_second", "number": mebibytes * MEBIBYTE}


def make_table(node: CassandraNode, name: str, more: str = "") -> str:
    """Make an empty table, and give its scope."""
    node.cql(
        "CREATE KEYSPACE IF NOT EXISTS k"
        " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        f"CREATE TABLE k.{name} (a int PRIMARY KEY, b blob) {more}",
    )
    return f"k.{name}"


def flush_rows(node: CassandraNode, scope: str, rows: int, first: int = 0) -> None:
    """Write rows of bytes that do not compress, into one file more."""
    drawn = random.Random(first)
    node.cql(
        *(
            f"INSERT INTO {scope} (a, b) VALUES ({number}, 0x{drawn.randbytes(ROW_BYTES).hex()})"
            for number in range(first, first + rows)
        )
    )
    keyspace, _, table = scope.partition(".")
    node.nodetool("flush", keyspace, table)


@pytest.fixture
def plugin(node: CassandraNode) -> Iterator[PluginClient]:
    with PluginClient(node.socket) as connected:
        yield connected
        connected.clear()


@pytest.fixture(scope="module")
def big(node: CassandraNode) -> str:
    """A table whose compaction takes 20 s at the least rate: its scope."""
    scope = make_table(node, "big")
    flush_rows(node, scope, 500)
    flush_rows(node, scope, 500, first=500)
    return scope


def throughput(node: CassandraNode) -> int:
    """What nodetool says of the rate of compactions, in whole MiB per second."""
    return int(node.nodetool("getcompactionthroughput").rpartition(":")[2].split()[0])


def start_slowly(node: CassandraNode, plugin: PluginClient, scope: str) -> dict:
    """Have a major compaction of the table under way at the least rate."""
    plugin.set("compaction", rate(1))
    plugin.start("major", scope)
    (task,) = node.wait_until(lambda: plugin.tasks(scope), bool)
    return task


def paces(plugin: PluginClient, scope: str) -> list[float]:
    """Bytes per second of the compactions of the table, of which there has to be one."""
    return [task["rate_bytes_per_second"] for task in plugin.tasks(scope)]


def test_a_rate_takes_effect_on_a_compaction_that_runs(
    node: CassandraNode, plugin: PluginClient, big: str
) -> None:
    task = start_slowly(node, plugin, big)
    assert task["state"] == "running"
    assert task["bytes_total"] > 19_000_000
    # The limiter has saved up for a second before. It would be 7 MiB/s without the order.
    node.wait_until(lambda: paces(plugin, big), lambda paces: 0 < paces[0] < 3 * MEBIBYTE)
    plugin.set("compaction", FULL)
    node.wait_until(lambda: plugin.tasks(big), lambda tasks: not tasks)
    # It is said after the task has ended.
    node.wait_until(node.log.read_text, lambda said: f"Compacted ({task['id']})" in said)


def test_a_held_compaction_stands_still_and_goes_on(
    node: CassandraNode, plugin: PluginClient, big: str
) -> None:
    task = start_slowly(node, plugin, big)
    plugin.set("compaction", HOLD)

    def held() -> dict:
        (seen,) = plugin.tasks(big)
        return seen

    seen = node.wait_until(held, lambda each: each["throttled_seconds"] > 1)
    assert seen["state"] == "held"
    later = node.wait_until(
        held, lambda each: each["throttled_seconds"] > seen["throttled_seconds"] + 2
    )
    assert later["bytes_done"] == seen["bytes_done"]
    # What is in the file of the table is there all the while, and new compactions wait.
    assert node.cql(f"SELECT COUNT(*) FROM {big}") == [["1000"]]
    plugin.set("compaction", FULL)
    node.wait_until(lambda: plugin.tasks(big), lambda tasks: not tasks)
    # It is said after the task has ended.
    node.wait_until(node.log.read_text, lambda said: f"Compacted ({task['id']})" in said)


def test_a_truncation_ends_a_held_compaction(node: CassandraNode, plugin: PluginClient) -> None:
    """It waits until the compactions of the table have seen that they are to end."""
    scope = make_table(node, "cut")
    flush_rows(node, scope, 200)
    flush_rows(node, scope, 200, first=200)
    plugin.set("compaction", HOLD)
    plugin.start("major", scope)
    node.wait_until(lambda: plugin.tasks(scope), bool)
    node.cql(f"TRUNCATE {scope}")
    assert node.cql(f"SELECT COUNT(*) FROM {scope}") == [["0"]]
    assert plugin.tasks(scope) == []


def give_orders(agent: PluginClient, seconds: float) -> None:
    """Have each value of the node that an order can change changed, or renew that."""
    agent.set("compaction", rate(3), seconds)
    agent.set("compaction", {"name": "concurrency", "number": 3}, seconds)
    agent.set("streaming", rate(5), seconds)
    cache = {"name": "reserved_bytes", "number": 2 * MEBIBYTE}
    agent.set("cache", cache, seconds, scope="key-cache")


def test_what_an_order_has_changed_is_put_back_when_nobody_renews_it(node: CassandraNode) -> None:
    """The agent is dead: its connection is gone, and its leases run out."""
    agent = PluginClient(node.socket, "agent")
    give_orders(agent, seconds=600)
    assert throughput(node) == 3
    assert compactors(node) == 3
    assert "5.0 MiB/s" in node.nodetool("getstreamthroughput", "-m")
    assert "capacity 2 MiB" in key_cache(node)
    give_orders(agent, seconds=1)
    agent.close()

    with PluginClient(node.socket) as plugin:
        # Values are put back when the leases are forgotten, and not when they are over; those of
        # the stream come last.
        node.wait_until(lambda: plugin.snapshot()["leases"], lambda leases: not leases)
        node.wait_until(
            lambda: node.nodetool("getstreamthroughput", "-m"), lambda said: "24.0 MiB/s" in said
        )
    assert throughput(node) * MEBIBYTE == OWN_THROUGHPUT
    assert compactors(node) == 1
    assert "capacity 8 MiB" in key_cache(node)


def compactors(node: CassandraNode) -> int:
    return int(node.nodetool("getconcurrentcompactors").rpartition(":")[2])


def key_cache(node: CassandraNode) -> str:
    return next(line for line in node.nodetool("info").splitlines() if "Key Cache" in line)


def test_what_nodetool_sets_meanwhile_is_what_is_put_back(
    node: CassandraNode, plugin: PluginClient
) -> None:
    plugin.set("compaction", rate(3))
    node.nodetool("setcompactionthroughput", "5")
    node.wait_until(
        lambda: plugin.figure("compaction_own_rate_bytes_per_second"),
        lambda own: own == 5 * MEBIBYTE,
    )
    node.wait_until(lambda: throughput(node), lambda seen: seen == 3)
    plugin.clear()
    assert throughput(node) == 5
    node.nodetool("setcompactionthroughput", "7")


def test_a_table_is_put_off_until_its_debt_is_there(
    node: CassandraNode, plugin: PluginClient
) -> None:
    scope = make_table(node, "late", "WITH compaction = {'class': 'SizeTieredCompactionStrategy'}")
    defer = {"name": "defer_until_debt_bytes", "number": 5_000_000}
    for number in range(4):
        plugin.set("compaction", defer, scope=scope)
        flush_rows(node, scope, 50, first=50 * number)
    # Four files of a size are what the strategy takes at once.
    assert "not running" in node.nodetool("statusautocompaction", "k", "late")
    node.wait_until(lambda: plugin.debt(scope)["files"], lambda files: files == 4)
    assert 4_000_000 < plugin.debt(scope)["bytes"] < 5_000_000

    plugin.set("compaction", defer, scope=scope)
    flush_rows(node, scope, 75, first=200)
    node.wait_until(lambda: plugin.debt(scope)["files"], lambda files: files < 4)
    # All that is due is done, so the next is put off.
    node.wait_until(lambda: plugin.figure("compaction_deferred_tables"), lambda tables: tables == 1)
    plugin.clear()
    assert "not running" not in node.nodetool("statusautocompaction", "k", "late")


def test_a_table_that_somebody_else_has_switched_off_is_left_so(
    node: CassandraNode, plugin: PluginClient
) -> None:
    scope = make_table(node, "off")
    node.nodetool("disableautocompaction", "k", "off")
    plugin.set("compaction", {"name": "defer_until_debt_bytes", "number": 1}, scope=scope)
    plugin.clear()
    assert "not running" in node.nodetool("statusautocompaction", "k", "off")


@pytest.mark.parametrize(
    ("scope", "setting", "code"),
    [
        ("k.big", rate(3), -32602),
        ("", rate(0.5), -32003),
        ("", {"name": "concurrency", "number": 5000}, -32003),
        ("k.none", {"name": "defer_until_debt_bytes", "number": 1}, -32004),
        ("system.local", {"name": "defer_until_debt_bytes", "number": 1}, -32004),
    ],
)
def test_orders_that_cannot_be_kept_are_refused(
    plugin: PluginClient, big: str, scope: str, setting: dict, code: int
) -> None:
    with pytest.raises(Refused) as refused:
        plugin.set("compaction", setting, scope=scope)
    assert refused.value.code == code
    assert plugin.snapshot()["leases"] == []


def test_a_cache_that_is_off_cannot_be_given_a_size(plugin: PluginClient) -> None:
    with pytest.raises(Refused) as refused:
        plugin.set("cache", {"name": "reserved_bytes", "number": MEBIBYTE}, scope="row-cache")
    assert refused.value.code == -32003


def test_orders_end_at_a_drain_and_the_node_has_its_own_values(
    node: CassandraNode, big: str
) -> None:
    with PluginClient(node.socket) as plugin:
        plugin.set("compaction", rate(3))
        plugin.set("compaction", {"name": "concurrency", "number": 3})
        plugin.set("compaction", {"name": "defer_until_debt_bytes", "number": 1e15}, scope=big)
    assert "not running" in node.nodetool("statusautocompaction", "k", "big")
    node.nodetool("drain")
    assert throughput(node) * MEBIBYTE == OWN_THROUGHPUT
    assert not node.socket.exists()
    node.stop()
    node.start()
    # Not before: Cassandra itself switches it off for all tables when it drains.
    assert "not running" not in node.nodetool("statusautocompaction", "k", "big")
