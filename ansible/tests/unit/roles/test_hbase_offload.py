"""Nodes that do compactions of HBase for others: what roles and experiments make of them."""

from pathlib import Path

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import trust_as_template
from role_files import Host, task_of

COLLECTION = Path(__file__).parents[3]
GROUPS = {
    "zookeeper": ["hb1"],
    "hbase_master": ["hb1"],
    "hbase_regionserver": ["hb1"],
    "hbase": ["hb1", "hb2"],
}
CHECK_CLUSTER = "Check the cluster"
CHECK_SOCKET = "Check where compactions are offered"
LEAVING_OUT = "Leave out experiments with compactions on other nodes where the store has one node"


def host(name: str, **known: object) -> Host:
    return Host("hbase", name, groups=GROUPS, hostvars={n: {} for n in GROUPS["hbase"]}, **known)


def test_a_host_of_hbase_need_not_have_a_daemon():
    worker = host("hb2")
    assert worker.value("_hbase_daemons") == []
    assert worker.holds(task_of("hbase", "preflight.yml", CHECK_CLUSTER), "that")
    # It is listened to by nobody, and restarted for nobody.
    assert worker.value("_hbase_names") == {"hb1": "hb1"}
    assert worker.value("_hbase_regionserver_page") == ""


@pytest.mark.parametrize(
    ("socket", "accepted"),
    [("", True), ("/run/sluice/agent/compaction.sock", True), ("agent/compaction.sock", False)],
)
def test_a_socket_is_named_by_its_whole_path(socket, accepted):
    checked = host("hb1", hbase_offload_socket=socket)
    assert checked.holds(task_of("hbase", "preflight.yml", CHECK_SOCKET), "that") is accepted


def test_the_stock_build_offers_nothing():
    known = {"hbase_offload_socket": "/run/s", "hbase_root_dir": "hdfs://hb1:8020/hbase"}
    stock = host("hb1", hbase_variant="stock", **known)
    assert "sluice.compaction.offload.socket" not in stock.value("_hbase_all_settings")
    patched = host("hb1", **known).value("_hbase_all_settings")
    assert patched["sluice.compaction.offload.socket"] == "/run/s"


@pytest.mark.parametrize(
    ("worker", "says"),
    [({"paths": ["/srv"]}, False), ({"hbase_roots": ["hdfs://sluice/hbase"]}, True)],
)
def test_java_may_run_below_the_agent_where_it_compacts_for_hbase(worker, says):
    agent = Host("agent", "hb2", inventory_dir="/i", agent_compaction_worker=worker)
    template = COLLECTION / "roles" / "agent" / "templates" / "compaction.conf.j2"
    text = trust_as_template(template.read_text())
    written = agent.templar(ansible_managed="managed").template(text)
    assert ("MemoryDenyWriteExecute=no" in written) is says
    assert ("ReadWritePaths=" in written) is not says


@pytest.mark.parametrize(
    ("hosts", "kept"),
    [(["hb1"], ["hbase-phases"]), (["hb1", "hb2"], ["hbase-phases", "hbase-offload"])],
)
def test_compactions_elsewhere_need_nodes_for_them(hosts, kept):
    playbook = DataLoader().load_from_file(
        str(COLLECTION / "playbooks" / "evaluate.yml"), trusted_as_template=True
    )
    [task] = [
        task for play in playbook for task in play.get("tasks", []) if task["name"] == LEAVING_OUT
    ]
    definitions = [
        yaml.safe_load((COLLECTION / "experiments" / f"{name}.yml").read_text())
        for name in ("hbase-phases", "hbase-offload")
    ]
    known = {"groups": GROUPS, "hostvars": {"hb1": {"evaluation_hosts": hosts}}}
    found = Host("evaluation", "localhost", experiment_definitions=definitions, **known).facts(task)
    assert [definition["name"] for definition in found["experiment_definitions"]] == kept


RUN = {"clients": [{"name": "steady"}], "device": {"model": "throttle"}}


@pytest.mark.parametrize(
    ("clients", "hosts", "sampled"),
    [
        ([{}], ["hb1"], ["hb1", "client1"]),
        ([{}], ["hb1", "hb2"], ["hb1", "hb2", "client1"]),
        ([{"node": 1}], ["rd1", "rd2"], ["rd1", "rd2"]),
    ],
)
def test_nodes_that_compact_for_others_are_sampled_too(clients, hosts, sampled):
    known = {
        "evaluation_run": RUN | {"clients": clients},
        "evaluation_hosts": hosts,
        "evaluation_client_host": "client1",
    }
    assert Host("evaluation", hosts[0], **known).value("_evaluation_sampled_hosts") == sampled


def test_daemons_are_sampled_by_their_processes():
    lines = ["namenode 12", "regionserver 0 34"]
    known = {"evaluation_store": {"units": {}}, "_evaluation_daemons_before": lines}
    options = Host("evaluation", "hb1", **known).value("_evaluation_sampled_processes")
    assert options == ["--process=namenode=12", "--process=regionserver=34"]
    # Those of a store before this one, which names none.
    known["evaluation_store"] = {}
    assert Host("evaluation", "hb1", **known).value("_evaluation_sampled_processes") == []
