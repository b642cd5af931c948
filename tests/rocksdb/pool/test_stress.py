"""RocksDB's own stress test in a pool: it is killed, and knows afterwards what must be there."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

from agents import wait_for
from pooled_nodes import VOLUME, PooledNodes
from rocksdb_stage import Staged

DATABASE = "/stress"
KILLS = 3
OPERATIONS_AT_LAST = 200


def options(nodes: PooledNodes, expected: Path) -> list[str]:
    """Give those of a small database that is flushed and compacted all the time."""
    uri = f"id=sluice-pool;volume={VOLUME};agent_socket={nodes.socket}"
    settings = {
        "fs_uri": uri,
        "db": DATABASE,
        "expected_values_dir": expected,
        "max_key": 5000,
        "threads": 4,
        "column_families": 1,
        "write_buffer_size": 1 << 18,
        "target_file_size_base": 1 << 18,
        "value_size_mult": 33,
        "checkpoint_one_in": 2000,
        "get_live_files_apis_one_in": 1000,
        "sync_wal_one_in": 1000,
        "verify_checksum_one_in": 5000,
        # What follows is for debug builds, changes files in place, or compacts by itself elsewhere.
        "read_fault_one_in": 0,
        "metadata_read_fault_one_in": 0,
        "metadata_write_fault_one_in": 0,
        "backup_one_in": 0,
        "remote_compaction_worker_threads": 0,
        "clear_column_family_one_in": 0,
        "reopen": 0,
    }
    return [f"--{name}={value}" for name, value in settings.items()]


def last_file(nodes: PooledNodes) -> int:
    """Give the greatest number of a table of the database."""
    names = nodes.command("list", VOLUME, DATABASE)
    return max(map(int, re.findall(r"(\d{6})\.sst", names)), default=0)


def kill_at_some_time(
    nodes: PooledNodes, command: list[str], log: Path, dice: random.Random
) -> None:
    """Kill it when it has made some tables."""
    with log.open("a") as said:
        running = subprocess.Popen(command, stdout=said, stderr=said)
    try:
        wait_for("the database", lambda: _has_begun(nodes, running, log))
        wanted = last_file(nodes) + dice.randrange(10, 60)
        wait_for("tables", lambda: _lives(running, log) and last_file(nodes) >= wanted)
    finally:
        running.kill()
        running.wait()


def _lives(running: subprocess.Popen[bytes], log: Path) -> bool:
    assert running.poll() is None, log.read_text()
    return True


def _has_begun(nodes: PooledNodes, running: subprocess.Popen[bytes], log: Path) -> bool:
    return _lives(running, log) and DATABASE[1:] in nodes.command("list", VOLUME, "/")


def test_killed_and_verified(
    patched: Staged, nodes: PooledNodes, tmp_path: Path, dice: random.Random
):
    expected = tmp_path / "expected"
    expected.mkdir()
    command = [str(patched.prefix / "bin/db_stress"), *options(nodes, expected)]
    log = tmp_path / "db_stress.log"
    for kill in range(KILLS):
        made = [f"--destroy_db_initially={int(kill == 0)}", "--ops_per_thread=100000000"]
        kill_at_some_time(nodes, [*command, *made], log, dice)
    last = ["--destroy_db_initially=0", f"--ops_per_thread={OPERATIONS_AT_LAST}"]
    done = subprocess.run([*command, *last], capture_output=True, text=True, check=False)
    assert done.returncode == 0, log.read_text() + done.stdout + done.stderr
    assert "Verification successful" in done.stdout
