"""A store that is one of several hosts: which of them a run starts, samples and looks at."""

import pytest
import yaml
from role_files import ROLES, Host, task_of, tasks_of

HOSTS = ["ig1", "ig2", "ig3"]
PROGRAMS = "/usr/local/lib/sluice/evaluation"
CLUSTERED = {"clustered": True, "client_properties": {"ignite.addresses": "ig1:10800"}}


def evaluation(store: dict, clients: list[dict], **known: object) -> Host:
    run = {"clients": clients, "device": {"model": "throttle"}, "settings": {}}
    return Host(
        "evaluation",
        "ig1",
        evaluation_store=store,
        evaluation_hosts=HOSTS,
        evaluation_client_host="client1",
        **({"evaluation_run": run} | known),
    )


@pytest.mark.parametrize(
    ("store", "clients", "started", "loaded", "sampled", "disks"),
    [
        (CLUSTERED, [{}], HOSTS, HOSTS, [*HOSTS, "client1"], HOSTS),
        # Others of the hosts may do compactions for the one that is started.
        ({}, [{}], ["ig1"], ["ig1"], [*HOSTS, "client1"], ["ig1"]),
        ({}, [{"node": 1}, {"node": 2}], HOSTS[:2], ["ig1"], HOSTS, HOSTS),
    ],
)
def test_all_hosts_of_a_cluster_take_part(store, clients, started, loaded, sampled, disks):
    host = evaluation(store, clients)
    assert host.value("_evaluation_store_hosts") == started
    assert host.value("_evaluation_loading_hosts") == loaded
    assert host.value("_evaluation_sampled_hosts") == sampled
    assert host.value("_evaluation_disk_hosts") == disks


def test_the_load_of_a_cluster_runs_on_the_host_of_the_clients():
    assert evaluation(CLUSTERED, [{}]).value("_evaluation_load_hosts") == ["client1"]


def test_a_setting_may_be_one_of_the_load():
    run = {"settings": {"ycsb.ignite.placement": "crowded", "profile.sizeBytes": 1}}
    told = evaluation(CLUSTERED, [], evaluation_run=run).value("_evaluation_client_properties")
    assert told == {"ignite.addresses": "ig1:10800", "ignite.placement": "crowded"}


@pytest.mark.parametrize(("loaded", "loads"), [([True] * 3, False), ([True, False, True], True)])
def test_data_is_loaded_unless_each_host_has_it(loaded, loads):
    task = task_of("evaluation", "steps.yml", "Load the data and keep a copy")
    run = {"data": {"restore_from_copy": True}, "settings": {}}
    results = [{"stdout": f'{{"loaded": {str(each).lower()}}}'} for each in loaded]
    known = {"evaluation_run": run, "_evaluation_copy": {"results": results}}
    assert evaluation(CLUSTERED, [], **known).holds(task) is loads


def test_a_daemon_that_ended_is_named_with_its_host():
    store = CLUSTERED | {"units": {"node": "sluice-ignite-3.1.0@evaluation.service"}}
    task = task_of(
        "evaluation", "daemons.yml", "Require that none was started anew since the load began"
    )
    lines = [f"node@{name} {number}" for number, name in enumerate(HOSTS, 20)]
    known = {
        "_evaluation_daemons": {"stdout_lines": [*lines[:2], "node@ig3 99"]},
        "evaluation_daemons_before": lines,
    }
    host = evaluation(store, [])
    assert not host.holds(task, "that", **known)
    message = host.message(task, **known)
    assert "On ig3 ended" in message and "sluice-ignite-3.1.0@evaluation.service" in message


@pytest.mark.parametrize(
    ("lines", "host", "sampled"),
    [
        (["node@ig1 20", "node@ig2 21"], "ig2", ["--process=node=21"]),
        (["node@ig1 20", "node@ig2 21"], "client1", []),
        # Of a store on one host, which is the first.
        (["master 7"], "ig1", ["--process=master=7"]),
        (["master 7"], "client1", []),
    ],
)
def test_each_host_samples_the_daemons_that_it_has(lines, host, sampled):
    known = {"_evaluation_daemons_before": lines, "evaluation_sampled_host": host}
    store = CLUSTERED | {"units": {}}
    assert evaluation(store, []).value("_evaluation_sampled_processes", **known) == sampled


@pytest.mark.parametrize(
    ("release", "built"), [({}, "ignite/3.1.0"), ({"release": "rocksdb/11.8.1"}, "rocksdb/11.8.1")]
)
def test_variants_may_be_of_what_a_store_is_built_on(release, built):
    definition = {"store": "ignite", "version": "3.1.0"}
    host = evaluation(release, [], _evaluation_definition=definition)
    assert host.value("_evaluation_built") == built


def test_stores_of_an_interrupted_evaluation_are_stopped_before_those_of_the_inventory():
    [looking, refusing, stopping] = tasks_of("evaluation", "end_interrupted.yml")
    assert looking["ansible.builtin.find"]["paths"] == "/run"
    found = [{"path": f"/run/sluice-evaluation-{store}.json"} for store in ("hbase", "rocksdb")]
    host = Host("evaluation", "hb1", _evaluation_interrupted={"files": found})
    stores = host.templar(stopping).template(stopping["loop"])
    assert stores == ["hbase", "rocksdb"]
    # Not those of one that is under way.
    assert host.holds(refusing)
    assert not host.holds(refusing, _evaluation_interrupted={"files": []})
    [holding] = [t for t in tasks_of("evaluation", "main.yml") if "a second" in t["name"]]
    assert refusing["ansible.builtin.command"] == holding["ansible.builtin.command"]
    argv = stopping["ansible.builtin.command"]["argv"]
    assert host.templar(stopping, item="hbase").template(argv) == [f"{PROGRAMS}/hbase", "stop"]
    site = yaml.safe_load((ROLES.parent / "playbooks" / "site.yml").read_text())
    assert site[0]["tasks"][0]["ansible.builtin.import_role"]["tasks_from"] == "end_interrupted"
    assert site[0]["tags"] == ["always"]


@pytest.mark.parametrize("program", sorted(ROLES.glob("*/files/evaluation_store.py")))
def test_each_store_is_found_by_the_name_of_its_program(program):
    """What is started says so in a file of the store's name; each program has that, too."""
    store = program.parents[1].name
    assert f'STATE = Path("/run/sluice-evaluation-{store}.json")' in program.read_text()
    assert f"{PROGRAMS}/{store}" in (program.parents[1] / "tasks" / "evaluation.yml").read_text()
    hosts = yaml.safe_load((ROLES.parent / "playbooks" / "site.yml").read_text())[0]["hosts"]
    assert store in hosts.split(":")
