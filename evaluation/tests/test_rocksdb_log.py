"""What the reader of RocksDB's info logs makes of them."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sluice_evaluation import store_logs
from sluice_evaluation.store_logs import Sample, rocksdb

# Header, a flush and a dump of statistics, as RocksDB 11.8.1 has written them.
LOG = (Path(__file__).parent / "data" / "rocksdb-11.8.1.log").read_text().splitlines()
EPOCH = 1_795_424_400.0


def stamp(seconds):
    return datetime.fromtimestamp(EPOCH + seconds, UTC).strftime("%Y/%m/%d-%H:%M:%S.%f") + " 140"


def opened(host, seconds=0.0):
    return [
        f"{stamp(seconds)} RocksDB version: 11.8.1",
        f"{stamp(seconds)} Host name (Env):  {host}",
    ]


def event(seconds, **members):
    text = json.dumps({"time_micros": round((EPOCH + seconds) * 1e6)} | members)
    return f"{stamp(seconds)} EVENT_LOG_v1 {text}"


def compaction(job, start, end, remote=False):
    """The lines of a compaction of 3000 bytes to 2000."""
    began = event(start, job=job, event="compaction_started", input_data_size=3000)
    sent = [f"{stamp(end)} [x.cc:220] [default] [JOB {job}] Received remote compaction result, "]
    ended = event(end, job=job, event="compaction_finished", output_level=1, total_output_size=2000)
    return [began, *(sent if remote else []), ended]


def dump(seconds, stalled, pending):
    return [
        f"{stamp(seconds)} [db/db_impl/db_impl.cc:1537] ------- DUMPING STATS -------",
        f"Cumulative stall: 00:00:{stalled:.3f} H:M:S, 0.0 percent",
        "Interval stall: 00:00:0.000 H:M:S, 0.0 percent",
        f"Estimated pending compaction bytes: {pending}",
    ]


def test_compactions_with_place_and_extent():
    lines = opened("rd1") + compaction(3, 1.5, 2.5) + compaction(4, 3.0, 7.0, remote=True)
    local, remote = store_logs.reader("rocksdb").read(lines)
    assert (local.start, local.end) == (EPOCH + 1.5, EPOCH + 2.5)
    assert local.attributes == {
        "finished": True, "remote": False, "host": "rd1", "output_level": 1,
        "input_bytes": 3000, "output_bytes": 2000,
    }  # fmt: skip
    assert remote.attributes["remote"] and remote.name == "compaction-2"


def test_jobs_of_two_databases_are_told_apart():
    first = opened("rd1") + compaction(3, 1.0, 2.0, remote=True)
    first += [event(5.0, job=4, event="compaction_started", input_data_size=10)]
    second = opened("rd2") + compaction(3, 1.0, 4.0)
    found = rocksdb.read(first + second)
    assert [e.attributes["host"] for e in found] == ["rd1", "rd1", "rd2"]
    assert [e.attributes["finished"] for e in found] == [True, False, True]
    assert [e.attributes.get("remote") for e in found] == [True, None, False]
    assert len({e.name for e in found}) == 3
    assert found[1].end == EPOCH + 5.0


def test_metrics_tell_local_from_remote():
    lines = opened("rd1") + compaction(3, 1.5, 2.5) + compaction(4, 3.0, 7.0, remote=True)
    lines += compaction(5, 3.0, 7.0, remote=True)
    assert rocksdb.metrics(rocksdb.read(lines)) == {
        "compactions_count": 3,
        "unfinished_compactions_count": 0,
        "remote_compactions_count": 2,
        "local_compaction_input_bytes": 3000,
        "remote_compaction_input_bytes": 6000,
        "local_compaction_output_bytes": 2000,
        "remote_compaction_output_bytes": 4000,
    }


def test_debt_and_stalls_are_read_of_a_real_log():
    moment = datetime(2026, 11, 23, 8, 40, 13, 964596, UTC).timestamp()
    stalled, pending = rocksdb.samples(LOG)
    assert stalled.epoch_seconds == pytest.approx(moment)
    assert (stalled.name, stalled.source) == ("stalled_seconds", "store:vm:1")
    assert pending == Sample(stalled.epoch_seconds, "store:vm:1", "pending_bytes", 11003)
    assert rocksdb.read(LOG) == []


def test_databases_are_added_up_and_a_new_opening_begins_anew():
    lines = opened("rd1") + dump(0, 1.0, 0) + dump(10, 3.0, 700) + dump(20, 6.0, 500)
    lines += opened("rd1", 30) + dump(31, 0.5, 100)
    lines += opened("rd2") + dump(0, 0.0, 10) + dump(20, 1.0, 20)
    found = rocksdb.metrics_between(list(rocksdb.samples(lines)), EPOCH, EPOCH + 20)
    assert found == {
        "pending_bytes": 520,
        "largest_pending_bytes": 720,
        "stalled_seconds": 6.0,
        "stalled_ratio": pytest.approx((5 + 1) / 2 / 20),
    }


def test_nothing_is_told_of_a_time_without_a_dump():
    assert rocksdb.metrics_between([], 0, 10) == {}


def test_a_line_that_was_cut_off_is_left_out():
    assert rocksdb.read([*opened("rd1"), f'{stamp(1)} EVENT_LOG_v1 {{"time_micros": 17}}']) == []
    assert rocksdb.read([f'{stamp(1)} EVENT_LOG_v1 {{"time_micros": }}']) == []
