"""What is done while the peer is in the middle of a compaction, and what the store then does.

A fault returns when all that it has taken away is there again.
"""

from collections.abc import Callable

from agents import wait_for
from offloading import Offloading

Fault = Callable[[Offloading], None]

# What the peer leaves free (`free_bytes`): it refuses jobs for which there is no more than this.
KEPT_FREE_BYTES = 128 << 20
# More than the store itself needs, less than any job is given: that is 64 MiB and its input.
ROOM_OF_THE_STORE_BYTES = KEPT_FREE_BYTES + (16 << 20)
HOUR_SECONDS = 3600
OTHER_SERIES = "10.99"


def worker_killed(under_test: Offloading) -> None:
    with under_test.left_to_store("worker-lost"):
        under_test.stop_worker_in_job().kill()


def worker_stopped(under_test: Offloading) -> None:
    with under_test.left_to_store("worker-silent"):
        worker = under_test.stop_worker_in_job()
    wait_for("the end of the worker", worker.is_gone)


def agent_of_the_store_killed(under_test: Offloading) -> None:
    agent = under_test.nodes.store
    with under_test.left_to_store("agent-silent"):
        worker = under_test.stop_worker_in_job()
        agent.kill()
        worker.go_on()
    with under_test.left_to_store("no-agent"):
        pass
    under_test.wait_for_nothing_left()
    agent.start()


def agent_of_the_peer_killed(under_test: Offloading) -> None:
    agent = under_test.nodes.worker
    with under_test.left_to_store("peer-lost"):
        worker = under_test.stop_worker_in_job()
        agent.kill()
    # Nobody but the kernel can have ended it.
    wait_for("the end of the worker", worker.is_gone)
    with under_test.left_to_store("no-peer"):
        pass
    agent.start()


def store_killed(under_test: Offloading) -> None:
    """The peer's agent removes what the job has left; the store is opened afterwards."""
    worker = under_test.stop_worker_in_job()
    under_test.store.kill()
    worker.go_on()
    under_test.wait_for_nothing_left()
    under_test.store.open()
    under_test.store.check()


def network_cut(under_test: Offloading) -> None:
    """Each agent gives up the other one by itself."""
    nodes = under_test.nodes
    with under_test.left_to_store("peer-lost"):
        worker = under_test.stop_worker_in_job()
        nodes.network.cut()
        worker.go_on()
    with under_test.left_to_store("no-peer"):
        pass
    wait_for("the peer's own end of the job", lambda: not nodes.noted() and not nodes.workers())
    nodes.network.mend()


def connections_broken(under_test: Offloading) -> None:
    with under_test.left_to_store("peer-lost"):
        worker = under_test.stop_worker_in_job()
        under_test.nodes.network.break_connections()
        worker.go_on()


def disk_full(under_test: Offloading) -> None:
    """A job that has its room already is done all the same: then it is another one's turn."""
    with under_test.left_to_store("disk-full"):
        while not _disk_full_for_one_job(under_test):
            pass


def _disk_full_for_one_job(under_test: Offloading) -> bool:
    """The store stands still meanwhile: on the same file system it would have no room either."""
    worker = under_test.stop_worker_in_job()
    jobs, failed = under_test.worker_jobs(), under_test.worker_jobs("disk-full")
    with under_test.store.stopped():
        try:
            under_test.file_system.fill()
            worker.go_on()
            wait_for("the end of the job", lambda: under_test.worker_jobs() > jobs)
        finally:
            under_test.file_system.empty()
    return under_test.worker_jobs("disk-full") > failed


def no_room_for_jobs(under_test: Offloading) -> None:
    """The job that runs goes on; the peer takes no other one, while the store has room."""
    with under_test.left_to_store("busy"):
        worker = under_test.stop_worker_in_job()
        under_test.file_system.fill(ROOM_OF_THE_STORE_BYTES)
        worker.go_on()
    under_test.file_system.empty()


def clocks_jump(under_test: Offloading) -> None:
    """The clocks of all four processes jump ahead, and back, and nobody takes any notice."""
    for ahead_seconds in (HOUR_SECONDS, 0):
        before = under_test.local_compactions()
        with under_test.done_by_peer():
            worker = under_test.stop_worker_in_job()
            nodes = under_test.nodes
            for pid in (under_test.store.pid, nodes.store.pid, nodes.worker.pid, worker.pid):
                under_test.set_wall_clock(pid, ahead_seconds)
        assert under_test.local_compactions() == before


def other_version(under_test: Offloading) -> None:
    """The peer is upgraded, as far as its configuration says, before the store is."""
    agent = under_test.nodes.worker
    program = agent.configuration["compaction"]["worker"]["programs"][0]
    series = program["rocksdb_series"]
    with under_test.left_to_store("stopping"):
        under_test.stop_worker_in_job()
        agent.end()
    _start_with(under_test, OTHER_SERIES)
    with under_test.left_to_store("no-peer"):
        pass
    assert under_test.worker_jobs() == 0, "the peer has been asked"
    agent.end()
    _start_with(under_test, series)


def _start_with(under_test: Offloading, series: str) -> None:
    """Start the peer's agent with a program for one series; return when the store's knows it."""
    nodes = under_test.nodes
    wait_for("the loss of the peer", lambda: not nodes.hears_peer())
    nodes.worker.configuration["compaction"]["worker"]["programs"][0]["rocksdb_series"] = series
    nodes.worker.start()
    nodes.wait_for_peer()


_ALL = (
    worker_killed,
    worker_stopped,
    agent_of_the_store_killed,
    agent_of_the_peer_killed,
    store_killed,
    network_cut,
    connections_broken,
    disk_full,
    no_room_for_jobs,
    clocks_jump,
    other_version,
)
FAULTS: dict[str, Fault] = {fault.__name__.replace("_", " "): fault for fault in _ALL}
"""By their names in the documentation."""
