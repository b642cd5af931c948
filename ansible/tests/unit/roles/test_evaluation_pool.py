"""Experiments with a pool: where they are run, and in which order a run does what it needs."""

from pathlib import Path

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from role_files import Host, task_of, tasks_of

COLLECTION = Path(__file__).parents[3]
LEAVING_OUT = "Leave out experiments with a pool where there is none, and others where there is one"


def experiment(name: str) -> dict:
    return yaml.safe_load((COLLECTION / "experiments" / f"{name}.yml").read_text())


@pytest.mark.parametrize(
    ("servers", "kept"), [([], ["rocksdb-interference"]), (["rd1", "rd2"], ["pool-skew"])]
)
def test_an_experiment_with_a_pool_is_for_an_inventory_with_one(servers, kept):
    playbook = DataLoader().load_from_file(
        str(COLLECTION / "playbooks" / "evaluate.yml"), trusted_as_template=True
    )
    [task] = [
        task for play in playbook for task in play.get("tasks", []) if task["name"] == LEAVING_OUT
    ]
    groups = {"rocksdb": ["rd1", "rd2"]} | ({"pool_servers": servers} if servers else {})
    definitions = [experiment("rocksdb-interference"), experiment("pool-skew")]
    host = Host("evaluation", "localhost", groups=groups, experiment_definitions=definitions)
    found = host.facts(task)["experiment_definitions"]
    assert [definition["name"] for definition in found] == kept


def names(file: str) -> list[str]:
    return [task["name"] for task in tasks_of("evaluation", file)]


def test_agents_run_before_data_is_put_into_their_pool_and_until_it_is_removed():
    steps = names("steps.yml")
    disks, folders = (
        steps.index("Make the disks anew"),
        steps.index("Make the folders of a pool on them, as site.yml has"),
    )
    agents, store = steps.index("Start the agents"), steps.index("Start the store")
    assert disks < folders < agents < store < steps.index("Bring the disks' rates into force")
    [running] = [task for task in tasks_of("evaluation", "run.yml") if "always" in task]
    ends = [task["name"] for task in running["always"]]
    assert ends.index("Stop the store") < ends.index("Stop the control plane")
    assert ends.index("Stop the store") < ends.index("Stop the agents")


HOSTS = {name: {"agent_pool_server": {"directory": "/disk/pool"}} for name in ("rd1", "rd2")}


@pytest.mark.parametrize(
    ("run", "hosts"),
    [
        ({"clients": [{"node": 1}]}, ["rd1", "rd2"]),
        ({"clients": [{}], "agents": {"pool": {}}}, ["rd1", "rd2"]),
        ({"clients": [{}], "agents": {"compaction": {}}}, ["rd1"]),
        ({"clients": [{}]}, ["rd1"]),
    ],
)
def test_the_disks_of_all_hosts_are_new_where_they_hold_a_part_of_what_is_measured(run, hosts):
    run = run | {"device": {"model": "throttle"}}
    known = {"evaluation_run": run, "evaluation_hosts": ["rd1", "rd2"], "evaluation_disk": "d"}
    host = Host("evaluation", "rd1", evaluation_store={}, **known)
    assert host.value("_evaluation_disk_hosts") == hosts
    for name in ("Make the disks anew", "Bring the disks' rates into force"):
        task = task_of("evaluation", "steps.yml", name)
        assert task["loop"] == "{{ _evaluation_disk_hosts }}"
        assert task["vars"]["testbed_disk_node"] == "{{ evaluation_host }}"


@pytest.mark.parametrize(("path", "made"), [("/disk", True), ("/dis", False), ("/other", False)])
def test_only_what_was_on_such_a_disk_is_made_on_it(path, made):
    disks = [{"name": "measured", "path": path}]
    run = {"clients": [], "device": {"model": "throttle"}}
    host = Host("evaluation", "rd1", evaluation_run=run, testbed_disks=disks, hostvars=HOSTS)
    task = task_of("evaluation", "steps.yml", "Make the folders of a pool on them, as site.yml has")
    assert host.holds(task, item="rd2") is made
    assert not Host(
        "evaluation", "rd1", evaluation_run=run, testbed_disks=disks, hostvars={"rd2": {}}
    ).holds(task, item="rd2")


def test_a_disk_of_another_node_is_found_by_its_name():
    known = {"testbed_name": "t", "ansible_host": "10.0.0.1", "testbed_disk_node": "rd2"}
    host = Host("testbed", "rd1", **known)
    assert host.value("testbed_container_name") == "sluice-t-rd2"
    assert host.value("testbed_disk_prefix").endswith("/disks/rd2-")
    assert (
        Host("testbed", "rd1", testbed_name="t").value("testbed_container_name") == "sluice-t-rd1"
    )
