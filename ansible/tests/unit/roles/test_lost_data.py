"""What the roles do where data is not to be found, and what they take for data."""

import base64
import itertools

import pytest
from hdfs_hosts import JOURNAL, NAME, THREE, found, hdfs, looked
from role_files import Host, task_of, tasks_of


@pytest.mark.parametrize(
    ("host", "paths", "notes", "missing"),
    [
        ("hb1", [NAME, JOURNAL], ("namenode", "journalnode"), []),
        ("hb1", [], (), []),
        # The disk is not mounted.
        ("hb1", [], ("namenode", "journalnode"), ["namenode", "journalnode"]),
        ("hb1", [NAME], ("namenode", "journalnode"), ["journalnode"]),
        # It is a NameNode no longer.
        ("hb3", [JOURNAL], ("namenode", "journalnode"), []),
    ],
)
def test_hdfs_does_not_begin_anew_where_it_had_data(host, paths, notes, missing):
    task = task_of("hdfs", "preflight.yml", "Refuse to begin anew where there was data")
    known = looked(hdfs(host), paths, notes)
    assert known["_hdfs_without_data"] == missing
    assert hdfs(host).holds(task, "that", **known) is (not missing)
    for daemon in missing:
        note = f"/etc/sluice/hdfs/main/{daemon}-has-data"
        assert note in hdfs(host).message(task, **known)


def test_the_way_out_of_a_first_run_that_was_interrupted_names_the_folders():
    task = task_of("hdfs", "format_name.yml", "Refuse to format a cluster that holds data")
    known = {"hdfs_journal_dir": "/srv/j", "hdfs_data_dirs": [{"path": "/srv/d"}]}
    message = hdfs("hb1", **known).message(task, _hdfs_holders=["hb1"])
    assert "stop sluice-hdfs-*@main" in message
    assert "/var/lib/sluice/hdfs/main/name.incoming, /srv/j, /srv/d" in message


def test_the_mount_point_of_the_name_folder_stays_whose_it_is():
    host = hdfs("hb1", hdfs_name_dir="/srv/disk1/name")
    assert "/srv/disk1" not in host.value("_hdfs_folders")
    names = [task["name"] for task in tasks_of("hdfs", "name_data.yml")]
    making = task_of("hdfs", "name_data.yml", "Make its folder")
    # What formats it, or copies into it, may not write above it.
    assert names.index(making["name"]) < names.index("Copy it from the other NameNode")
    folder = host.templar(making).template(making["ansible.builtin.file"])
    assert (folder["path"], folder["owner"]) == ("/srv/disk1/name.incoming", "hdfs")


def zookeeper(**known: object) -> Host:
    groups = {"zookeeper": THREE}
    return Host("zookeeper", "hb1", groups=groups, hostvars={name: {} for name in THREE}, **known)


def zookeeper_looked(host: Host, names: list[str] | None, former: str = "", **listed) -> dict:
    files = [{"path": f"/var/lib/sluice/zookeeper/main/version-2/{name}"} for name in names or []]
    content = {"content": base64.b64encode(former.encode()).decode()} if former else {}
    return host.facts(
        task_of("zookeeper", "preflight.yml", "Note what was found"),
        _zookeeper_data=found(names is not None),
        _zookeeper_files={"files": files, "skipped_paths": {}} | listed,
        _zookeeper_former=content,
        _zookeeper_units={"stdout_lines": []},
        _zookeeper_enabled={"files": []},
    )


BEFORE_A_QUORUM = ["snapshot.0", "acceptedEpoch", "currentEpoch"]


@pytest.mark.parametrize(
    ("names", "has_data"),
    [
        (None, False),
        ([], False),
        (BEFORE_A_QUORUM, False),
        ([*BEFORE_A_QUORUM, "log.100000001"], True),
        (["snapshot.100000000"], True),
        (["what nobody knows"], True),
    ],
)
def test_what_a_server_of_zookeeper_writes_before_a_quorum_is_no_data(names, has_data):
    assert zookeeper_looked(zookeeper(), names)["_zookeeper_has_data"] is has_data


def test_what_cannot_be_seen_may_be_data():
    unreadable = {"skipped_paths": {"/var/lib/sluice/zookeeper/main/version-2": "input/output"}}
    assert zookeeper_looked(zookeeper(), [], **unreadable)["_zookeeper_has_data"] is True
    elsewhere = zookeeper(zookeeper_settings={"dataLogDir": "/srv/log"})
    assert zookeeper_looked(elsewhere, BEFORE_A_QUORUM)["_zookeeper_has_data"] is True
    former = "dataDir=/d\ndataLogDir=/srv/log\n"
    assert zookeeper_looked(zookeeper(), BEFORE_A_QUORUM, former)["_zookeeper_has_data"] is True


def test_members_that_were_wrong_from_the_start_can_be_put_right():
    name = "Refuse to change the members of an ensemble that holds data"
    task = task_of("zookeeper", "preflight.yml", name)
    host, former = zookeeper(), "server.1=hb1:2888:3888\nserver.2=bh2:2888:3888\n"
    content = {"_zookeeper_former": {"content": base64.b64encode(former.encode()).decode()}}
    for names, accepted in ((BEFORE_A_QUORUM, True), (["log.1"], False)):
        known = zookeeper_looked(host, names, former) | content
        assert host.holds(task, "that", **known) is accepted
        assert "stop sluice-zookeeper-3.8.4@main.service on all" in host.message(task, **known)


@pytest.mark.parametrize(("there", "noted"), list(itertools.product([True, False], repeat=2)))
def test_zookeeper_does_not_begin_anew_where_it_had_data(there, noted):
    task = task_of("zookeeper", "preflight.yml", "Refuse to begin anew where there was data")
    known = {"_zookeeper_data": found(there), "_zookeeper_noted": found(noted)}
    assert zookeeper().holds(task, "that", **known) is (there or not noted)
    assert "/etc/sluice/zookeeper/main/has-data" in zookeeper().message(task, **known)


@pytest.mark.parametrize(
    ("former", "accepted"),
    [("", True), ("hdfs://sluice/hbase", True), ("hdfs://hb1:8020/hbase", False)],
)
def test_hbase_keeps_its_folder(former, accepted):
    site = f"<property>\n<name>hbase.rootdir</name>\n  <value>{former}</value></property>"
    content = {"content": base64.b64encode(site.encode()).decode()} if former else {}
    task = task_of("hbase", "preflight.yml", "Refuse to change the folder of HBase")
    host = Host("hbase", "hb1", hbase_root_dir="hdfs://sluice/hbase", _hbase_former=content)
    assert host.holds(task, "that") is accepted


@pytest.mark.parametrize(
    ("there", "recorded", "role", "accepted"),
    [
        (True, True, "primary", True),
        # A new one.
        (False, False, "primary", True),
        # The disk is not mounted.
        (False, True, "primary", False),
        # It gets a copy of the primary's.
        (False, True, "standby", True),
    ],
)
def test_postgres_does_not_begin_anew_where_it_had_data(there, recorded, role, accepted):
    name = "Refuse to begin anew where there was data"
    task = task_of("postgres", "preflight_instance.yml", name)
    record = {"unit": "sluice-postgres-17.11@17-main.service"} if recorded else {}
    known = {"_postgres_data": found(there), "_postgres_recorded": record}
    host = Host("postgres", "pg1", postgres_role=role, **known)
    assert host.holds(task, "that") is accepted
    assert host.holds(task, "that", _postgres_upgrading=True) is accepted
    assert "/etc/sluice/postgres/17-main/build.json" in host.message(task)
