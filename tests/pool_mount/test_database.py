"""PostgreSQL in a mount: it, the mount and the agent are killed, and every commit is there.

SLUICE_POSTGRES_HOME is the folder of its build; SLUICE_CRASH_ROUNDS says how often (default 1).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster import own
from durability import SUMS, check_commits
from mounted_pool import MountedPool
from powered_server import SCALE, Load, PoweredServer

SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "32MB",
    # Checkpoints, and logs that are used again, within a test.
    "checkpoint_timeout": "30s",
    "max_wal_size": "64MB",
    "min_wal_size": "32MB",
    "restart_after_crash": "off",
}


@pytest.fixture(scope="module")
def server(pool: MountedPool) -> Iterator[PoweredServer]:
    """A server with its data in the mount, and pgbench's tables."""
    os.environ["PGCTLTIMEOUT"] = "600"
    data = pool.mount_point / "data"
    started = PoweredServer(Path(os.environ["SLUICE_POSTGRES_HOME"]), pool.folder / "server", data)
    data.mkdir()
    own(data)
    started.run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-k")
    started.configure({**SETTINGS, "unix_socket_directories": str(started.folder)})
    try:
        started.start()
        started.execute("CREATE EXTENSION amcheck")
        started.run("pgbench", "-i", "-q", "-s", str(SCALE), "postgres")
        yield started
    finally:
        started.kill(started.running())


@pytest.fixture
def load(server: PoweredServer) -> Iterator[Load]:
    server.execute(
        "TRUNCATE pgbench_history",
        "UPDATE pgbench_accounts SET abalance = 0 WHERE abalance <> 0",
        "UPDATE pgbench_tellers SET tbalance = 0",
        "UPDATE pgbench_branches SET bbalance = 0",
    )
    started = Load(server)
    started.wait_for_commits(300)
    yield started
    started.end()


def check(server: PoweredServer, load: Load) -> None:
    """All commits that were acknowledged are there, and nothing disagrees."""
    check_commits(server, load.acknowledged())
    assert server.value(SUMS), "the sums disagree"
    server.run("pg_amcheck", "--heapallindexed", "--parent-check", "postgres")
    server.stop()
    server.run("pg_checksums", "-c", "-D", server.data)
    server.start()


def test_server_killed(crash_round: int, server: PoweredServer, load: Load):
    server.kill(server.running())
    server.start()
    check(server, load)


def test_mount_killed(crash_round: int, pool: MountedPool, server: PoweredServer, load: Load):
    running = server.running()
    pool.kill_mount()
    server.kill(running)
    pool.mount()
    server.start()
    check(server, load)


def test_agent_killed(crash_round: int, pool: MountedPool, server: PoweredServer, load: Load):
    pool.client.kill()
    pool.start_client()
    load.wait_for_commits(300)
    server.kill(server.running())
    server.start()
    check(server, load)


def test_agent_and_mount_killed(
    crash_round: int, pool: MountedPool, server: PoweredServer, load: Load
):
    running = server.running()
    pool.client.kill()
    pool.kill_mount()
    server.kill(running)
    pool.start_client()
    pool.mount()
    server.start()
    check(server, load)
