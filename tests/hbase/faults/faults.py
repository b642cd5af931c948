"""What is done to a cluster while the list is written, each at a state that a plug-in has shown.

A fault returns when all that it has taken away is there again.
"""

from __future__ import annotations

from collections.abc import Callable

from cluster_protocols import AnyControlPlane, AnyDaemon
from cluster_under_test import ClusterUnderTest
from control_plane import POLICY_OWNER
from linked_list import Writing
from store_view import WAIT_SECONDS, region_of

Fault = Callable[[ClusterUnderTest, Writing], None]
Hold = Callable[[], tuple[str, dict]]

# Shows that requests are served, and takes a second or two at the pace of the tests.
SOME_ROWS = 2000


def _kill_region_server(cluster: ClusterUnderTest, reach: Hold) -> None:
    server, _ = reach()
    assert cluster.store.leases(server)
    cluster.node.daemons[server].kill()
    cluster.node.daemons[server].start()
    cluster.mend()
    # No lease outlives its store.
    assert not cluster.store.leases(server)


def killed_while_holding(cluster: ClusterUnderTest, _: Writing) -> None:
    _kill_region_server(cluster, cluster.hold)


def killed_while_deferring(cluster: ClusterUnderTest, _: Writing) -> None:
    _kill_region_server(cluster, cluster.defer)


def killed_while_throttled(cluster: ClusterUnderTest, _: Writing) -> None:
    _kill_region_server(cluster, cluster.throttle)


def stopped_while_holding(cluster: ClusterUnderTest, _: Writing) -> None:
    server, _ = cluster.hold()
    # A TimeoutError when it waits for the end of the lease.
    cluster.node.daemons[server].stop(WAIT_SECONDS)
    cluster.mend()
    assert not cluster.store.leases(server)


def _change_region(cluster: ClusterUnderTest, words: Callable[[str], list[str]]) -> None:
    """Have a region with a held compaction close, while the lease is in force."""
    server, task = cluster.hold()
    cluster.order_of_regions(*words(region_of(task)))
    cluster.store.wait_for_end(server, task)
    assert cluster.store.leases(server), "the lease has ended, so it may have waited for that"


def region_closed(cluster: ClusterUnderTest, _: Writing) -> None:
    closed = []

    def close(region: str) -> list[str]:
        closed.append(region)
        return ["unassign", region]

    _change_region(cluster, close)
    cluster.commands.run("assign", *closed)
    cluster.mend()


def region_split(cluster: ClusterUnderTest, _: Writing) -> None:
    regions = len(cluster.regions())
    _change_region(cluster, lambda region: ["split", region])
    cluster.mend()
    assert len(cluster.regions()) == regions + 1


def regions_merged(cluster: ClusterUnderTest, _: Writing) -> None:
    regions = [row["region"] for row in cluster.regions()]

    def with_neighbour(region: str) -> list[str]:
        first = min(regions.index(region), len(regions) - 2)
        return ["merge", *regions[first : first + 2]]

    _change_region(cluster, with_neighbour)
    cluster.mend()
    assert len(cluster.regions()) == len(regions) - 1


def region_moved(cluster: ClusterUnderTest, _: Writing) -> None:
    before = {row["region"]: row["server"] for row in cluster.regions()}
    _change_region(cluster, lambda region: ["move", region])
    cluster.mend()
    after = {row["region"]: row["server"] for row in cluster.regions()}
    assert len([region for region in before if before[region] != after.get(region)]) == 1


def _kill_part_of_control_plane(
    cluster: ClusterUnderTest, part: Callable[[AnyControlPlane, str], AnyDaemon]
) -> None:
    with cluster.control_plane() as plane:
        plane.start()
        server, task = _held_by_policy(cluster)
        part(plane, server).kill()
        cluster.store.wait_for_expiry(server, POLICY_OWNER)
        cluster.store.wait_for_end(server, task)
        # Whoever comes back takes up its work without a step of anybody's.
        plane.start()
        server, task = _held_by_policy(cluster)
        plane.kill()
        for each in cluster.store.servers:
            cluster.store.wait_for_expiry(each, POLICY_OWNER)
        cluster.store.wait_for_end(server, task)


def _held_by_policy(cluster: ClusterUnderTest) -> tuple[str, dict]:
    server = cluster.server_with_files()
    cluster.store.wait_for_lease(server, POLICY_OWNER)
    cluster.store.start_when_possible(server)
    return server, cluster.store.wait_for_task(server, "held")


def agent_killed(cluster: ClusterUnderTest, _: Writing) -> None:
    _kill_part_of_control_plane(cluster, lambda plane, server: plane.agent_of(server))


def controller_killed(cluster: ClusterUnderTest, _: Writing) -> None:
    _kill_part_of_control_plane(cluster, lambda plane, _: plane.controller)


def datanode_killed(cluster: ClusterUnderTest, writing: Writing) -> None:
    server, task = cluster.throttle()
    datanode = cluster.node.daemons[cluster.datanode_read_by(task)]
    datanode.kill()
    ids = {each["id"] for each in cluster.store.tasks(server)}
    assert task["id"] in ids, "the compaction was over before the DataNode was"
    cluster.store.clear(server)
    writing.wait_for_rows(SOME_ROWS)
    cluster.store.wait_for_end(server, task)
    datanode.start()
    cluster.mend()


def namenode_killed(cluster: ClusterUnderTest, _: Writing) -> None:
    server, _ = cluster.throttle()
    namenode = cluster.node.daemons[cluster.active_namenode()]
    namenode.kill()
    # Its compaction goes on to its end, which needs the NameNode.
    cluster.store.clear(server)
    namenode.start()
    cluster.mend()


def active_namenode_killed(cluster: ClusterUnderTest, writing: Writing) -> None:
    """The one that stands by takes over: the other is started when all has gone on without it."""
    cluster.wait_for_standby()
    servers = cluster.live_servers()
    server, task = cluster.throttle()
    killed = cluster.active_namenode()
    cluster.node.daemons[killed].kill()
    cluster.store.clear(server)
    # Waits for it.
    assert cluster.active_namenode() != killed
    writing.wait_for_rows(SOME_ROWS)
    cluster.store.wait_for_end(server, task)
    cluster.node.daemons[killed].start()
    cluster.wait_for_standby()
    cluster.mend()
    assert cluster.live_servers() == servers, "a region server has ended"


_ALWAYS = (
    killed_while_holding,
    killed_while_deferring,
    killed_while_throttled,
    stopped_while_holding,
    region_closed,
    region_split,
    regions_merged,
    region_moved,
    agent_killed,
    controller_killed,
    datanode_killed,
)


def faults_of(namenodes: int) -> dict[str, Fault]:
    """The faults of a cluster with so many NameNodes, by their names in the documentation."""
    last = active_namenode_killed if namenodes > 1 else namenode_killed
    return {fault.__name__.replace("_", " "): fault for fault in (*_ALWAYS, last)}
