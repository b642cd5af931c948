"""A loss of power at each point at which the extension makes the checkpointer wait.

What the server has not synced is lost: with the kernel's page cache, and with a write cache in the
disk. Afterwards it recovers by itself; every commit that a client was told of is there, the sums
agree, and so do indexes and checksums. SLUICE_CRASH_ROUNDS says how often (default 1).
"""

import os

import durability
import pytest
from sluice_evaluation.bench.waiting import wait_until

LEASE = "'test', '10 min'"
DIRTY_BUFFERS = "INSERT INTO pages SELECT i, repeat('x', 1000) FROM generate_series(1, 20000) i"

# Orders, and what is true of the progress row when they have come into effect.
POINTS = {
    "held write phase": [
        (
            [f"SELECT sluice.start_checkpoint({LEASE}, rate_bytes_per_second => 65536)"],
            "phase = 'write' AND buffers_done > 0",
        ),
        ([f"SELECT sluice.set_checkpoint_pace('hold', {LEASE})"], "state = 'held'"),
    ],
    "paced write phase": [
        (
            [f"SELECT sluice.start_checkpoint({LEASE}, rate_bytes_per_second => 1000000)"],
            "phase = 'write' AND pace = 'rate' AND buffers_done > 10",
        )
    ],
    "middle of the sync phase": [
        (
            [
                f"SELECT sluice.set_sync_gap('1 s', {LEASE})",
                f"SELECT sluice.start_checkpoint({LEASE}, duration => '10 ms')",
            ],
            "phase = 'sync' AND files_done BETWEEN 1 AND files_total - 1",
        )
    ],
    "after the end of a checkpoint that was held": [
        (
            [
                f"SELECT sluice.set_sync_gap('50 ms', {LEASE})",
                f"SELECT sluice.start_checkpoint({LEASE}, rate_bytes_per_second => 65536)",
            ],
            "phase = 'write' AND buffers_done > 0",
        ),
        ([f"SELECT sluice.set_checkpoint_pace('hold', {LEASE})"], "state = 'held'"),
        ([f"SELECT sluice.set_checkpoint_pace('full', {LEASE})"], "state = 'idle'"),
    ],
    "real deferral": [
        (
            [
                f"SELECT sluice.defer_checkpoint(1::bigint << 30, {LEASE})",
                "ALTER SYSTEM SET max_wal_size = '32MB'",
                "ALTER SYSTEM SET sluice.wal_bound = '1GB'",
                "SELECT pg_reload_conf()",
                "SELECT pg_switch_wal()",
            ],
            "state = 'deferred' AND wal_distance_bytes > 32 * 1024 * 1024",
        )
    ],
}


def bring_to(server, load, steps) -> None:
    """Give the orders of a point; the load goes on while they are in effect."""
    for orders, condition in steps:
        server.execute(*orders)
        server.wait_for(condition)
    load.wait_for_commits(100)
    assert server.progress_is(steps[-1][1]), "the point has passed"


@pytest.mark.parametrize("point", POINTS)
def test_power_loss(crash_round, point, stand):
    server = stand.server("server", on_disk=True)
    server.start()
    load = stand.load(server)
    server.execute(DIRTY_BUFFERS)
    load.wait_for_commits(100)
    bring_to(server, load, POINTS[point])
    stand.lose_power(server)
    acknowledged = load.acknowledged()
    assert acknowledged.total() > 100
    print(f"{acknowledged.total()} commits were acknowledged")
    assert "redo starts at" in durability.start(server)
    durability.check(server, acknowledged)


def test_power_loss_of_a_standby_in_a_held_restartpoint(crash_round, stand):
    """Commits wait for the standby, so those that were acknowledged survive on it alone."""
    primary = stand.server("primary", on_disk=False, synchronous_standby_names="*")
    standby = stand.server(
        "standby",
        on_disk=True,
        primary_conninfo=f"host={primary.folder} user=postgres",
    )
    (standby.data / "standby.signal").touch()
    primary.start()
    standby.start()
    load = stand.load(primary)
    primary.execute(DIRTY_BUFFERS, "CHECKPOINT")
    replayed = f"pg_last_wal_replay_lsn() >= '{primary.value('SELECT pg_current_wal_lsn()')}'"
    wait_until(lambda: standby.value(f"SELECT {replayed}"), replayed)
    bring_to(standby, load, POINTS["held write phase"])
    assert standby.progress_is("kind = 'restartpoint'")
    stand.lose_power(standby)
    primary.stop("immediate")
    acknowledged = load.acknowledged()
    assert acknowledged.total() > 100
    print(f"{acknowledged.total()} commits were acknowledged")
    assert "redo starts at" in durability.start(standby)
    standby.execute("SELECT pg_promote()")
    durability.check(standby, acknowledged)


# Tests of the tests above: that they can fail.


@pytest.mark.parametrize(
    "settings",
    [{"fsync": "off"}, {"synchronous_commit": "off", "wal_writer_delay": "10s"}],
    ids=["fsync off", "synchronous_commit off"],
)
def test_lost_commits_are_found(stand, settings):
    server = stand.server("server", on_disk=True, **settings)
    server.start()
    load = stand.load(server)
    server.execute(DIRTY_BUFFERS)
    load.wait_for_commits(1000)
    stand.lose_power(server)
    # Written without a sync it may be empty, and for that alone no server would start.
    (server.data / "postmaster.pid").unlink(missing_ok=True)
    durability.start(server)
    with pytest.raises(durability.DamageError, match="was told of"):
        durability.check(server, load.acknowledged())


@pytest.mark.parametrize(
    ("relation", "damage"),
    [("pgbench_accounts", "sums disagree"), ("pgbench_accounts_pkey", "amcheck")],
)
def test_a_relation_that_a_checkpoint_did_not_sync_is_found(stand, relation, damage):
    server = stand.server("server", on_disk=True, fsync="off")
    server.start()
    load = stand.load(server)
    load.wait_for_commits(1000)
    load.disconnect()
    server.execute("CHECKPOINT")
    left_out = server.value(f"SELECT pg_relation_filepath('{relation}')")
    for file in server.data.rglob("*"):
        if file.is_file() and file != server.data / left_out:
            with file.open("rb") as opened:
                os.fsync(opened.fileno())
    stand.lose_power(server)
    durability.start(server)
    with pytest.raises(durability.DamageError, match=damage):
        durability.check(server, load.acknowledged())
