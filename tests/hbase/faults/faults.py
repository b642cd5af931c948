"""What is done to a cluster while the list is written, each at a state that a plug-in has shown.

A fault returns when all that it has taken away is there again.
"""

from __future__ import annotations

from collections.abc import Callable

from cluster_under_test import ClusterUnderTest
from control_plane import POLICY_OWNER, ControlPlane
from daemons import Daemon
from linked_list import Writing
from sluice_evaluation.bench.waiting import wait_until
from store_view import WAIT_SECONDS

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


def _region_of(task: dict) -> str:
    """The encoded name of its region: the first part of the store's name of a compaction."""
    return task["id"].split("#")[0]


def _change_region(cluster: ClusterUnderTest, words: Callable[[str], list[str]]) -> None:
    """Have a region with a held compaction close, while the lease is in force."""
    server, task = cluster.hold()
    cluster.order_of_regions(*words(_region_of(task)))
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
    cluster: ClusterUnderTest, part: Callable[[ControlPlane], Daemon]
) -> None:
    with cluster.control_plane() as plane:
        plane.start()
        server, task = _held_by_policy(cluster)
        part(plane).kill()
        cluster.store.wait_for_expiry(server, POLICY_OWNER)
        cluster.store.wait_for_end(server, task)
        # Whoever comes back takes up its work without a step of anybody's.
        plane.start()
        server, task = _held_by_policy(cluster)
        plane.agent.kill()
        plane.controller.kill()
        for each in cluster.store.servers:
            cluster.store.wait_for_expiry(each, POLICY_OWNER)
        cluster.store.wait_for_end(server, task)


def _held_by_policy(cluster: ClusterUnderTest) -> tuple[str, dict]:
    server = cluster.server_with_files()
    wait_until(
        lambda: cluster.store.leases(server, POLICY_OWNER),
        f"a lease of {POLICY_OWNER} on {server}",
        timeout_seconds=WAIT_SECONDS,
    )
    cluster.store.start_when_possible(server)
    return server, cluster.store.wait_for_task(server, "held")


def agent_killed(cluster: ClusterUnderTest, _: Writing) -> None:
    _kill_part_of_control_plane(cluster, lambda plane: plane.agent)


def controller_killed(cluster: ClusterUnderTest, _: Writing) -> None:
    _kill_part_of_control_plane(cluster, lambda plane: plane.controller)


def datanode_killed(cluster: ClusterUnderTest, writing: Writing) -> None:
    server, task = cluster.throttle()
    datanode = cluster.node.daemons["datanode2"]
    datanode.kill()
    cluster.store.clear(server)
    writing.wait_for_rows(SOME_ROWS)
    cluster.store.wait_for_end(server, task)
    datanode.start()
    cluster.mend()


def namenode_killed(cluster: ClusterUnderTest, _: Writing) -> None:
    server, _ = cluster.throttle()
    namenode = cluster.node.daemons["namenode"]
    namenode.kill()
    # Its compaction goes on to its end, which needs the NameNode.
    cluster.store.clear(server)
    namenode.start()
    cluster.mend()


FAULTS: dict[str, Fault] = {
    fault.__name__.replace("_", " "): fault
    for fault in (
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
        namenode_killed,
    )
}
