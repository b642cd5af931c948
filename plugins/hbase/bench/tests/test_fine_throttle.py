"""What the measurement of reads beside a compaction reads and computes."""

import subprocess
from datetime import datetime
from pathlib import Path

import control_groups
import pytest
from compaction_log import compactions_in, wait_for_compactions
from datanode_files import datanode_bytes, drop_from_memory
from fine_throttle import ARMS, QUIET, STREAMS, Run, figures_of, run_of
from memory_group import MemoryGroup, reclaim
from sluice_evaluation.histograms import Interval, from_values, write_log
from throttled_disk import ThrottledDisk
from ycsb_load import Records

LOG = """\
2026-11-23T07:42:34,952 INFO  [a-0] regionserver.HRegion: Starting compaction of 8f/x in b,,17.8f.
2026-11-23T07:42:34,955 INFO  [a-0] regionserver.HStore: Starting compaction of [hdfs://1] into tmp
2026-11-23T07:42:35,000 INFO  [a-0] regionserver.HStore: Completed major compaction of 5 (all) \
file(s) in 8f/x of 8f into 59(size=118.3 M), total size for store is 118.3 M.
2026-11-23T07:42:35,100 INFO  [a-0] regionserver.HStore: Starting compaction of [hdfs://2] into tmp
"""
END = """\
2026-11-23T07:42:36,250 INFO  [a-0] regionserver.HStore: Completed major compaction of 5 (all) f
"""


def test_the_log_says_when_compactions_ran():
    assert compactions_in("nothing\n") is None
    first = datetime.fromisoformat("2026-11-23T07:42:34.955").timestamp()
    running = compactions_in(LOG)
    assert (running.first_begin, running.ended) == (first, 1)
    both = compactions_in(LOG + END)
    assert both.ended == 2
    assert both.last_end - both.first_begin == pytest.approx(1.295)
    second = compactions_in(LOG + END, since=first + 0.1)
    assert (second.first_begin, second.ended) == (pytest.approx(first + 0.145), 1)


def test_compactions_are_waited_for_until_all_have_ended():
    logs = iter([LOG, LOG + END, LOG + END])
    seen = wait_for_compactions(lambda: next(logs), compactions_in(LOG + END).ended, 0.0)
    assert seen == compactions_in(LOG + END)


def test_the_controller_is_found_where_it_is_mounted():
    mounts = "tmpfs / tmpfs rw 0 0\ncgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n"
    assert str(control_groups.folder("memory", mounts)) == "/sys/fs/cgroup/memory"
    with pytest.raises(SystemExit, match="mount -t cgroup -o memory"):
        control_groups.folder("memory", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n")


def test_limits_of_a_disk_are_taken_away_again(tmp_path):
    disk = ThrottledDisk(tmp_path, tmp_path, tmp_path)
    disk.free()
    written = {file.name: file.read_text().split() for file in tmp_path.iterdir()}
    assert set(written) == {
        f"blkio.throttle.{direction}_{unit}_device"
        for direction in ("read", "write")
        for unit in ("bps", "iops")
    }
    assert all(limit == "0" for _, limit in written.values())


def test_blocks_are_counted_and_dropped(tmp_path):
    (tmp_path / "finalized").mkdir()
    (tmp_path / "finalized/blk_1").write_bytes(bytes(7))
    (tmp_path / "blk_1_2.meta").write_bytes(bytes(3))
    (tmp_path / "VERSION").write_bytes(bytes(5))
    assert datanode_bytes(tmp_path) == 10
    assert drop_from_memory(tmp_path) == 2


def test_a_command_enters_its_group_before_it_runs(tmp_path):
    group = MemoryGroup(tmp_path)
    command = [*group.under, "sh", "-c", "echo $$ $1", "sh", "of its own"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert printed == [(tmp_path / "cgroup.procs").read_text().strip(), "of", "its", "own"]


def test_pages_are_freed_before_a_group_is_full(tmp_path, monkeypatch):
    limit, usage = (tmp_path / f"memory.{name}_in_bytes" for name in ("limit", "usage"))
    kept, whole = 48 << 20, 64 << 20
    written = []
    monkeypatch.setattr(Path, "write_text", lambda path, text: written.append((path, int(text))))
    usage.write_bytes(str(kept).encode())
    reclaim(tmp_path, whole)
    assert written == []
    usage.write_bytes(str(kept + 4096).encode())
    reclaim(tmp_path, whole)
    assert written == [(limit, kept), (limit, whole)]


def test_a_run_is_what_lies_between_begin_and_end(tmp_path):
    start = 1_000.0
    seconds = [
        Interval(start + second, start + second + 1, from_values([latency] * 200))
        for second, latency in enumerate([9_000_000, 4000, 4000, 9_000_000])
    ]
    write_log(tmp_path / "Intended-READ.hdr", seconds)
    run = run_of(tmp_path, start + 1, start + 3)
    assert run.p99_seconds == pytest.approx(0.004, rel=0.01)
    assert run.answered_ratio == pytest.approx(1)
    assert run.compaction_seconds == 2
    with pytest.raises(SystemExit, match="use more records"):
        run_of(tmp_path, start + 5, start + 5.2)


def runs_of(factors):
    quiet = [0.0040, 0.0041, 0.0039, 0.0040]
    return {name: [Run(factors[name] * value, 1.0, 35) for value in quiet] for name in ARMS}


def test_arms_are_compared_with_the_run_without_a_compaction():
    factors = dict.fromkeys(ARMS, 2.0) | {QUIET: 1, "stock": 20, "plug-in": 1.1}
    figures = {figure.quantity: figure for figure in figures_of(runs_of(factors))}
    assert figures["plug-in: p99 of reads over that without a compaction"].status == "met"
    assert figures["stock: p99 of reads over that without a compaction"].status == "met"
    factors |= {"stock": 2, "plug-in": 3}
    figures = {figure.quantity: figure for figure in figures_of(runs_of(factors))}
    assert figures["plug-in: p99 of reads over that without a compaction"].status == "missed"
    assert figures["stock: p99 of reads over that without a compaction"].status == "missed"


def test_reads_that_were_not_answered_are_told():
    runs = runs_of(dict.fromkeys(ARMS, 1.0))
    runs["stock"][1] = Run(0.1, 0.7, 35)
    assert [figure.status for figure in figures_of(runs)][-1] == "missed"


def test_arms_differ_in_what_they_are_called_after(tmp_path):
    layouts = {name: arm.layout("", tmp_path) for name, arm in ARMS.items()}
    assert {name for name, each in layouts.items() if each.plugin} == {
        "plug-in",
        "plug-in, read-ahead not bounded",
    }
    streams = [name for name, each in layouts.items() if STREAMS.items() <= each.site.items()]
    assert streams == ["plug-in, read-ahead not bounded"]


def test_a_copy_of_a_table_has_its_records():
    words = Records(1000, regions=4, files=5).properties("clone")
    assert "table=clone" in words
    assert "recordcount=1000" in words
    assert words.count("-p") == len(words) // 2
