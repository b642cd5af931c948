"""What a run makes good that an earlier one, or a node, has left behind."""

import pytest
from role_files import Host, task_of, tasks_of

THREE = ["hb1", "hb2", "hb3"]
STORES = ("zookeeper", "hdfs", "hbase")
# Two builds, and their daemons on a host of all groups.
OURS = {
    "hdfs": ["sluice-hdfs-3.4.2-datanode@main.service", "sluice-hdfs-3.4.2-namenode@main.service"],
    "hbase": [
        "sluice-hbase-2.6.4-hadoop3-master@main.service",
        "sluice-hbase-2.6.4-hadoop3-regionserver@main.service",
    ],
    "zookeeper": ["sluice-zookeeper-3.8.4@main.service"],
}
FORMER = {
    "hdfs": "sluice-hdfs-3.4.2-stock-datanode@main.service",
    "hbase": "sluice-hbase-2.6.4-hadoop3-stock-regionserver@main.service",
    "zookeeper": "sluice-zookeeper-3.8.3@main.service",
}
LOOKING = {"hdfs": "look.yml", "hbase": "look.yml", "zookeeper": "preflight.yml"}


def on_all(role: str, name: str = "hb1", **known: object) -> Host:
    daemons = ("hdfs_namenode", "hdfs_datanode", "hbase_master", "hbase_regionserver", "zookeeper")
    groups = {daemon: ["hb1"] for daemon in daemons}
    return Host(role, name, groups=groups, hostvars={"hb1": {}}, **known)


def looked(role: str, running: list[str], enabled: list[str]) -> dict:
    """What is noted of a host with these units, and no file of anything."""
    lines = [f"{unit} loaded active running" for unit in running]
    files = [{"path": f"/etc/systemd/system/multi-user.target.wants/{unit}"} for unit in enabled]
    nothing = {"stat": {"exists": False}}
    return on_all(role).facts(
        task_of(role, LOOKING[role], "Note what was found"),
        **{f"_{role}_units": {"stdout_lines": lines}, f"_{role}_enabled": {"files": files}},
        **{f"_{role}_former": {"skipped": True}, f"_{role}_data": nothing | {"results": []}},
        **{f"_{role}_turn": nothing, f"_{role}_name": nothing, f"_{role}_notes": {"results": []}},
    )


@pytest.mark.parametrize("role", STORES)
def test_a_former_build_that_would_start_with_the_node_is_found(role):
    ours, former = OURS[role], FORMER[role]
    assert looked(role, ours, ours)[f"_{role}_other_units"] == []
    assert looked(role, ours, [*ours, former])[f"_{role}_other_units"] == [former]
    assert looked(role, [former], [former])[f"_{role}_other_units"] == [former]


@pytest.mark.parametrize("role", ["hdfs", "hbase"])
def test_an_upgrade_waits_for_a_whole_store_unless_a_daemon_is_down(role):
    title = {"hdfs": "HDFS", "hbase": "HBase"}[role]
    waiting = task_of(role, "upgrade_stop.yml", f"Wait until {title} is whole")
    former = [unit.replace("3.4.2-", "3.4.2-stock-") for unit in OURS[role]]
    former = [unit.replace("hadoop3-", "hadoop3-stock-") for unit in former]
    for running, waits in ((former, True), (former[:1], False)):
        known = looked(role, running, former)
        assert len(known[f"_{role}_other_units"]) == 2
        assert on_all(role).holds(waiting, **known) is waits


def hdfs_status(
    active: str, live: list[str], states: dict[str, str], available: bool, safe_mode: bool = False
) -> dict:
    return {
        "available": available,
        "safe_mode": safe_mode,
        "active": active,
        "live": [f"{host}:9866" for host in live],
        "states": {f"http://{host}:9870": state for host, state in states.items()},
    }


SAFE_MODE = hdfs_status("http://hb1:9870", ["hb1"], {"hb1": "active"}, False, True)
SERVING = hdfs_status("http://hb1:9870", THREE, {"hb1": "active", "hb2": "standby"}, True)
SILENT_STANDBY = hdfs_status("http://hb1:9870", THREE, {"hb1": "active", "hb2": "down"}, True)
# Each DataNode was started while a NameNode was down: it serves, and is not registered with both.
HALF_REGISTERED = hdfs_status("http://hb1:9870", THREE, {"hb1": "active", "hb2": "down"}, False)
LOST_DATANODE = hdfs_status(
    "http://hb1:9870", ["hb1", "hb3"], {"hb1": "active", "hb2": "standby"}, True
)
NOBODY = {
    "available": False,
    "active": "",
    "states": {"http://hb1:9870": "down", "http://hb2:9870": "down"},
}


@pytest.mark.parametrize(
    ("host", "own", "others", "idle"),
    [
        # A NameNode may have been ordered into safe mode.
        ("hb1", SAFE_MODE, SAFE_MODE, ["datanode"]),
        ("hb1", SERVING, SERVING, []),
        ("hb2", SILENT_STANDBY, SERVING, ["namenode"]),
        ("hb2", LOST_DATANODE, SERVING, ["datanode"]),
        ("hb1", HALF_REGISTERED, HALF_REGISTERED, []),
        ("hb2", HALF_REGISTERED, HALF_REGISTERED, ["namenode"]),
        # One that sees nothing, while others work: its DataNode may serve them.
        ("hb2", NOBODY, SERVING, ["namenode"]),
        ("hb2", NOBODY, NOBODY, ["datanode", "namenode", "journalnode", "zkfc"]),
    ],
)
def test_daemons_of_hdfs_that_serve_keep_their_turn(host, own, others, idle):
    hosts = {
        name: {"_hdfs_status": own if name == host else others, "_hdfs_stale": []} for name in THREE
    }
    groups = {"hdfs_namenode": THREE[:2], "hdfs_journalnode": THREE, "hdfs_datanode": THREE}
    known = {"groups": groups, "hostvars": hosts, "ansible_play_hosts": THREE}
    assert Host("hdfs", host, **known).value("_hdfs_idle", _hdfs_status=own) == idle


def hbase_status(available: bool, live: list[str], regions: int, own: str) -> dict:
    status = {"available": available, "regions": regions, "states": {"http://hb1:16010": own}}
    return status | ({"live": live} if available else {})


@pytest.mark.parametrize(
    ("status", "idle"),
    [
        (hbase_status(True, ["hb1,16020,5"], 7, "active"), []),
        (hbase_status(True, ["hb1,16020,5"], 7, "down"), ["master"]),
        # Clients that know their regions go on without a master.
        (hbase_status(False, [], 7, "backup"), ["master"]),
        (hbase_status(False, [], 0, "backup"), ["master", "regionserver"]),
        # It does not answer within some seconds, and serves nevertheless.
        (hbase_status(True, ["hb1,16020,5"], -1, "active"), []),
        (hbase_status(True, ["hb11,16020,5"], -1, "active"), ["regionserver"]),
    ],
)
def test_daemons_of_hbase_that_serve_keep_their_turn(status, idle):
    known = {"hostvars": {"hb1": {"_hbase_status": status}}, "ansible_play_hosts": ["hb1"]}
    groups = {"hbase_master": ["hb1"], "hbase_regionserver": ["hb1"]}
    host = Host("hbase", "hb1", groups=groups, **known)
    assert host.value("_hbase_idle", _hbase_status=status) == idle


@pytest.mark.parametrize("role", STORES)
def test_a_wait_in_vain_names_the_unit_unless_something_can_be_restarted(role):
    [requiring] = [task for task in tasks_of(role, "wait.yml") if "ansible.builtin.assert" in task]
    known = {f"_{role}_status": {"failed": True, "problem": "nobody answers"}}
    host = on_all(role)
    assert not host.holds(requiring, "that", **known)
    message = host.message(requiring, **known)
    assert f"systemctl restart sluice-{role}-" in message and "nobody answers" in message
    assert host.holds(requiring)
    assert not host.holds(requiring, **{f"_{role}_may_be_mended": True})


@pytest.mark.parametrize("role", STORES)
@pytest.mark.parametrize(
    ("stale", "allowed", "mended"),
    [([], True, False), (["datanode"], True, True), (["datanode"], False, False)],
)
def test_a_wait_goes_on_when_a_host_has_something_to_restart(role, stale, allowed, mended):
    waiting = tasks_of(role, "serve.yml")[1]
    hosts = {
        name: {f"_{role}_stale": {"reasons": found} if role == "zookeeper" else found}
        for name, found in (("hb1", []), ("hb2", stale))
    }
    known = {"hostvars": hosts, "ansible_play_hosts": list(hosts)}
    templar = on_all(role, **{f"{role}_restart_allowed": allowed}).templar(waiting, **known)
    assert templar.resolve_variable_expression(f"_{role}_may_be_mended") is mended
