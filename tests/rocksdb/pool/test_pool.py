"""A database in a pool: programs that know of it, programs that do not, and what fails under them.

Its compactions run on one of the pool's nodes while that can be reached. Whatever fails, the writer
sees no error while each byte has a copy left; after it was killed, all that was acknowledged is
there. SLUICE_CRASH_ROUNDS says how often (default 1).
"""

from __future__ import annotations

import random
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from agents import wait_for
from pooled_nodes import SERVERS, VOLUME, WORKER, PooledNodes
from rocksdb_stage import Staged
from row_writer import RowWriter, checked_rows

DATABASE = Path("/rows")


def ldb(patched: Staged, nodes: PooledNodes, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run RocksDB's own tool on the pool."""
    uri = f"--fs_uri=id=sluice-pool;volume={VOLUME};agent_socket={nodes.socket};wait_seconds=1"
    command = [str(patched.prefix / "bin/ldb"), uri, "--db=/tools", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def writer(nodes: PooledNodes, program: Path, *, persists: bool = False) -> RowWriter:
    log = nodes.folder / "writer.log"
    return RowWriter(program, nodes.options(), DATABASE, log, persists=persists)


def test_programs_of_rocksdb(patched: Staged, nodes: PooledNodes, program: Path):
    """They work on a pool as on a disk, unless somebody else has it."""
    put = ldb(patched, nodes, "--create_if_missing", "put", "a", "1")
    assert put.returncode == 0, put.stderr
    assert ldb(patched, nodes, "put", "b", "2").returncode == 0
    scan = ldb(patched, nodes, "scan")
    assert scan.stdout.splitlines()[:2] == ["a ==> 1", "b ==> 2"], scan.stderr
    assert "CURRENT" in nodes.command("list", VOLUME, "/tools")
    with writer(nodes, program) as running:
        running.wait_for_rows(4)
        refused = ldb(patched, nodes, "put", "c", "3")
        assert refused.returncode != 0
        assert "lease" in refused.stdout + refused.stderr
    scan = ldb(patched, nodes, "scan")
    assert "c" not in scan.stdout, scan.stderr


def test_log_on_this_node(nodes: PooledNodes, program: Path, tmp_path: Path):
    """The log may stay on a disk of the node, the tables go to the pool."""
    database = Path("/rows-of-a-local-log")
    options = f"{nodes.options(pool_local_directory=tmp_path)};wal_dir={tmp_path}"
    with RowWriter(program, options, database, tmp_path / "writer.said") as going:
        going.wait_for_rows(400)
        going.kill()
        assert checked_rows(program, options, database) >= going.acknowledged
    assert list(tmp_path.glob("*.log"))
    listed = nodes.command("list", VOLUME, str(database))
    assert ".sst" in listed
    assert ".log" not in listed


def server_killed(nodes: PooledNodes, going: RowWriter, dice: random.Random) -> Callable[[], None]:
    """One of those that hold blocks, and most of which hold metadata."""
    server = nodes.servers[dice.choice(SERVERS)]
    server.kill()
    return server.start


def leader_killed(nodes: PooledNodes, going: RowWriter, dice: random.Random) -> Callable[[], None]:
    """The one that has the metadata changed."""
    going.wait_for(lambda: nodes.leader() is not None, "a leader")
    leader = nodes.servers[nodes.leader() or SERVERS[0]]
    leader.kill()
    return leader.start


def network_cut(nodes: PooledNodes, going: RowWriter, dice: random.Random) -> Callable[[], None]:
    """Nothing comes from one, and nobody is told.

    Other voters reach it still, so that it would go on leading: that is a limit of the pool.
    """
    going.wait_for(lambda: nodes.leader() is not None, "a leader")
    leader = nodes.leader()
    network = nodes.networks[dice.choice([name for name in SERVERS if name != leader])]
    network.cut()
    return network.mend


def server_stands_still(
    nodes: PooledNodes, going: RowWriter, dice: random.Random
) -> Callable[[], None]:
    """It takes connections, and answers to nothing."""
    server = nodes.servers[dice.choice(SERVERS)]
    server.send_signal(signal.SIGSTOP)
    return lambda: server.send_signal(signal.SIGCONT)


def disk_full(nodes: PooledNodes, going: RowWriter, dice: random.Random) -> Callable[[], None]:
    """One has no room for blocks."""
    nodes.disk.fill()
    return nodes.disk.empty


FAULTS = {
    "server killed": server_killed,
    "leader killed": leader_killed,
    "network cut": network_cut,
    "server stands still": server_stands_still,
    "disk full": disk_full,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_under_load(crash_round, fault, nodes, program, dice):
    """The writer goes on, without an error, and nothing is lost."""
    with writer(nodes, program) as going:
        going.wait_for_rows(dice.randrange(4, 100))
        mend = FAULTS[fault](nodes, going, dice)
        try:
            going.wait_for_rows(dice.randrange(100, 300))
        finally:
            mend()
        going.wait_for_rows(dice.randrange(4, 100))
        going.kill()
        assert checked_rows(program, nodes.options(), DATABASE) >= going.acknowledged


def test_killed_store(crash_round, nodes, program, dice):
    with writer(nodes, program) as going:
        going.wait_for_rows(dice.randrange(4, 200))
        going.kill()
        assert checked_rows(program, nodes.options(), DATABASE) >= going.acknowledged


def test_killed_agent_of_the_store(crash_round, nodes, program, dice):
    """What the agent had not written yet is lost, as with a machine; what was synced is not."""
    with writer(nodes, program) as going:
        going.wait_for_rows(dice.randrange(4, 200))
        nodes.store.kill()
        going.kill()
        nodes.start_store_agent()
        assert checked_rows(program, nodes.options(), DATABASE) >= going.acknowledged


def test_agent_that_is_started_anew(crash_round, nodes, program, dice):
    """A store goes on by itself with an agent that was away."""
    with writer(nodes, program, persists=True) as going:
        going.wait_for_rows(dice.randrange(4, 100))
        if dice.randrange(2):
            nodes.store.kill()
        else:
            nodes.store.end()
        nodes.start_store_agent()
        going.wait_for_rows(dice.randrange(50, 200))
        going.kill()
        assert checked_rows(program, nodes.options(), DATABASE) >= going.acknowledged


def counted(nodes: PooledNodes, going: RowWriter, result: str) -> None:
    """Write until one more compaction has come to a result."""
    before = nodes.jobs(result)
    going.wait_for(lambda: nodes.jobs(result) > before, f"a compaction that is {result}")


def without_peer(nodes: PooledNodes) -> float:
    """Give how many jobs the store was left with for want of a peer."""
    return nodes.jobs("peer-lost") + nodes.jobs("no-peer")


def wait_for_no_output(nodes: PooledNodes) -> None:
    wait_for("the end of what jobs have left", lambda: not nodes.has_output(DATABASE))


def test_compactions_run_on_other_nodes(crash_round, nodes, program):
    """Nothing is left of them in the database."""
    with writer(nodes, program) as going:
        counted(nodes, going, "done")
        counted(nodes, going, "done")
        going.kill()
        assert checked_rows(program, nodes.options(), DATABASE) >= going.acknowledged
        wait_for_no_output(nodes)


def test_killed_worker(crash_round, nodes, program):
    """Its compaction is done in the store."""
    with writer(nodes, program) as going:
        lost = nodes.jobs("worker-lost")

        def is_one_lost() -> bool:
            nodes.signal_workers(signal.SIGKILL)
            return nodes.jobs("worker-lost") > lost

        going.wait_for(is_one_lost, "a compaction whose worker is lost")
        counted(nodes, going, "done")
        going.kill()
        assert checked_rows(program, nodes.options(), DATABASE) >= going.acknowledged
        wait_for_no_output(nodes)


def test_peer_that_comes_back_too_late(crash_round, nodes, program):
    """What a worker writes that the store has given up changes nothing."""
    with writer(nodes, program) as going:
        lost = without_peer(nodes)
        going.wait_for(lambda: nodes.signal_workers(signal.SIGSTOP), "a worker")
        nodes.servers[WORKER].send_signal(signal.SIGSTOP)
        try:
            going.wait_for(lambda: without_peer(nodes) > lost, "the loss of the peer")
        finally:
            nodes.servers[WORKER].send_signal(signal.SIGCONT)
            nodes.signal_workers(signal.SIGCONT)
        counted(nodes, going, "done")
        going.kill()
        assert checked_rows(program, nodes.options(), DATABASE) >= going.acknowledged
        wait_for_no_output(nodes)


def test_repair_completes(crash_round, nodes, program):
    """What the faults of a round have cost is made anew, and read in full."""
    wait_for("repair", nodes.is_whole)
    assert checked_rows(program, nodes.options(), DATABASE) > 0
