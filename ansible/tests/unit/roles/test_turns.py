"""The order in which hosts have their turn to be restarted, as Ansible decides it from the roles' own tasks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

COLLECTION = Path(__file__).parents[3]
PAGES = {"hdfs": 9870, "hbase": 16010}


def ordering(role: str) -> dict:
    """The task that puts the hosts in their order."""
    file = COLLECTION / "roles" / role / "tasks" / "order.yml"
    [task] = [task for task in yaml.safe_load(file.read_text()) if "add_host" in str(task)]
    return task


def plays(role: str, active: str, incomplete: list[str], answer: Path) -> list[dict]:
    facts = {
        f"_{role}_incomplete": f"{{{{ inventory_hostname in {incomplete} }}}}",
        f"_{role}_status": {"active": f"http://{active}:{PAGES[role]}" if active else ""},
    }
    tasks = [
        {"ansible.builtin.import_role": {"name": f"sluice.stores.{role}"}, "when": False},
        {"ansible.builtin.set_fact": facts},
        ordering(role),
    ]
    told = {"content": f"{{{{ groups['{role}_turns'] | to_json }}}}", "dest": str(answer)}
    telling = [{"ansible.builtin.copy": told | {"mode": "0644"}, "run_once": True}]
    return [
        {"hosts": role, "gather_facts": False, "tasks": tasks},
        {"hosts": f"{role}_turns", "gather_facts": False, "serial": 1, "tasks": telling},
    ]


def turns(role: str, active: str, incomplete: list[str], folder: Path) -> list[str]:
    book, answer = folder / "turns.yml", folder / "turns.json"
    book.write_text(yaml.safe_dump(plays(role, active, incomplete, answer)))
    command = [str(Path(sys.executable).with_name("ansible-playbook")), str(book)]
    command += [f"--inventory={COLLECTION / 'inventories' / 'local-hbase-three'}"]
    command += ["--connection=local"]
    environment = os.environ | {"ANSIBLE_CONFIG": str(COLLECTION / "ansible.cfg")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(answer.read_text())


@pytest.mark.parametrize("role", ["hdfs", "hbase"])
@pytest.mark.parametrize(
    ("active", "incomplete", "wanted"),
    [
        ("hb1", [], ["hb2", "hb3", "hb1"]),
        ("hb2", [], ["hb1", "hb3", "hb2"]),
        ("hb1", ["hb3"], ["hb3", "hb2", "hb1"]),
        # What an interrupted run has left comes first, even where the active one is.
        ("hb1", ["hb1"], ["hb1", "hb2", "hb3"]),
        ("", [], ["hb1", "hb2", "hb3"]),
    ],
)
def test_the_host_of_the_active_one_comes_last(role, active, incomplete, wanted, tmp_path):
    assert turns(role, active, incomplete, tmp_path) == wanted
