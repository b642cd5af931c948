"""The order in which hosts have their turn to be restarted, by the roles' own tasks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

COLLECTION = Path(__file__).parents[3]
# Where the active one of a role is looked for.
PAGES = {"hdfs": 9870, "hbase": 16010}
ROLES = ("zookeeper", *PAGES)
# Where the active one is, hosts that an interrupted run has left, and the order that follows.
CASES = [
    ("hb1", [], ["hb2", "hb3", "hb1"]),
    ("hb2", [], ["hb1", "hb3", "hb2"]),
    ("hb1", ["hb3"], ["hb3", "hb2", "hb1"]),
    # What an interrupted run has left comes first, even where the active one is.
    ("hb1", ["hb1"], ["hb1", "hb2", "hb3"]),
    ("", [], ["hb1", "hb2", "hb3"]),
]


def ordering(role: str, group: str) -> dict:
    """The task that puts the hosts in their order, in a group of the case instead of the role's."""
    file = COLLECTION / "roles" / role / "tasks" / "order.yml"
    [task] = [task for task in yaml.safe_load(file.read_text()) if "add_host" in str(task)]
    assert task["ansible.builtin.add_host"]["groups"] == [f"{role}_turns"]
    task["ansible.builtin.add_host"]["groups"] = [group]
    return task


def variables_of(role: str) -> dict:
    """Defaults and variables of a role, by its shortest list of tasks, of which none is run."""
    return {
        "ansible.builtin.import_role": {"name": f"sluice.stores.{role}", "tasks_from": "wait"},
        "when": False,
    }


def state(role: str, active: str, incomplete: list[str]) -> dict:
    """What a role has found out before it puts hosts in their order."""
    if role == "zookeeper":
        return {
            "_zookeeper_status": {
                "available": f"{{{{ inventory_hostname not in {incomplete} }}}}",
                "mode": f"{{{{ 'leader' if inventory_hostname == '{active}' else 'follower' }}}}",
            }
        }
    return {
        f"_{role}_incomplete": f"{{{{ inventory_hostname in {incomplete} }}}}",
        f"_{role}_status": {"active": f"http://{active}:{PAGES[role]}" if active else ""},
    }


def play(role: str, folder: Path) -> dict:
    """All cases of a role, each with a file for its answer."""
    tasks = [variables_of(role)]
    for number, (active, incomplete, _) in enumerate(CASES):
        group = f"{role}_{number}"
        told = {"content": f"{{{{ groups.{group} | to_json }}}}", "dest": f"{folder}/{group}"}
        tasks += [
            {"ansible.builtin.set_fact": state(role, active, incomplete)},
            ordering(role, group),
            {"ansible.builtin.copy": told | {"mode": "0644"}, "run_once": True},
        ]
    return {"hosts": role, "gather_facts": False, "tasks": tasks}


@pytest.fixture(scope="module")
def turns(tmp_path_factory) -> dict[str, list[str]]:
    """The order of each role and case, of one run of Ansible."""
    folder, book = tmp_path_factory.mktemp("turns"), tmp_path_factory.mktemp("book") / "turns.yml"
    book.write_text(yaml.safe_dump([play(role, folder) for role in ROLES]))
    command = [str(Path(sys.executable).with_name("ansible-playbook")), str(book)]
    command += [f"--inventory={COLLECTION / 'inventories' / 'local-hbase-three'}"]
    command += ["--connection=local"]
    environment = os.environ | {"ANSIBLE_CONFIG": str(COLLECTION / "ansible.cfg")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {file.name: json.loads(file.read_text()) for file in folder.iterdir()}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("number", range(len(CASES)))
def test_the_host_of_the_active_one_comes_last(role, number, turns):
    assert turns[f"{role}_{number}"] == CASES[number][2]
