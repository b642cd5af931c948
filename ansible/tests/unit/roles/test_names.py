"""Names of hosts, and where they lead."""

import pytest
from role_files import Host, task_of

THREE = ["hb1", "hb2", "hb3"]
STORES = ("zookeeper", "hdfs", "hbase")


def test_stores_find_zookeeper_where_it_listens():
    hosts = {
        "zk1": {"zookeeper_host": "zk1.example", "zookeeper_client_port": 2281},
        "zk2": {"zookeeper_client_port": 2281},
    }
    known = {"groups": {"zookeeper": list(hosts)}, "hostvars": hosts}
    assert (
        Host("hdfs", "hb1", **known).value("hdfs_zookeeper_quorum") == "zk1.example:2281,zk2:2281"
    )
    host = Host("hbase", "hb1", **known)
    assert host.value("hbase_zookeeper_hosts") == ["zk1.example", "zk2"]
    assert int(host.value("hbase_zookeeper_client_port")) == 2281
    plain = Host("hbase", "hb1", groups={"zookeeper": ["zk1"]}, hostvars={"zk1": {}})
    assert int(plain.value("hbase_zookeeper_client_port")) == 2181
    assert plain.value("hbase_zookeeper_hosts") == ["zk1"]


@pytest.mark.parametrize("role", STORES)
@pytest.mark.parametrize(
    ("hosts", "rc", "lines", "accepted"),
    [
        (THREE, 0, ["10.0.0.1      STREAM hb1", "10.0.0.2      STREAM hb2"], True),
        (THREE, 0, ["127.0.1.1     STREAM hb1", "10.0.0.2      STREAM hb2"], False),
        (THREE, 0, ["::1           STREAM hb1"], False),
        (THREE, 2, ["10.0.0.1      STREAM hb1"], False),
        (["hb1"], 0, ["127.0.1.1     STREAM hb1"], True),
    ],
)
def test_names_lead_to_the_nodes_network(role, hosts, rc, lines, accepted):
    groups = dict.fromkeys(("zookeeper", "hdfs_namenode", "hbase_master"), hosts)
    known = {"groups": groups, "hostvars": {name: {} for name in hosts}}
    task = task_of(role, "names.yml", "Refuse names that lead nowhere, or back to the node")
    answer = {f"_{role}_addresses": {"rc": rc, "stdout_lines": lines}}
    assert Host(role, "hb1", **known).holds(task, "that", **answer) is accepted
