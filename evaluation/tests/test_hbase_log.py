"""What the reader of region servers' logs makes of compactions that end, fail, or do not end."""

from pathlib import Path

import pytest
from sluice_evaluation import store_logs
from sluice_evaluation.store_logs import hbase

# By HBase 2.6.4 with its throughput at 4 MB/s: two regions of usertable, three files each, merged
# by a major compaction; once more after a larger load, cut off by kill -9.
LOG = (Path(__file__).parent / "data" / "hbase-2.6.4.log").read_text().splitlines()
REGION = "0123456789abcdef0123456789abcdef"


def line(milliseconds: int, message: str, thread: str = "regionserver/a:16020-shortCompactions-0"):
    return f"{milliseconds} INFO [{thread}] HStore: {message}"


def starting(table: str = "data/default/usertable", size: str = "1.5 M", family: str = "f") -> str:
    root = f"hdfs://hb1:8020/hbase/{table}/{REGION}"
    files = f"{root}/{family}/{'1' * 32}, {root}/{family}/{'2' * 32}"
    return f"Starting compaction of [{files}] into tmpdir={root}/.tmp, totalSize={size}"


def completed(kind: str = " major") -> str:
    return (
        f"Completed{kind} compaction of 2 (all) file(s) in {REGION}/f of usertable,,1.{REGION}. "
        f"into {'3' * 32}(size=1.4 M), total size for store is 1.4 M. This selection was in queue "
        "for 0sec, and took 2sec to execute."
    )


def test_the_reader_is_found_by_the_stores_name():
    assert store_logs.reader("hbase") is hbase


def test_a_compaction_has_its_thread_in_common():
    other = "regionserver/a:16020-longCompactions-0"
    events = hbase.read([
        line(1795205416000, starting()),
        line(1795205416500, starting(size="2 G", family="g"), other),
        line(1795205418250, completed()),
        line(1795205418251, "Completed compaction region=usertable; duration=2sec"),
        line(1795205419500, completed(""), other),
    ])  # fmt: skip
    assert [(e.start, e.end) for e in events] == [
        (1795205416.0, 1795205418.25),
        (1795205416.5, 1795205419.5),
    ]
    first, second = (event.attributes for event in events)
    assert first == {
        "finished": True, "major": True, "table": "usertable", "region": REGION, "family": "f",
        "input_bytes": 3 << 19, "files_count": 2,
    }  # fmt: skip
    assert (second["family"], second["major"], second["input_bytes"]) == ("g", False, 2 << 30)
    assert hbase.metrics(events) == {
        "compactions_count": 2,
        "unfinished_compactions_count": 0,
        "compaction_input_bytes": (3 << 19) + (2 << 30),
        "compaction_seconds": 3.5,
    }


@pytest.mark.parametrize("end", ["Aborted compaction region=x", "Compaction failed region=x"])
def test_one_that_does_not_finish_leaves_no_time(end):
    events = hbase.read([
        line(1795205416000, starting()),
        line(1795205417000, completed()),
        line(1795205417000, starting()),
        line(1795205419000, end),
    ])  # fmt: skip
    assert [e.attributes["finished"] for e in events] == [True, False]
    assert "major" not in events[1].attributes
    found = hbase.metrics(events)
    assert found["unfinished_compactions_count"] == 1
    assert "compaction_seconds" not in found


def test_one_that_the_log_cuts_off_ends_with_it():
    events = hbase.read([line(1795205416000, starting()), line(1795205420000, "anything else")])
    assert [(e.end, e.attributes["finished"]) for e in events] == [(1795205420.0, False)]


@pytest.mark.parametrize("table", ["data/hbase/meta", "MasterData/data/master/store"])
def test_tables_of_hbase_itself_are_left_out(table):
    lines = [line(1795205416000, starting(table)), line(1795205417000, completed())]
    assert hbase.read(lines) == []


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("100", 100), ("1 K", 1024), ("13.5 K", 13824), ("1,5 G", 3 << 29)]
)
def test_sizes_are_read_as_hadoop_prints_them(text, size):
    (event,) = hbase.read([line(1795205416000, starting(size=text))])
    assert event.attributes["input_bytes"] == size


def test_other_lines_are_no_compactions():
    assert hbase.read(["", "nonsense", f"12 INFO [t] HStore: {starting()}"]) == []
    assert hbase.metrics([]) == {
        "compactions_count": 0,
        "unfinished_compactions_count": 0,
        "compaction_input_bytes": 0,
    }


def test_a_real_log():
    events = hbase.read(LOG)
    finished = [e for e in events if e.attributes["finished"]]
    assert len(finished) == 2 and len(events) > 2
    assert len({e.attributes["region"] for e in finished}) == 2
    for event in finished:
        assert event.attributes["major"] and event.attributes["files_count"] == 3
        assert (event.attributes["table"], event.attributes["family"]) == ("usertable", "f")
        # About a third of 18,000 records of a kilobyte and more.
        assert 5e6 < event.attributes["input_bytes"] < 2e7
        assert 0 < event.end - event.start < 60
    assert "compaction_seconds" not in hbase.metrics(events)
    assert "compaction_seconds" in hbase.metrics(finished)


def elsewhere(node: str = "hb2") -> str:
    return f"{node} compacts 2 files of f as 01234567-89ab-cdef-0123-456789abcdef"


@pytest.mark.parametrize(
    ("said", "place", "count"),
    [
        ([elsewhere()], {"node": "hb2"}, {"remote_compactions_count": 1}),
        (
            ["f is compacted here (below-threshold): no peer is less loaded"],
            {"local_reason": "below-threshold"},
            {"remote_compactions_count": 0, "local_compactions_below_threshold_count": 1},
        ),
        # Begun there, and lost.
        (
            [elsewhere(), "f is compacted here (worker-lost): it was killed"],
            {"local_reason": "worker-lost"},
            {"remote_compactions_count": 0, "local_compactions_worker_lost_count": 1},
        ),
        (
            ["f is compacted here: the job could not be offered"],
            {"local_reason": "offload-failed"},
            {"remote_compactions_count": 0, "local_compactions_offload_failed_count": 1},
        ),
        (["f has nothing to do with it"], {}, {}),
    ],
)
def test_a_compaction_that_was_offered_says_where_it_was_done(said, place, count):
    lines = [starting(), *said, completed()]
    events = hbase.read(line(1795205416000 + at, text) for at, text in enumerate(lines))
    [event] = events
    found = {name: event.attributes.get(name) for name in ("node", "local_reason")}
    assert {name: value for name, value in found.items() if value} == place
    metrics = hbase.metrics(events)
    assert {n: v for n, v in metrics.items() if n.startswith(("remote_", "local_"))} == count


def test_one_that_was_not_finished_is_counted_in_no_place():
    events = hbase.read([line(1795205416000, starting()), line(1795205416001, elsewhere())])
    assert "remote_compactions_count" not in hbase.metrics(events)
