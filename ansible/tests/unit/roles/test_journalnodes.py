"""JournalNodes without data, and those that a restart asks before it."""

import itertools

import pytest
from hdfs_hosts import JOURNAL, THREE, found, hdfs, looked
from role_files import Host, task_of, tasks_of


def with_journals(holding: list[str], playing: list[str] = THREE, of: list[str] = THREE) -> Host:
    hosts = {
        name: {"inventory_hostname": name}
        | looked(hdfs(name), [JOURNAL] if name in holding else [])
        for name in playing
    }
    groups = {"hdfs_namenode": of[:2], "hdfs_journalnode": of, "hdfs_datanode": of}
    return Host("hdfs", of[-1], groups=groups, hostvars=hosts, ansible_play_hosts=playing)


def test_a_journal_is_told_from_the_data_of_a_datanode():
    assert looked(hdfs("hb3"), [JOURNAL])["_hdfs_journal_version"] == JOURNAL
    data = looked(hdfs("hb3"), ["/var/lib/sluice/hdfs/main/data/current/VERSION"])
    assert data["_hdfs_has_data"] is True and data["_hdfs_journal_version"] == ""


@pytest.mark.parametrize(
    ("holding", "playing", "accepted"),
    [
        (["hb1", "hb2"], THREE, True),
        # The other one may be behind, and the two without it would be a majority.
        (["hb1"], THREE, False),
        # A run with --limit cannot know.
        ([], ["hb3"], False),
        (["hb2"], ["hb2", "hb3"], False),
    ],
)
def test_an_empty_journalnode_joins_when_a_majority_holds_the_log(holding, playing, accepted):
    name = "Refuse to let a JournalNode begin anew when no majority holds the log"
    task = task_of("hdfs", "join_journal.yml", name)
    host = with_journals(holding, playing)
    assert host.holds(task, "that") is accepted
    assert "/var/lib/sluice/hdfs/main/journal" in host.message(task)


def test_whatever_majority_comes_after_it_has_one_that_was_asked():
    five = [f"hb{number}" for number in range(1, 6)]
    task = task_of(
        "hdfs",
        "join_journal.yml",
        "Refuse to let a JournalNode begin anew when no majority holds the log",
    )
    for count in range(5):
        host = with_journals(five[:count], five, five)
        majorities = list(itertools.combinations(five, 3))
        safe = all(set(five[:count]) & set(majority) for majority in majorities)
        assert host.holds(task, "that") is safe


def test_those_that_hold_the_log_are_asked_before_it_joins_and_it_is_after():
    names = [task["name"] for task in tasks_of("hdfs", "join_journal.yml")]
    stop = names.index("Stop the JournalNode")
    before, after = [
        (position, task)
        for position, task in enumerate(tasks_of("hdfs", "join_journal.yml"))
        if task.get("ansible.builtin.include_tasks") == "journals_agree.yml"
    ]
    assert before[0] < stop < after[0]
    host = with_journals(["hb1", "hb2"])
    pages = [
        host.templar(task).resolve_variable_expression("_hdfs_agreeing_pages")
        for _, task in (before, after)
    ]
    assert pages[0] == ["http://hb1:8480", "http://hb2:8480"]
    assert pages[1] == [*pages[0], "http://hb3:8480"]


def test_a_journalnode_that_stops_need_not_take_part_itself():
    assert hdfs("hb2").value("_hdfs_agreeing_pages") == ["http://hb1:8480", "http://hb3:8480"]


def test_a_first_run_and_check_let_no_journalnode_join():
    [joining] = [task for task in tasks_of("hdfs", "run.yml") if "join_journal" in str(task)]
    assert not hdfs("hb3").holds(joining, ansible_check_mode=True)
    assert hdfs("hb3").holds(joining, ansible_check_mode=False)
    # After the file system serves, so after each JournalNode was formatted.
    block = task_of("hdfs", "join_journal.yml", "Format it as the others are")
    assert not hdfs("hb3").holds(block, _hdfs_journal=found(True))
    names = [task["name"] for task in tasks_of("hdfs", "run.yml")]
    assert names.index("Have the daemons serve") < names.index(joining["name"])


def test_a_journalnode_that_is_behind_is_named():
    task = task_of("hdfs", "journals_agree.yml", "Require that they have")
    known = {"_hdfs_log": {"transaction": 41}}
    written = {"http://hb1:8480": 43, "http://hb2:8480": -1, "http://hb3:8480": 41}
    known["_hdfs_status"] = {"failed": True, "journal_transactions": written}
    assert not hdfs("hb1").holds(task, "that", **known)
    message = hdfs("hb1").message(task, **known)
    assert "http://hb2:8480, http://hb3:8480" in message and "hb1" not in message
