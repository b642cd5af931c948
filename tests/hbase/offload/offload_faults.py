"""What is done while the peer is in the middle of a compaction, and what the server then does.

A fault returns when all that it has taken away is there again.
"""

from collections.abc import Callable

from agents import wait_for
from offload_cluster import FOLDER, OffloadCluster
from offload_nodes import SERIES

Fault = Callable[[OffloadCluster], None]

HOUR_SECONDS = 3600
OTHER_SERIES = "9.9"


def worker_killed(cluster: OffloadCluster) -> None:
    with cluster.left_to_server("worker-lost"):
        cluster.stop_worker_in_job().kill()


def worker_stopped(cluster: OffloadCluster) -> None:
    with cluster.left_to_server("worker-silent"):
        worker = cluster.stop_worker_in_job()
    wait_for("the end of the worker", worker.is_gone)


def agent_of_the_server_killed(cluster: OffloadCluster) -> None:
    with cluster.left_to_server("agent-silent"):
        worker = cluster.stop_worker_in_job()
        cluster.nodes.server.kill()
        worker.go_on()
    cluster.leave_to_server("no-agent")
    cluster.wait_for_nothing_left()
    cluster.nodes.server.start()


def agent_of_the_peer_killed(cluster: OffloadCluster) -> None:
    with cluster.left_to_server("peer-lost"):
        worker = cluster.stop_worker_in_job()
        cluster.nodes.peer.kill()
    # Nobody but the kernel can have ended it.
    wait_for("the end of the worker", worker.is_gone)
    cluster.leave_to_server("no-peer")
    cluster.nodes.peer.start()


def region_server_killed(cluster: OffloadCluster) -> None:
    """Another one opens the region, whose temporary files it removes."""
    server = cluster.node.daemons[cluster.server()]
    worker = cluster.stop_worker_in_job()
    server.kill()
    worker.go_on()
    wait_for("the end of the worker", worker.is_gone)
    cluster.wait_until_served()
    cluster.wait_for_nothing_left()


def region_moved(cluster: OffloadCluster) -> None:
    """It does not wait for the worker, and the compaction is not done."""
    before, counted, region = cluster.server(), cluster.locals(), cluster.region()
    worker = cluster.stop_worker_in_job()
    cluster.commands.run("move", region)
    wait_for("the region on another server", lambda: cluster.server() not in ("", before))
    wait_for("the end of the worker", worker.is_gone)
    cluster.wait_until_served()
    cluster.commands.run("move", region)
    wait_for("the region where it was", lambda: cluster.server() == before)
    cluster.wait_until_served()
    assert cluster.locals() == counted


def network_cut(cluster: OffloadCluster) -> None:
    """Each agent gives up the other one by itself."""
    nodes = cluster.nodes
    with cluster.left_to_server("peer-lost"):
        worker = cluster.stop_worker_in_job()
        nodes.network.cut()
        worker.go_on()
    cluster.leave_to_server("no-peer")
    wait_for("the peer's own end of the job", lambda: not nodes.left() and not nodes.processes())
    nodes.network.mend()


def connections_broken(cluster: OffloadCluster) -> None:
    with cluster.left_to_server("peer-lost"):
        worker = cluster.stop_worker_in_job()
        cluster.nodes.network.break_connections()
        worker.go_on()


def disk_full(cluster: OffloadCluster) -> None:
    """Of HDFS, in the worker's folder: the server, which writes elsewhere, has room."""
    with cluster.left_to_server("disk-full"):
        worker = cluster.stop_worker_in_job()
        [folder] = cluster.files.list(f"{FOLDER}/*/.tmp/.sluice-compaction-*")
        cluster.files.limit(folder, 1)
        worker.go_on()


def clocks_jump(cluster: OffloadCluster) -> None:
    """The clocks of all four processes jump ahead, and back, and nobody takes any notice."""
    for ahead_seconds in (HOUR_SECONDS, 0):
        before, nodes = cluster.locals(), cluster.nodes
        server = cluster.node.daemons[cluster.server()]
        worker = cluster.stop_worker_in_job()
        for pid in (server.pid, nodes.server.pid, nodes.peer.pid, worker.pid):
            cluster.set_wall_clock(pid, ahead_seconds)
        worker.go_on()
        wait_for("the end of the compaction", lambda: not cluster.is_compacting())
        assert cluster.locals() == before


def other_version(cluster: OffloadCluster) -> None:
    """The peer has a program for another version of HBase, and is not even asked."""
    with cluster.left_to_server("stopping"):
        worker = cluster.stop_worker_in_job()
        cluster.nodes.peer.end()
    wait_for("the end of the worker", worker.is_gone)
    _start_with(cluster, OTHER_SERIES)
    cluster.leave_to_server("no-peer")
    assert cluster.nodes.peers_jobs() == 0, "the peer has been asked"
    cluster.nodes.peer.end()
    _start_with(cluster, SERIES)


def _start_with(cluster: OffloadCluster, series: str) -> None:
    """Start the peer's agent with a program for one series; return when the server's knows it."""
    nodes = cluster.nodes
    wait_for("the loss of the peer", lambda: not nodes.hears_peer())
    nodes.peer.configuration["compaction"]["worker"]["programs"][0]["hbase_series"] = series
    nodes.peer.start()
    nodes.wait_for_peer()


_ALL = (
    worker_killed,
    worker_stopped,
    agent_of_the_server_killed,
    agent_of_the_peer_killed,
    region_server_killed,
    region_moved,
    network_cut,
    connections_broken,
    disk_full,
    clocks_jump,
    other_version,
)
FAULTS: dict[str, Fault] = {fault.__name__.replace("_", " "): fault for fault in _ALL}
"""By their names in the documentation."""
