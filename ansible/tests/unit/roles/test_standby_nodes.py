"""Hosts that stand by: who may join, and what the inventory says of who does."""

import pytest
import yaml
from ansible.template import trust_as_template
from role_files import ROLES, Host, task_of

GROUPS = {
    "hdfs": ["hb1", "hb2", "hb3", "hb4"],
    "hbase": ["hb1", "hb2", "hb3", "hb4"],
    "hdfs_datanode": ["hb1", "hb2"],
    "hbase_regionserver": ["hb1", "hb2"],
    "hbase_standby": ["hb3", "hb4"],
}


def standby(name: str, folder: str = "/inventory", **known: object) -> Host:
    hosts = {host: {"inventory_hostname": host} for host in GROUPS["hbase"]}
    hosts |= known.pop("hostvars", {})
    own = {"group_names": ["hbase", "hdfs", "hbase_standby"], "inventory_dir": folder}
    own |= {"ansible_play_hosts_all": [name], "ansible_inventory_sources": [folder]}
    return Host("standby_nodes", name, **(own | {"groups": GROUPS, "hostvars": hosts} | known))


def refused(host: Host, name: str) -> bool:
    return not host.holds(task_of("standby_nodes", "check.yml", name), "that")


def test_a_host_that_stands_by_may_join():
    host = standby("hb3")
    for name in (
        "Require one host that stands by",
        "Require a host that is prepared",
        "Require groups to join",
        "Require that what is noted will be read",
        "Require that no other host joins",
    ):
        assert not refused(host, name), name
        # A message is put together whether it is needed or not.
        assert host.message(task_of("standby_nodes", "check.yml", name))


@pytest.mark.parametrize(
    ("host", "name", "told"),
    [
        (standby("hb1"), "Require one host that stands by", "hb3, hb4"),
        (
            standby("hb3", ansible_play_hosts_all=["hb3", "hb4"]),
            "Require one host that stands by",
            "-e node=HOST",
        ),
        (
            standby("hb3", group_names=["hdfs", "hbase_standby"]),
            "Require a host that is prepared",
            "a child of hbase",
        ),
        (
            standby("hb3", standby_nodes_joins=["hdfs_datanode", "regionserver"]),
            "Require groups to join",
            "no regionserver.",
        ),
        # A single file is the inventory: what is beside it is not read.
        (
            standby("hb3", ansible_inventory_sources=["/inventory/hosts.yml"]),
            "Require that what is noted will be read",
            "-i /inventory",
        ),
        (
            standby(
                "hb3",
                hostvars={"hb4": {"inventory_hostname": "hb4", "standby_nodes_state": "joining"}},
            ),
            "Require that no other host joins",
            "-e node=hb4",
        ),
    ],
)
def test_refusals_say_what_to_do(host, name, told):
    assert refused(host, name)
    assert told in host.message(task_of("standby_nodes", "check.yml", name))


def test_another_one_that_has_joined_is_in_nobodys_way():
    joined = {"hb4": {"inventory_hostname": "hb4", "standby_nodes_state": "joined"}}
    assert not refused(standby("hb3", hostvars=joined), "Require that no other host joins")


def test_who_cannot_be_reached_is_told_by_what_the_inventory_has(tmp_path):
    host = standby("hb3", str(tmp_path))
    assert "nothing has changed" in host.value("_standby_nodes_what_to_do")
    (tmp_path / "joined-hb3.yml").write_text("")
    told = host.value("_standby_nodes_what_to_do")
    assert "run this playbook again" in told
    assert f"{tmp_path}/joined-hb3.yml" in told


@pytest.mark.parametrize(
    ("known", "began_at"),
    [({}, None), ({"standby_nodes_began_at": "2026-01-02T03:04:05Z"}, "2026-01-02T03:04:05Z")],
)
def test_the_file_of_a_host_makes_it_a_member(known, began_at):
    host = standby("hb3", ansible_managed="Ansible", **known)
    source = trust_as_template((ROLES / "standby_nodes/templates/joined.yml.j2").read_text())
    written = yaml.safe_load(host.templar(_standby_nodes_state="joining").template(source))
    own = written["hbase_standby"]["hosts"]["hb3"]
    assert own["standby_nodes_state"] == "joining"
    assert began_at in (None, own["standby_nodes_began_at"])
    assert written["hdfs_datanode"] == written["hbase_regionserver"] == {"hosts": {"hb3": None}}


@pytest.mark.parametrize(("state", "writes"), [("", True), ("joining", True), ("joined", False)])
def test_one_that_has_joined_is_not_noted_as_joining_again(state, writes):
    known = {"standby_nodes_state": state} if state else {}
    task = task_of("standby_nodes", "note.yml", "Note in the inventory that the host joins")
    assert standby("hb3", **known).holds(task) is writes


@pytest.mark.parametrize(
    ("live", "ready"),
    [
        (["hb1,16020,1", "hb2,16020,1"], True),
        # As after a run that was interrupted.
        (["hb1,16020,1", "hb2,16020,1", "hb3,16020,1"], True),
        (["hb1,16020,1", "hb3,16020,1"], False),
    ],
)
def test_no_region_server_joins_while_another_one_is_away(live, ready):
    groups = GROUPS | {"hbase_regionserver": ["hb1", "hb2", "hb3"], "hbase_master": ["hb1"]}
    host = Host("hbase", "hb3", groups=groups, hostvars={name: {} for name in GROUPS["hbase"]})
    task = task_of("hbase", "join_check.yml", "Wait until the other region servers serve")
    status = {"available": True, "states": {"http://hb1:16010": "active"}, "live": live}
    status["regions_in_transition"] = 0
    assert host.holds(task, "until", _hbase_status=status) is ready


@pytest.mark.parametrize(("printed", "refuses"), [("on\n", False), ("off\n", True)])
def test_no_node_joins_while_the_balancer_is_off(printed, refuses):
    groups = GROUPS | {"hbase_master": ["hb1"]}
    host = Host("hbase", "hb3", groups=groups, _hbase_balancer={"stdout": printed})
    task = task_of("hbase", "join_check.yml", "Require that it is")
    assert host.holds(task, "that") is not refuses
    assert "balancer on" in host.message(task)


@pytest.mark.parametrize(
    ("live", "missing", "ready"),
    [
        (["hb1:9866", "hb2:9866"], 0, True),
        (["hb1:9866", "hb3:9866"], 0, False),
        (["hb1:9866", "hb2:9866"], 1, False),
    ],
)
def test_no_datanode_joins_while_another_one_is_away(live, missing, ready):
    host = Host("hdfs", "hb3", groups=GROUPS | {"hdfs_datanode": ["hb1", "hb2", "hb3"]})
    task = task_of("hdfs", "join_check.yml", "Wait until the other DataNodes serve")
    status = {"available": True, "states": {"http://hb1:9870": "active"}, "live": live}
    assert host.holds(task, "until", _hdfs_status=status | {"missing_blocks": missing}) is ready


@pytest.mark.parametrize(
    ("regions", "of_all", "enough"), [(0, 6, False), (2, 6, True), (0, 2, True)]
)
def test_one_that_gets_no_region_is_told_unless_there_are_too_few(regions, of_all, enough):
    task = task_of(
        "hbase", "join_balance.yml", "Require that it serves some, if there are enough for all"
    )
    host = Host("hbase", "hb3", groups=GROUPS, _hbase_status={"regions": regions})
    counts = f'{{"regions": {of_all}, "live_servers": [{{}}, {{}}, {{}}]}}'
    assert host.holds(task, "that", _hbase_counts={"stdout": counts}) is enough
