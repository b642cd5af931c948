"""What the readers of the stores' logs make of real logs."""

from pathlib import Path

import pytest
from sluice_evaluation import store_logs
from sluice_evaluation.store_logs import postgres

# Written by PostgreSQL 17.11 under pgbench, max_wal_size 32MB, killed once and started again.
LOG = (Path(__file__).parent / "data" / "postgres-17.11.log").read_text().splitlines()


@pytest.fixture
def events():
    return store_logs.reader("postgres").read(LOG)


def test_checkpoints_with_cause_and_extent(events):
    checkpoints = [event for event in events if event.kind == "checkpoint"]
    assert [c.attributes["cause"] for c in checkpoints] == [
        "wal", "wal", "wal", "end-of-recovery immediate wait", "shutdown immediate",
    ]  # fmt: skip
    second = checkpoints[1]
    assert second.attributes["buffers_count"] == 2073
    assert second.attributes["write_seconds"] == 1.834
    assert second.attributes["wal_distance_bytes"] == 16582 * 1024
    assert second.end == 1795205416.648 and second.end - second.start == pytest.approx(1.99)


def test_a_checkpoint_that_the_kill_cut_off_is_there_unfinished(events):
    cut = [e for e in events if e.kind == "checkpoint" and not e.attributes["finished"]]
    assert [(e.start, e.end) for e in cut] == [(1795205416.648, 1795205423.896)]


def test_metrics_of_the_log(events):
    assert postgres.metrics(events) == {
        "checkpoints_count": 2,
        "largest_wal_distance_bytes": 28248 * 1024,
        "largest_replay_bytes": 16582 * 1024 + 0x43A9488 - 0x34366C8,
        "checkpoint_sync_seconds": 0.22,
        "redo_seconds": 0.05,
    }


def test_no_redo_takes_no_time():
    events = postgres.read(["1795205416.648 LOG:  redo is not required"])
    assert postgres.metrics(events)["redo_seconds"] == 0.0


def test_lines_of_version_18_are_read():
    line = (
        "1795205424.190 LOG:  checkpoint complete: wrote 7 buffers (0.1%), wrote 2 SLRU buffers; "
        "0 WAL file(s) added, 0 removed, 0 recycled; write=0.001 s, sync=0.001 s, total=0.002 s; "
        "sync files=1, longest=0.001 s, average=0.001 s; distance=12 kB, estimate=12 kB; "
        "lsn=1/20000000, redo lsn=1/1F000000"
    )
    (event,) = postgres.read([line])
    assert event.attributes["buffers_count"] == 7
    assert event.attributes["wal_distance_bytes"] == 12 * 1024
    assert event.attributes["replay_bytes"] == 12 * 1024 + (16 << 20)


def test_other_lines_and_other_stores():
    assert postgres.read(["", "nonsense", "1.5 ERROR:  checkpoint starting: not a log line"]) == []
    assert store_logs.reader("no-such-store") is None
