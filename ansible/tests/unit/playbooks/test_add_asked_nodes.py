"""Nodes that are added where the controller asks for them: Ansible and its inventory are real, the
playbook is one of a task or two, and what service levels ask for is in a file."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

PROGRAM = Path(__file__).parents[4] / "ansible/playbooks/add_asked_nodes.py"
DEADLINE_SECONDS = 300
# What add_node.yml leaves in the inventory.
JOINED = """
hbase_regionserver:
  hosts:
    {node}:
hbase_standby:
  hosts:
    {node}:
      standby_nodes_state: {state}
      standby_nodes_began_at: "{began_at}"
"""
LONG_AGO = "2026-01-01T00:00:00Z"


@pytest.fixture
def program():
    spec = importlib.util.spec_from_file_location("add_asked_nodes", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    sys.modules["add_asked_nodes"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["add_asked_nodes"]


def level(name: str = "orders", **changed) -> dict:
    known = {"state": "wants-node", "wanted_action": "add-node", "nodes": 2, "store": "hbase"}
    known |= changed
    return {"service_level": {"name": name, "store": known.pop("store")}} | known


class Deployment:
    """A control host: an inventory with two nodes and two that stand by, and its controller."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.inventory = folder / "inventory"
        self.inventory.mkdir()
        groups = {
            "hbase_regionserver": {"hosts": {"hb1": None, "hb2": None}},
            "hbase_standby": {"hosts": {"hb3": None, "hb4": None}},
        }
        (self.inventory / "hosts.yml").write_text(yaml.safe_dump(groups))
        self.levels = folder / "levels.json"
        self.sluice = folder / "sluice"
        self.sluice.write_text(f'#!/bin/sh\ntest "$*" = "slo get -o json" && cat {self.levels}\n')
        self.sluice.chmod(0o755)
        self.playbook = folder / "add_node.yml"

    def asks(self, *levels: dict) -> None:
        self.levels.write_text(json.dumps({"service_levels": list(levels)}))

    def joined(self, node: str, state: str = "joined", began_at: str = LONG_AGO) -> None:
        text = JOINED.format(node=node, state=state, began_at=began_at)
        (self.inventory / f"joined-{node}.yml").write_text(text)

    def playbook_does(self, *tasks: dict) -> None:
        play = {"hosts": "localhost", "connection": "local", "gather_facts": False}
        self.playbook.write_text(yaml.safe_dump([play | {"tasks": list(tasks)}]))

    def writes(self, state: str) -> dict:
        """The task by which a host joins."""
        return {
            "ansible.builtin.copy": {
                "content": JOINED.format(node="{{ node }}", state=state, began_at=LONG_AGO),
                "dest": f"{self.inventory}/joined-{{{{ node }}}}.yml",
                "mode": "0644",
            }
        }

    def arguments(self, *further: str) -> list[str]:
        own = [f"--inventory={self.inventory}", f"--sluice={self.sluice}", "--output=json"]
        return [*own, f"--state-directory={self.folder / 'state'}", *further]

    def record(self) -> list[tuple[str, str]]:
        file = self.folder / "state/record.jsonl"
        lines = file.read_text().splitlines() if file.exists() else []
        return [(line["outcome"], line["node"]) for line in map(json.loads, lines)]


@pytest.fixture
def deployment(tmp_path, program, monkeypatch):
    made = Deployment(tmp_path)
    monkeypatch.setattr(program, "ADD_NODE", made.playbook)
    monkeypatch.setattr(program, "environment", lambda: dict(os.environ))
    return made


@pytest.fixture
def look(deployment, program, monkeypatch, capfd):
    """One run of the program: its exit code, and what it printed."""

    def run(*further: str) -> tuple[int, dict]:
        monkeypatch.setattr(sys, "argv", ["add_asked_nodes.py", *deployment.arguments(*further)])
        code = program.main()
        return code, json.loads(capfd.readouterr().out)

    return run


@pytest.mark.parametrize(
    "other",
    [
        {"wanted_action": "throttle", "state": "above-load"},
        # Its snapshots are stale, as while a node joins.
        {"state": "unknown"},
        # It was asked for, and its move cannot be afforded now.
        {"state": "missed"},
        {"store": "cassandra"},
        {"wanted_action": ""},
    ],
)
def test_what_asks_for_no_node_of_this_store(program, other):
    assert program.asking({"service_levels": [level(**other)]}, "hbase") == {}


def test_whoever_asks_for_a_node(program):
    levels = [level(), level("archive", state="refused", nodes=3)]
    assert program.asking({"service_levels": levels}, "hbase") == {"orders": 2, "archive": 3}


def test_hosts_that_stand_by_keep_their_order_and_those_of_children_count(program):
    listed = {
        "hbase_standby": {"hosts": ["z", "a", "m"]},
        "hbase_regionserver": {"hosts": ["a"], "children": ["rack1", "rack2"]},
        "rack1": {"hosts": ["h1", "h2"]},
        "rack2": {"hosts": ["h2", "h3"]},
        "_meta": {"hostvars": {"m": {"standby_nodes_state": "joining"}}},
    }
    inventory = program.inventory_of(listed, "hbase_standby", "hbase_regionserver")
    assert inventory.members == 4
    assert [host.name for host in inventory.free()] == ["z"]
    assert [host.name for host in inventory.joining()] == ["m"]


def test_nothing_is_done_where_nothing_is_asked_for(deployment, look):
    deployment.asks(level(state="reached", wanted_action=""))
    code, outcome = look()
    assert (code, outcome["outcome"]) == (0, "nothing")
    assert deployment.record() == []


def test_the_first_that_stands_by_joins_and_the_next_one_waits(deployment, look):
    deployment.asks(level())
    deployment.playbook_does(deployment.writes("joined"))
    code, outcome = look()
    assert (code, outcome["outcome"], outcome["node"]) == (0, "added", "hb3")
    assert outcome["asked_by"] == ["orders"]
    assert deployment.record() == [("begun", "hb3"), ("added", "hb3")]
    # The controller has not seen the third node yet.
    code, outcome = look()
    assert (code, outcome["outcome"]) == (0, "waits")
    assert "sees 2 nodes, and the inventory has 3" in outcome["reason"]


def test_the_next_node_waits_until_the_time_between_two_is_over(deployment, look, program):
    began_at = program.stamp(program.now())
    deployment.joined("hb3", began_at=began_at)
    deployment.asks(level(nodes=3))
    code, outcome = look("--rest-seconds=600")
    assert (code, outcome["outcome"]) == (0, "waits")
    assert "may join at" in outcome["reason"]
    code, outcome = look("--rest-seconds=0", "--dry-run")
    assert (code, outcome["outcome"], outcome["node"]) == (0, "dry-run", "hb4")
    assert deployment.record() == []


def test_no_more_nodes_join_than_stand_by(deployment, look):
    deployment.joined("hb3")
    deployment.joined("hb4")
    deployment.asks(level(nodes=4))
    code, outcome = look()
    assert (code, outcome["outcome"]) == (3, "no-host")
    assert "add hosts" in outcome["reason"]


def test_a_host_that_cannot_begin_is_passed_over(deployment, look):
    deployment.asks(level())
    dead = {"ansible.builtin.fail": {"msg": "it does not answer"}, "when": "node == 'hb3'"}
    deployment.playbook_does(dead, deployment.writes("joined"))
    code, outcome = look()
    assert (code, outcome["outcome"], outcome["node"]) == (0, "added", "hb4")
    tried = [("begun", "hb3"), ("begun", "hb4"), ("added", "hb4")]
    assert deployment.record() == tried


def test_a_host_that_has_begun_is_finished_before_another_and_whatever_is_asked_for(
    deployment, look
):
    deployment.asks(level())
    fails = {"ansible.builtin.fail": {"msg": "lost in the middle"}}
    deployment.playbook_does(deployment.writes("joining"), fails)
    code, outcome = look()
    assert (code, outcome["outcome"], outcome["node"]) == (1, "failed", "hb3")
    assert "joined-hb3.yml" in outcome["reason"]
    # Nobody can be asked, nor need be.
    deployment.levels.unlink()
    deployment.playbook_does(deployment.writes("joined"))
    code, outcome = look()
    assert (code, outcome["outcome"], outcome["node"]) == (0, "added", "hb3")


def test_a_controller_that_does_not_answer_is_told(deployment, look):
    code, outcome = look()
    assert (code, outcome["outcome"]) == (4, "unknown")
    assert str(deployment.sluice) in outcome["reason"]


def test_an_inventory_without_the_group_is_told(deployment, look):
    code, outcome = look("--group=standby")
    assert (code, outcome["outcome"]) == (4, "unknown")
    assert "no group standby" in outcome["reason"]


def wait_for(condition) -> None:
    end = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < end, "it has not come about"
        time.sleep(0.05)


def test_killed_it_leaves_a_playbook_that_no_other_run_joins_in(deployment, look):
    deployment.asks(level())
    go_on = deployment.folder / "go-on"
    waits = {"ansible.builtin.wait_for": {"path": str(go_on), "timeout": DEADLINE_SECONDS}}
    deployment.playbook_does(deployment.writes("joining"), waits, deployment.writes("joined"))
    starting = (
        "import importlib.util, pathlib, sys\n"
        f"spec = importlib.util.spec_from_file_location('add_asked_nodes', {str(PROGRAM)!r})\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "sys.modules['add_asked_nodes'] = module\n"
        "spec.loader.exec_module(module)\n"
        f"module.ADD_NODE = pathlib.Path({str(deployment.playbook)!r})\n"
        "module.main()\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", starting, *deployment.arguments()], stderr=subprocess.DEVNULL
    )
    noted = deployment.inventory / "joined-hb3.yml"
    wait_for(noted.exists)
    running.send_signal(signal.SIGKILL)
    running.wait()
    code, outcome = look()
    assert (code, outcome["outcome"]) == (0, "waits")
    assert "under way" in outcome["reason"]
    go_on.touch()
    wait_for(lambda: look("--dry-run")[1].get("reason", "").startswith("the controller sees"))
    assert "state: joined" in noted.read_text()
    assert deployment.record() == [("begun", "hb3")]
