"""What the role cassandra writes, refuses and decides, by Ansible itself."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from role_files import Host, task_of

COLLECTION = Path(__file__).parents[3]
HOSTS = ["ca1", "ca2", "ca3"]
UNIT = "sluice-cassandra-5.0.9@main.service"
IDENTITY = {"cluster": "main", "datacenter": "datacenter1", "rack": "rack1", "tokens": 16}
# What a user may set, together: each run of Ansible takes seconds.
CHANGED = {
    "cassandra_variant": "stock",
    "cassandra_rack": "r-{{ inventory_hostname }}",
    "cassandra_settings": {
        "concurrent_compactors": 2,
        "server_encryption_options": {"keystore_password": 'a"b: {c}'},
    },
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What is written for the local inventory: folder by host; each set of variables once."""
    made = {}

    def write(**extra) -> dict[str, Path]:
        key = json.dumps(extra, sort_keys=True)
        if key not in made:
            made[key] = render(tmp_path_factory.mktemp("written"), extra)
        return made[key]

    return write


def render(folder: Path, extra: dict) -> dict[str, Path]:
    book = folder / "render.yml"
    book.write_text(yaml.safe_dump([play(folder)]))
    command = [str(Path(sys.executable).with_name("ansible-playbook")), str(book)]
    command += [f"--inventory={COLLECTION / 'inventories/local-cassandra'}", "--connection=local"]
    command += [f"--extra-vars={json.dumps({'ansible_become': False} | extra)}"]
    environment = os.environ | {"ANSIBLE_CONFIG": str(COLLECTION / "ansible.cfg")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {host.name: host for host in folder.iterdir() if host.is_dir()}


def play(folder: Path) -> dict:
    """Writes the files below a folder of each host, and does nothing else of the roles."""
    host = f"{folder}/{{{{ inventory_hostname }}}}"

    def write(template: str) -> dict:
        source = str(COLLECTION / "roles/cassandra/templates" / template)
        target = f"{host}/{Path(template).stem}"
        return {"ansible.builtin.template": {"src": source, "dest": target, "mode": "0644"}}

    variables = {"name": "sluice.stores.cassandra", "tasks_from": "wait"}
    tasks = [
        {"ansible.builtin.import_role": variables, "when": False},
        {"ansible.builtin.file": {"path": host, "state": "directory", "mode": "0755"}},
        write("cassandra.yaml.j2"),
        write("cassandra-rackdc.properties.j2"),
        write("environment.j2"),
    ]
    return {"hosts": "cassandra", "gather_facts": False, "tasks": tasks}


def settings(host: Path) -> dict:
    return yaml.safe_load((host / "cassandra.yaml").read_text())


def test_nodes_have_the_same_seeds_and_listen_at_their_own_address(written):
    hosts = written()
    assert sorted(hosts) == HOSTS
    for name, host in hosts.items():
        told = settings(host)
        assert told["listen_address"] == told["rpc_address"] == name
        [provider] = told["seed_provider"]
        assert provider["parameters"] == [{"seeds": "ca1:7000,ca2:7000"}]
        assert told["cluster_name"] == "cassandra"
        assert told["num_tokens"] == 16


def test_the_node_gets_the_plug_in_its_heap_and_its_folder(written):
    text = (written()["ca1"] / "environment").read_text()
    assert 'CASSANDRA_PLUGIN="sluice"\n' in text
    assert 'CASSANDRA_JAVA_OPTIONS="-Xmx536870912 -XX:+UseSerialGC"\n' in text
    assert 'CASSANDRA_DATA_DIR="/var/lib/sluice/cassandra/main"\n' in text


def test_stock_has_no_plug_in(written):
    assert 'CASSANDRA_PLUGIN=""\n' in (written(**CHANGED)["ca1"] / "environment").read_text()
    assert node(cassandra_variant="stock").value("_cassandra_packages") == [
        "sluice-cassandra-5.0.9"
    ]
    assert "sluice-cassandra-5.0.9-plugin" in node().value("_cassandra_packages")


def test_further_settings_are_merged_and_racks_are_those_of_the_hosts(written):
    host = written(**CHANGED)["ca2"]
    told = settings(host)
    assert told["concurrent_compactors"] == 2
    assert told["server_encryption_options"]["keystore_password"] == 'a"b: {c}'
    assert told["native_transport_port"] == 9042
    place = (host / "cassandra-rackdc.properties").read_text()
    assert "\ndc=datacenter1\nrack=r-ca2\n" in place


def test_quotas_leave_room_on_two_processors():
    group = yaml.safe_load((COLLECTION / "inventories/local-cassandra/hosts.yml").read_text())
    common = group["testbed"]["vars"]["testbed_cpus"]
    hosts = group["testbed"]["hosts"].values()
    assert round(sum(host.get("testbed_cpus", common) for host in hosts), 3) <= 1.4


def facts(name: str, joined: bool, data: bool) -> dict:
    return {
        "inventory_hostname": name,
        "_cassandra_joined": joined,
        "_cassandra_data": {"stat": {"exists": data}},
    }


def hosts(*joined: str, data: tuple[str, ...] = ()) -> dict:
    """Facts of all hosts, of which these have joined, and these hold data besides."""
    return {name: facts(name, name in joined, name in (*joined, *data)) for name in HOSTS}


def node(name: str = "ca1", **known: object) -> Host:
    given = {"cassandra_hosts": HOSTS, "hostvars": hosts(*HOSTS), "ansible_play_hosts": HOSTS}
    own = (known.get("hostvars") or given["hostvars"]).get(name, {})
    return Host("cassandra", name, **(given | own | known))


@pytest.mark.parametrize(
    ("name", "found", "seeds"),
    [
        # A cluster begins with its first seed.
        ("ca1", hosts(), ["ca1", "ca2"]),
        ("ca2", hosts("ca1"), ["ca1"]),
        # It may be about to begin it: an interrupted run.
        ("ca2", hosts(data=("ca1",)), ["ca1"]),
        ("ca1", hosts(data=("ca1",)), ["ca1", "ca2"]),
        ("ca3", hosts("ca1", "ca2"), ["ca1", "ca2"]),
        # Its data is lost, or was not copied to its end.
        ("ca1", hosts("ca2", "ca3"), ["ca2"]),
        ("ca1", hosts("ca2", "ca3", data=("ca1",)), ["ca2"]),
        ("ca1", hosts(*HOSTS), ["ca1", "ca2"]),
    ],
)
def test_a_node_that_joins_is_no_seed(name, found, seeds):
    assert node(name, hostvars=found).value("_cassandra_seeds") == seeds


def test_a_cluster_whose_only_seed_is_new_is_refused():
    refusing = task_of("cassandra", "preflight.yml", "Refuse a cluster whose seeds are all new")
    alone = {"cassandra_seed_hosts": ["ca1"]}
    lost = node(hostvars=hosts("ca2", "ca3"), **alone)
    assert not lost.holds(refusing, "that")
    assert "ca2, ca3" in lost.message(refusing)
    assert node(hostvars=hosts(), **alone).holds(refusing, "that")
    assert node(**alone).holds(refusing, "that")


@pytest.mark.parametrize(
    ("seen", "joined", "replaces"), [("DN", False, True), ("", False, False), ("DN", True, False)]
)
def test_a_node_takes_its_own_place_until_it_has_joined(seen, joined, replaces):
    noting = task_of("cassandra", "join.yml", "Note whether it takes its own place again")
    known = {"_cassandra_joined": joined, "_cassandra_seen": seen}
    decided = node("ca3", **known).facts(noting)
    options = node("ca3", **(known | decided)).value("_cassandra_first_start_options")
    assert options == (["-Dcassandra.replace_address_first_boot=ca3"] if replaces else [])


@pytest.mark.parametrize(("seen", "told"), [("", True), ("DN", True), ("UJ", False)])
def test_a_node_that_is_joining_is_left_alone(seen, told):
    for name in (
        "Give the node what it begins with",
        "Have a node that does not serve take what was changed",
    ):
        assert node(_cassandra_seen=seen).holds(task_of("cassandra", "join.yml", name)) is told


def test_new_nodes_join_in_their_order():
    naming = task_of("cassandra", "order.yml", "Name the hosts that join, in their order")

    def order(found: dict, **known: object) -> list[str]:
        return node(hostvars=found, **known).templar(naming).template(naming["loop"])

    assert order(hosts()) == HOSTS
    assert order(hosts(), cassandra_seed_hosts=["ca3"]) == ["ca3", "ca1", "ca2"]
    # What was begun is ended first.
    assert order(hosts("ca1", data=("ca3",))) == ["ca3", "ca2"]
    assert order(hosts(*HOSTS)) == []


@pytest.mark.parametrize(
    ("change", "accepted"),
    [
        ({}, True),
        ({"cassandra_seed_hosts": []}, False),
        ({"cassandra_seed_hosts": ["ca4"]}, False),
        ({"cassandra_hosts": ["ca2"], "cassandra_seed_hosts": ["ca2"]}, False),
        ({"hostvars": {name: {"cassandra_host": "same"} for name in HOSTS}}, False),
    ],
)
def test_a_cluster_that_is_none_is_refused(change, accepted):
    checking = task_of("cassandra", "preflight.yml", "Check the cluster")
    assert node(**change).holds(checking, "that") is accepted


@pytest.mark.parametrize(
    ("running", "enabled", "accepted"),
    [
        ([UNIT], [UNIT], True),
        (["sluice-cassandra-5.0.8@main.service"], [], False),
        ([], ["sluice-cassandra-5.0.9-stock@main.service"], False),
    ],
)
def test_another_build_is_not_run_beside(running, enabled, accepted):
    known = {
        "_cassandra_units": {"stdout_lines": [f"{unit} loaded active running" for unit in running]},
        "_cassandra_enabled": {"files": [{"path": f"/etc/systemd/{unit}"} for unit in enabled]},
    }
    refusing = task_of("cassandra", "preflight.yml", "Refuse to run a build beside another one")
    assert node().holds(refusing, "that", **known) is accepted


@pytest.mark.parametrize(
    ("data", "noted", "accepted"), [(True, True, True), (False, False, True), (False, True, False)]
)
def test_a_node_whose_data_is_gone_does_not_begin_anew(data, noted, accepted):
    known = {
        "_cassandra_data": {"stat": {"exists": data}},
        "_cassandra_noted": {"stat": {"exists": noted}},
    }
    refusing = task_of("cassandra", "preflight.yml", "Refuse to begin anew where there was data")
    assert node().holds(refusing, "that", **known) is accepted


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({}, "/srv/c/data/system"),
        ({"data_file_directories": ["/d1", "/d2"]}, "/d1/system"),
        ({"local_system_data_file_directory": "/s"}, "/s/system"),
    ],
)
def test_data_is_looked_for_where_the_node_has_its_own_tables(change, path):
    known = {"cassandra_data_dir": "/srv/c", "cassandra_settings": change}
    assert node(**known).value("_cassandra_system_data") == path


@pytest.mark.parametrize("part", list(IDENTITY))
def test_what_a_node_is_for_good_cannot_be_changed(part):
    refusing = task_of("cassandra", "preflight.yml", "Refuse to change what a node is for good")
    for was, accepted in ((IDENTITY, True), (IDENTITY | {part: "other"}, False)):
        content = base64.b64encode(json.dumps(was).encode()).decode()
        known = {"_cassandra_noted_content": {"content": content}}
        assert node().holds(refusing, "that", **known) is accepted


@pytest.mark.parametrize(
    ("joined", "in_play", "accepted"),
    [(True, ["ca1"], True), (False, HOSTS, True), (False, ["ca1"], False)],
)
def test_a_new_node_joins_only_in_sight_of_all(joined, in_play, accepted):
    name = "Refuse to have a node join without looking at all hosts"
    known = {"_cassandra_joined": joined, "ansible_play_hosts": in_play}
    assert node(**known).holds(task_of("cassandra", "preflight.yml", name), "that") is accepted


@pytest.mark.parametrize(
    ("serves", "state", "ends"),
    [(True, "UN", True), (True, "UJ", False), (False, "UN", False), (False, "absent", False)],
)
def test_a_node_is_waited_for_until_it_serves(serves, state, ends):
    waiting = task_of("cassandra", "wait.yml", "Wait until the node serves")
    status = {"_cassandra_status": {"serves": serves, "states": {"ca1": state}}}
    assert node(**status).holds(waiting, "until") is ends


def test_a_wait_in_vain_says_who_misses_whom():
    requiring = task_of("cassandra", "wait_whole.yml", "Require that it is so")
    views = [
        {"item": "ca1", "failed": True, "not_normal": ["ca3 DN"], "whole": False},
        {"item": "ca2", "whole": True, "not_normal": []},
        {"item": "ca3", "failed": True, "problem": "it takes no connections", "not_normal": []},
    ]
    known = {"_cassandra_views": {"failed": True, "results": views}}
    assert not node().holds(requiring, "that", **known)
    message = node().message(requiring, **known)
    assert "ca1 misses ca3 DN." in message and "ca3 it takes no connections." in message
    assert "ca2 misses" not in message and "removenode" in message


@pytest.mark.parametrize(
    ("reasons", "serves", "allowed", "restarted"),
    [
        (["new settings"], False, True, True),
        # It has its turn later.
        (["new settings"], True, True, False),
        (["new settings"], False, False, False),
        # It may take its time, and has read all that there is.
        ([], False, True, False),
    ],
)
def test_a_node_that_does_not_serve_takes_what_was_changed(reasons, serves, allowed, restarted):
    known = {
        "_cassandra_stale": {"reasons": reasons},
        "_cassandra_status": {"serves": serves},
        "cassandra_restart_allowed": allowed,
    }
    task = task_of("cassandra", "mend.yml", "Restart a node that does not serve")
    assert node(**known).holds(task) is restarted


def test_a_node_is_drained_between_two_looks_at_the_whole_cluster():
    block = task_of("cassandra", "restart.yml", "Restart the node")
    names = [task["name"] for task in block["block"]]
    assert names == [
        "Wait until the cluster is whole",
        "Drain the node",
        "Restart the unit",
        "Wait until the cluster is whole again",
    ]
    for reasons, allowed, restarted in (
        (["new"], True, True),
        (["new"], False, False),
        ([], True, False),
    ):
        known = {"_cassandra_stale": {"reasons": reasons}, "cassandra_restart_allowed": allowed}
        assert node(**known).holds(block) is restarted
