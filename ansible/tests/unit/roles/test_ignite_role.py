"""What the role ignite and the agents of its nodes write, made by Ansible from inventories."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from role_files import Host, task_of, tasks_of

COLLECTION = Path(__file__).parents[3]
HOSTS = ["ig1", "ig2", "ig3"]
# What a user may set, together: each run of Ansible takes seconds.
CHANGED = {
    "ignite_variant": "stock",
    "ignite_node": "other-{{ inventory_hostname }}",
    "ignite_settings": {
        "clientConnector": {"ssl": {"enabled": True, "keyStore": {"password": 'a"b'}}},
        "raft": {"fsync": False},
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
    command += [f"--inventory={COLLECTION / 'inventories' / 'local-ignite'}", "--connection=local"]
    command += [f"--extra-vars={json.dumps({'ansible_become': False} | extra)}"]
    environment = os.environ | {"ANSIBLE_CONFIG": str(COLLECTION / "ansible.cfg")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {host.name: host for host in folder.iterdir() if host.is_dir()}


def play(folder: Path) -> dict:
    """Writes the files below a folder of each host, and does nothing else of the roles."""
    host = f"{folder}/{{{{ inventory_hostname }}}}"

    def variables_of(role: str, tasks: str, **given) -> dict:
        named = {"name": f"sluice.stores.{role}", "tasks_from": tasks}
        return {"ansible.builtin.import_role": named, "when": False, "vars": given}

    def write(role: str, template: str, **more) -> dict:
        source = str(COLLECTION / "roles" / role / "templates" / template)
        target = f"{host}/{Path(template).stem}"
        return {"ansible.builtin.template": {"src": source, "dest": target, "mode": "0644"}} | more

    # As configure.yml gives it to role rocksdb.
    library = {"rocksdb_variant": "{{ ignite_variant }}"}
    tasks = [
        variables_of("ignite", "wait"),
        variables_of("rocksdb", "preflight"),
        variables_of("agent", "run"),
        {"ansible.builtin.file": {"path": host, "state": "directory", "mode": "0755"}},
        write("ignite", "ignite-config.conf.j2"),
        write("ignite", "environment.j2"),
        write("agent", "agent.yml.j2"),
        write("rocksdb", "unit.conf.j2", loop="{{ _ignite_rocksdb_programs }}", vars=library),
        {"ansible.builtin.file": {"path": f"{host}/r", "state": "directory", "mode": "0755"}},
        {
            "ansible.builtin.template": {
                "src": str(COLLECTION / "roles/rocksdb/templates/environment.j2"),
                "dest": f"{host}/r/environment",
                "mode": "0644",
            },
            "loop": "{{ _ignite_rocksdb_programs }}",
            "vars": library,
        },
    ]
    return {"hosts": "ignite", "gather_facts": False, "tasks": tasks}


def configuration(host: Path) -> dict:
    """Settings of the node, which are JSON behind a line that is a comment to Ignite."""
    lines = (host / "ignite-config.conf").read_text().splitlines()
    assert lines[0].startswith("# ")
    return json.loads("\n".join(lines[1:]))["ignite"]


def test_nodes_list_each_other_and_listen_at_their_own_address(written):
    hosts = written()
    assert sorted(hosts) == HOSTS
    for name, host in hosts.items():
        network = configuration(host)["network"]
        assert network["nodeFinder"]["netClusterNodes"] == ["ig1:3344", "ig2:3344", "ig3:3344"]
        assert network["listenAddresses"] == [name]
        assert configuration(host)["clientConnector"]["listenAddresses"] == [name]
        assert f'IGNITE_NODE_NAME="{name}"\n' in (host / "environment").read_text()


def test_tables_are_in_rocksdb(written):
    profiles = configuration(written()["ig1"])["storage"]["profiles"]
    assert profiles == [{"name": "rocks", "engine": "rocksdb"}]


def test_the_unit_gets_the_patched_library_and_the_plug_in(written):
    text = (written()["ig1"] / "r" / "environment").read_text()
    assert "LD_PRELOAD=/opt/sluice/rocksdb/11.8.1/lib/librocksdb-preload.so.11.8.1\n" in text
    wanted = 'ROCKSDB_DB_OPTIONS_OVERRIDE="compaction_service={id=sluice;instance=ignite}"\n'
    assert wanted in text
    unit = (written()["ig1"] / "unit.conf").read_text()
    assert "EnvironmentFile=/etc/sluice/rocksdb/ignite.environment\n" in unit
    assert "SupplementaryGroups=sluice\n" in unit


def test_stock_gets_the_library_alone(written):
    text = (written(**CHANGED)["ig1"] / "r" / "environment").read_text()
    assert "LD_PRELOAD=/opt/sluice/rocksdb/11.8.1-stock/lib/" in text
    assert "ROCKSDB_DB_OPTIONS_OVERRIDE" not in text


def test_further_settings_are_merged_and_names_are_those_of_the_inventory(written):
    host = written(**CHANGED)["ig2"]
    settings = configuration(host)
    assert settings["raft"] == {"fsync": False}
    assert settings["clientConnector"]["ssl"]["keyStore"]["password"] == 'a"b'
    assert settings["clientConnector"]["port"] == 10800
    assert 'IGNITE_NODE_NAME="other-ig2"\n' in (host / "environment").read_text()


def test_each_node_holds_blocks_and_metadata_of_the_pool_and_compacts_for_the_others(written):
    disk = yaml.safe_load(
        (COLLECTION / "inventories/local-ignite/group_vars/testbed.yml").read_text()
    )["inventory_measured_disks"][0]
    for name, host in written().items():
        agent = yaml.safe_load((host / "agent.yml").read_text())
        assert agent["pool"]["server"]["directory"].startswith(f"{disk['path']}/")
        assert len(agent["pool"]["metadata"]["voters"]) == 3
        others = {peer["node"] for peer in agent["compaction"]["client"]["peers"]}
        assert others == set(HOSTS) - {name}
        assert agent["compaction"]["worker"]["pool_volumes"] == ["evaluation-*"]


def test_quotas_leave_room_on_two_processors():
    group = yaml.safe_load((COLLECTION / "inventories/local-ignite/hosts.yml").read_text())
    common = group["testbed"]["vars"]["testbed_cpus"]
    hosts = group["testbed"]["hosts"].values()
    assert round(sum(host.get("testbed_cpus", common) for host in hosts), 3) <= 1.4


def node(**known: object) -> Host:
    hostvars = {
        name: {"inventory_hostname": name, "_ignite_noted": {"stat": {"exists": False}}}
        for name in HOSTS
    }
    given = {"ignite_hosts": HOSTS, "hostvars": hostvars, "ansible_play_hosts": HOSTS}
    return Host("ignite", "ig1", **(given | known))


@pytest.mark.parametrize(
    ("hosts", "keeping"), [(HOSTS, HOSTS), (HOSTS[:2], ["ig1"]), (HOSTS[:1], ["ig1"])]
)
def test_three_nodes_keep_metadata_where_there_are_as_many(hosts, keeping):
    assert node(ignite_hosts=hosts).value("ignite_metadata_hosts") == keeping


@pytest.mark.parametrize(
    ("change", "accepted"),
    [
        ({}, True),
        ({"ignite_metadata_hosts": ["ig1", "ig2"]}, False),
        ({"ignite_metadata_hosts": ["ig4"]}, False),
        ({"ignite_hosts": ["ig2"], "hostvars": {"ig2": {}}}, False),
        ({"hostvars": {name: {"ignite_node": "same"} for name in HOSTS}}, False),
    ],
)
def test_a_cluster_that_is_none_is_refused(change, accepted):
    assert node(**change).holds(
        task_of("ignite", "preflight.yml", "Check the cluster"), "that"
    ) is (accepted)


def test_a_pool_and_rest_by_tls_alone_are_refused():
    pool = task_of("ignite", "preflight.yml", "Refuse a pool")
    assert node().holds(pool, "that")
    assert not node(ignite_plugin_options={"pool_volume": "v"}).holds(pool, "that")
    rest = task_of("ignite", "preflight.yml", "Refuse REST that the role could not ask")
    assert node().holds(rest, "that")
    ssl = {"ssl": {"enabled": True}}
    assert not node(ignite_settings={"rest": ssl}).holds(rest, "that")
    assert node(ignite_settings={"rest": ssl | {"dualProtocol": True}}).holds(rest, "that")


@pytest.mark.parametrize(
    ("running", "enabled", "accepted"),
    [
        (["sluice-ignite-3.1.0@main.service"], ["sluice-ignite-3.1.0@main.service"], True),
        (["sluice-ignite-3.2.0@main.service"], [], False),
        ([], ["sluice-ignite-3.2.0@main.service"], False),
    ],
)
def test_another_version_is_not_run_beside(running, enabled, accepted):
    known = {
        "_ignite_units": {"stdout_lines": [f"{unit} loaded active running" for unit in running]},
        "_ignite_enabled": {"files": [{"path": f"/etc/systemd/{unit}"} for unit in enabled]},
    }
    refusing = task_of("ignite", "preflight.yml", "Refuse to run a build beside another one")
    assert node().holds(refusing, "that", **known) is accepted


@pytest.mark.parametrize(
    ("data", "noted", "accepted"), [(True, True, True), (False, False, True), (False, True, False)]
)
def test_a_node_whose_data_is_gone_does_not_begin_anew(data, noted, accepted):
    known = {
        "_ignite_data": {"stat": {"exists": data}},
        "_ignite_noted": {"stat": {"exists": noted}},
    }
    refusing = task_of("ignite", "preflight.yml", "Refuse to begin anew where there was data")
    assert node().holds(refusing, "that", **known) is accepted


KNOW_ALL = {f"{name}:10300": HOSTS for name in HOSTS}


WAITING = "Wait until all nodes answer and know each other, or one knows of a cluster"
PROBLEM = {"problem": "ig1:10300 answers 409 at cluster/state: REST temporarily unavailable"}


@pytest.mark.parametrize(
    ("known", "more", "noted", "ends"),
    [
        (KNOW_ALL, {}, False, True),
        # One that is down may have the cluster: nothing is made without it.
        (dict.fromkeys(list(KNOW_ALL)[:2], HOSTS), {}, False, False),
        (KNOW_ALL | {"ig1:10300": ["ig1"]}, {}, False, False),
        # One may be about to tell of a cluster, and one that had data is to be waited for.
        (KNOW_ALL, PROBLEM, False, False),
        (KNOW_ALL, {}, True, False),
        # One of them is part of a cluster, which the others join by themselves.
        ({"ig1:10300": ["ig1"]}, {"metadata_nodes": HOSTS}, True, True),
    ],
)
def test_a_cluster_is_made_when_all_nodes_know_each_other_and_had_none(known, more, noted, ends):
    waiting = task_of("ignite", "init.yml", WAITING)
    hostvars = {
        name: {"inventory_hostname": name, "_ignite_noted": {"stat": {"exists": noted}}}
        for name in HOSTS
    }
    status = {"known": known, "metadata_nodes": []} | more
    found = {"_ignite_status": status, "hostvars": hostvars}
    assert node(**found).holds(waiting, "until") is ends
    making = task_of("ignite", "init.yml", "Make the cluster")
    assert node(**found).holds(making) is (not status["metadata_nodes"])


def test_the_cluster_is_made_with_the_names_of_the_nodes():
    making = task_of("ignite", "init.yml", "Make the cluster")
    hostvars = {name: {"ignite_node": f"n-{name}"} for name in HOSTS}
    command = node(hostvars=hostvars).templar().template(making["ansible.builtin.command"])
    words = command["argv"]
    assert words[:4] == ["/opt/sluice/ignite/3.1.0/bin/ignite", "init", "--rest", "ig1:10300"]
    named = [word for flag, word in itertools.pairwise(words) if flag == "--metastorage-node"]
    assert named == ["n-ig1", "n-ig2", "n-ig3"]


def test_metadata_stays_where_it_is():
    refusing = task_of(
        "ignite", "init.yml", "Refuse other nodes of metadata than those that were chosen once"
    )
    for found, accepted in (([], True), (HOSTS, True), (["ig1"], False)):
        status = {"_ignite_status": {"metadata_nodes": found}}
        assert node().holds(refusing, "that", **status) is accepted


def test_nodes_that_do_not_serve_have_their_turn_first():
    ordering = task_of("ignite", "order.yml", "Put the hosts in their order")
    states = {"ig1": "STARTED", "ig2": "down", "ig3": "STARTED"}
    hostvars = {
        name: {"_ignite_status": {"states": {f"{name}:10300": state}}}
        for name, state in states.items()
    }
    known = {"hostvars": hostvars, "ansible_play_hosts": HOSTS}
    turns = node(**known).templar(ordering).template(ordering["loop"])
    assert turns == ["ig2", "ig1", "ig3"]


@pytest.mark.parametrize(
    ("reasons", "state", "allowed", "restarted"),
    [
        (["new settings"], "down", True, True),
        (["new settings"], "STARTING", True, True),
        # It has its turn later.
        (["new settings"], "STARTED", True, False),
        (["new settings"], "down", False, False),
        # It may take its time, and has read all that there is.
        ([], "down", True, False),
    ],
)
def test_a_node_that_does_not_serve_takes_what_was_changed(reasons, state, allowed, restarted):
    known = {
        "_ignite_stale": {"reasons": reasons},
        "_ignite_status": {"states": {"ig1:10300": state}},
        "ignite_restart_allowed": allowed,
    }
    task = task_of("ignite", "mend.yml", "Restart a node that does not serve")
    assert node(**known).holds(task) is restarted


@pytest.mark.parametrize(
    ("reasons", "state", "asked_once"),
    [
        (["new settings"], "STARTED", True),
        ([], "down", True),
        # It may be busy, and so may others be that serve.
        (["new settings"], "down", False),
        (["new settings"], "STARTING", False),
    ],
)
def test_a_node_that_is_slow_to_answer_is_asked_again_before_it_is_restarted(
    reasons, state, asked_once
):
    known = {
        "_ignite_stale": {"reasons": reasons},
        "_ignite_status": {"states": {"ig1:10300": state}},
    }
    asking = task_of("ignite", "mend.yml", "Ask the node how it is")
    assert node(**known).holds(asking, "until") is asked_once
    assert asking["retries"] >= 10 and asking["ignore_errors"] is True


def test_a_node_is_mended_before_it_is_waited_for():
    included = [task.get("ansible.builtin.include_tasks") for task in tasks_of("ignite", "run.yml")]
    assert list(filter(None, included)) == ["mend.yml", "init.yml", "wait.yml"]


@pytest.mark.parametrize("name", ["Wait until the cluster is whole", "Restart the unit"])
def test_nothing_is_stopped_without_need_or_leave(name):
    [block] = [
        task
        for task in [task_of("ignite", "restart.yml", "Restart the node")]
        if any(inner["name"] == name for inner in task["block"])
    ]
    for reasons, allowed, restarted in (
        (["new"], True, True),
        (["new"], False, False),
        ([], True, False),
    ):
        known = {"_ignite_stale": {"reasons": reasons}, "ignite_restart_allowed": allowed}
        assert node(**known).holds(block) is restarted
