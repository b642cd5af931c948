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
