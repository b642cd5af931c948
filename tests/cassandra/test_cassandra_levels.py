"""What service levels rest on: latencies and hits of tables, cache of rows, bounds of requests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from cassandra_node import CassandraNode, free_ports
from plugin_client import PluginClient, Refused

MEBIBYTE = 1 << 20
OWN_MEBIBYTES, MOST_MEBIBYTES = 16, 64
HANDLER = "dev.sluice.cassandra.requests.LimitingQueryHandler"
CACHED = "WITH caching = {'keys': 'ALL', 'rows_per_partition': 'ALL'}"
INSERT = "INSERT INTO {0} (a, b) VALUES ({1}, 1)"
SELECT = "SELECT b FROM {0} WHERE a = {1}"


def added(mebibytes: float) -> dict:
    return {"name": "added_bytes", "number": mebibytes * MEBIBYTE}


def operations(per_second: float) -> dict:
    return {"name": "rate_operations_per_second", "number": per_second}


@pytest.fixture(scope="module")
def served(
    cassandra: Path, sockets: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CassandraNode]:
    """A node with a cache of rows and the handler that bounds requests, and tables on it."""
    made = CassandraNode(cassandra, tmp_path_factory.mktemp("node") / "n3", sockets, free_ports())
    made.more = f"row_cache_size: {OWN_MEBIBYTES}MiB"
    made.java_options += [
        f"-Dcassandra.custom_query_handler_class={HANDLER}",
        f"-Dsluice.row.cache.most.bytes={MOST_MEBIBYTES * MEBIBYTE}",
    ]
    try:
        made.start()
        made.cql(
            "CREATE KEYSPACE shop"
            " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
            f"CREATE TABLE shop.orders (a int PRIMARY KEY, b int) {CACHED}",
            f"CREATE TABLE shop.carts (a int PRIMARY KEY, b int) {CACHED}",
            "CREATE TABLE shop.plain (a int PRIMARY KEY, b int)",
        )
        yield made
    finally:
        made.kill()


@pytest.fixture
def plugin(served: CassandraNode) -> Iterator[PluginClient]:
    with PluginClient(served.socket) as connected:
        yield connected
        connected.clear()


def test_a_table_has_latencies_of_its_own(served: CassandraNode, plugin: PluginClient) -> None:
    """A client coordinates its requests on the node that it asks, which counts them by table."""
    served.cql(*(INSERT.format("shop.orders", number) for number in range(10)))
    served.cql(*(SELECT.format("shop.orders", number) for number in range(10)))
    (seen, *_) = served.wait_until(
        lambda: [each for each in plugin.latencies("shop.orders", "read") if each["count"]], bool
    )
    assert seen["interval_seconds"] > 0.9
    assert 0 < seen["p50_seconds"] <= seen["p99_seconds"] <= seen["max_seconds"]
    assert 0 < seen["mean_seconds"] <= seen["max_seconds"]
    idle = plugin.latencies("shop.plain", "read")
    assert idle
    assert all(each["count"] == 0 == each["mean_seconds"] for each in idle)


def test_rows_are_found_in_the_cache_by_table(served: CassandraNode, plugin: PluginClient) -> None:
    def counts(table: str) -> tuple[float, float]:
        figures = plugin.snapshot()["figures"]
        name = f"cache_shop_2e{table}"
        return figures[f"{name}_hits_total"], figures[f"{name}_misses_total"]

    served.cql(INSERT.format("shop.orders", 100))
    hits, misses = counts("orders")
    others = counts("carts")
    served.cql(*[SELECT.format("shop.orders", 100)] * 5)
    assert counts("orders") == (hits + 4, misses + 1)
    assert counts("carts") == others
    assert "cache_shop_2eplain_hits_total" not in plugin.snapshot()["figures"]


def row_cache(node: CassandraNode) -> str:
    return next(line for line in node.nodetool("info").splitlines() if "Row Cache" in line)


def test_what_tables_have_been_given_makes_one_cache_larger(
    served: CassandraNode, plugin: PluginClient
) -> None:
    assert f"capacity {OWN_MEBIBYTES} MiB" in row_cache(served)
    assert plugin.figure("cache_reservable_bytes") == (MOST_MEBIBYTES - OWN_MEBIBYTES) * MEBIBYTE
    plugin.set("cache", added(4.5), scope="shop.orders")
    plugin.set("cache", added(2), scope="shop.carts")
    assert f"capacity {OWN_MEBIBYTES + 7} MiB" in row_cache(served)
    figures = plugin.snapshot()["figures"]
    assert figures["cache_capacity_bytes"] == (OWN_MEBIBYTES + 7) * MEBIBYTE
    assert figures["cache_reserved_bytes"] == 6.5 * MEBIBYTE
    assert figures["cache_shop_2ecarts_added_bytes"] == 2 * MEBIBYTE

    # What is ordered of the cache itself is what tables add to.
    capacity = {"name": "reserved_bytes", "number": 8 * MEBIBYTE}
    plugin.set("cache", capacity, scope="row-cache")
    assert "capacity 15 MiB" in row_cache(served)
    plugin.clear()
    assert f"capacity {OWN_MEBIBYTES} MiB" in row_cache(served)


def test_what_nodetool_sets_meanwhile_is_what_tables_add_to(
    served: CassandraNode, plugin: PluginClient
) -> None:
    plugin.set("cache", added(2), scope="shop.orders")
    served.nodetool("setcachecapacity", "8", "20", "0")
    served.wait_until(lambda: row_cache(served), lambda said: "capacity 22 MiB" in said)
    plugin.clear()
    assert "capacity 20 MiB" in row_cache(served)
    served.nodetool("setcachecapacity", "8", str(OWN_MEBIBYTES), "0")


@pytest.mark.parametrize(
    ("scope", "setting", "code"),
    [
        ("shop.plain", added(1), -32003),
        ("shop.orders", added(MOST_MEBIBYTES - OWN_MEBIBYTES + 1), -32003),
        ("shop.none", added(1), -32004),
        ("row-cache", added(1), -32602),
        ("", added(1), -32602),
        (
            "row-cache",
            {"name": "reserved_bytes", "number": (MOST_MEBIBYTES + 1) * MEBIBYTE},
            -32003,
        ),
    ],
)
def test_cache_that_cannot_be_given_is_refused(
    plugin: PluginClient, scope: str, setting: dict, code: int
) -> None:
    with pytest.raises(Refused) as refused:
        plugin.set("cache", setting, scope=scope)
    assert refused.value.code == code
    assert plugin.snapshot()["leases"] == []


def test_all_tables_together_are_given_no_more_than_the_most(plugin: PluginClient) -> None:
    most = MOST_MEBIBYTES - OWN_MEBIBYTES
    plugin.set("cache", added(most - 1), scope="shop.orders")
    with pytest.raises(Refused):
        plugin.set("cache", added(2), scope="shop.carts")
    # One's own part is not in one's way.
    plugin.set("cache", added(most), scope="shop.orders")


def node_limit(node: CassandraNode) -> list[str]:
    """Whether Cassandra's own limiter is on, and its rate."""
    names = ("native_transport_rate_limiting_enabled", "native_transport_max_requests_per_second")
    rows = node.cql(
        *(f"SELECT value FROM system_views.settings WHERE name = '{name}'" for name in names)
    )
    return [row[0] for row in rows]


def test_the_node_takes_as_many_requests_as_a_lease_says(
    served: CassandraNode, plugin: PluginClient
) -> None:
    own = node_limit(served)
    assert own[0] == "false"
    plugin.set("requests", operations(5000))
    assert node_limit(served) == ["true", "5000"]
    assert plugin.figure("requests_own_rate_operations_per_second") == 0
    plugin.clear()
    assert node_limit(served) == own


def requests(plugin: PluginClient, table: str) -> tuple[float, float]:
    figures = plugin.snapshot()["figures"]
    name = f"requests_shop_2e{table}"
    return figures[f"{name}_taken_total"], figures[f"{name}_refused_total"]


def test_a_table_takes_as_many_requests_as_a_lease_says(
    served: CassandraNode, plugin: PluginClient
) -> None:
    """The first one is taken, and a thousand a second after it are not."""
    plugin.set("requests", operations(1), scope="shop.orders")
    address = ["--address", f"127.0.0.1:{served.ports.client}"]
    text = "\n".join([INSERT.format("shop.orders", 1)] * 1000)
    said = served.command("cql", *address, text=text, status=1)
    assert "an order bounds how many requests a second this node takes for shop.orders" in said
    taken, refused = requests(plugin, "orders")
    assert taken >= 1
    assert refused >= 1
    batch = (
        f"BEGIN BATCH {INSERT.format('shop.carts', 1)};"
        f" {INSERT.format('shop.orders', 1)}; APPLY BATCH"
    )
    served.command("cql", *address, text="\n".join([batch] * 1000), status=1)
    assert requests(plugin, "orders")[1] > refused

    # Other tables, and this one without the lease, take what they are asked for.
    served.cql(*[INSERT.format("shop.carts", 1)] * 100)
    plugin.clear()
    served.cql(*[INSERT.format("shop.orders", 1)] * 100)
    assert "requests_shop_2eorders_taken_total" not in plugin.snapshot()["figures"]


def test_without_the_handler_a_table_has_no_bound(node: CassandraNode) -> None:
    node.cql(
        "CREATE KEYSPACE plain"
        " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE plain.t (a int PRIMARY KEY)",
    )
    with PluginClient(node.socket) as plugin:
        with pytest.raises(Refused, match="not those for a table") as refused:
            plugin.set("requests", operations(1), scope="plain.t")
        assert refused.value.code == -32003
        # Its cache of rows is off, so that there is nothing to add to.
        (cache,) = [
            each
            for each in plugin.call("describe", protocol_version={"major": 1, "minor": 3})[
                "capabilities"
            ]
            if each["kind"] == "cache"
        ]
        assert cache["settings"] == ["reserved_bytes"]
        assert "cache_reservable_bytes" not in plugin.snapshot()["figures"]


def test_a_drain_puts_everything_back(served: CassandraNode) -> None:
    with PluginClient(served.socket) as plugin:
        plugin.set("cache", added(4), scope="shop.orders")
        plugin.set("requests", operations(1000))
    served.nodetool("drain")
    assert f"capacity {OWN_MEBIBYTES} MiB" in row_cache(served)
    assert not served.socket.exists()
