"""What roles take for safe, by the conditions of their own tasks."""

import re
from pathlib import Path

import jinja2
import pytest
import yaml

ROLES = Path(__file__).parents[3] / "roles"
JINJA = jinja2.Environment(autoescape=True)
JINJA.filters["regex_escape"] = re.escape
JINJA.filters["bool"] = bool
# As in Ansible, where filters give lists.
JINJA.filters["length"] = lambda items: len(list(items))
JINJA.filters["difference"] = lambda first, second: [item for item in first if item not in second]
JINJA.tests["match"] = lambda text, pattern: re.match(pattern, text) is not None


def task_of(role: str, file: str, name: str) -> dict:
    """A task by its name, with the variables of the block that it is in."""
    tasks = yaml.safe_load((ROLES / role / "tasks" / file).read_text())
    for task in tasks:
        for inner in [task, *task.get("block", [])]:
            if inner["name"] == name:
                return task.get("vars", {}) | inner
    raise LookupError(f"{role}/{file} has no task {name!r}")


def value_of(template: str, **variables: object) -> object:
    """Of a template that is one expression."""
    expression = template.strip().removeprefix("{{").removesuffix("}}")
    return JINJA.compile_expression(expression)(**variables)


def holds(expression: str, **variables: object) -> bool:
    return JINJA.compile_expression(expression)(**variables)


@pytest.mark.parametrize(
    ("empty", "accepted"),
    [
        ([], True),
        # A server that has lost its disk, and gets all from the two others.
        (["zk3"], True),
        # Of a run over these two alone: the third holds what they would vote away.
        (["zk1", "zk2"], False),
        # A new ensemble.
        (["zk1", "zk2", "zk3"], True),
    ],
)
def test_empty_servers_do_not_outvote_one_that_is_not_in_the_run(empty, accepted):
    name = "Refuse to let empty servers outvote those with data"
    task = task_of("zookeeper", "preflight.yml", name)
    condition = task["ansible.builtin.assert"]["that"]
    assert holds(condition, _empty=empty, zookeeper_hosts=["zk1", "zk2", "zk3"]) is accepted


@pytest.mark.parametrize(
    ("regions", "live", "available", "counted", "empty"),
    [
        (7, ["hb1,16020,5"], True, True, False),
        (0, ["hb1,16020,5"], True, True, True),
        # It does not answer within some seconds, and serves nevertheless.
        (-1, ["hb1,16020,5", "hb2,16020,6"], True, False, False),
        # It is down: others have its regions.
        (-1, ["hb11,16020,5", "hb2,16020,6"], True, True, True),
        (-1, [], False, False, False),
        # The master knows it by another name.
        (7, ["node1.example,16020,5"], True, True, False),
    ],
)
def test_a_region_server_is_empty_when_it_says_so_or_is_dead(
    regions, live, available, counted, empty
):
    status = {"regions": regions, "live": live, "available": available}
    if not available:
        del status["live"]
    for name, expected in (("Count the regions", counted), ("Wait until none is left", empty)):
        task = task_of("hbase", "drain.yml", name)
        known = {"_hbase_status": status, "hbase_host": "hb1"}
        is_dead = value_of(task["_hbase_is_dead"], **known)
        assert holds(task["until"], **known, _hbase_is_dead=is_dead) is expected


def test_an_active_namenode_that_is_slow_to_answer_is_asked_again():
    condition = task_of("hdfs", "hand_over.yml", "Ask which NameNode is active")["until"]
    assert not holds(condition, _hdfs_ha=True, _hdfs_status={"active": ""})
    assert holds(condition, _hdfs_ha=True, _hdfs_status={"active": "http://hb2:9870"})
    assert holds(condition, _hdfs_ha=False, _hdfs_status={"active": ""})


@pytest.mark.parametrize(
    ("before", "after", "runs", "is_same"),
    [
        ("17", "17", True, True),
        ("17", "18", True, False),
        ("17", "0", False, False),
        ("17", "", False, False),
        # The other variant's unit is known, and does not run.
        ("0 17", "0 17", True, True),
        ("17 0", "17 0", True, True),
        ("0 0", "0 0", False, True),
        ("16 17", "16 17", False, True),
    ],
)
def test_a_run_counts_when_each_daemon_is_the_same_process_at_its_end(before, after, runs, is_same):
    """Each is a line of the unit's name and what systemd knows of it; another one goes on well."""
    known = {
        "_evaluation_daemons": {"stdout_lines": ["master 7", f"datanode {after}".strip()]},
        "evaluation_daemons_before": ["master 7", f"datanode {before}".strip()],
    }
    for name, wrong, expected in (
        ("Require that each runs", "_evaluation_daemons_wrong", runs),
        (
            "Require that none was started anew since the load began",
            "_evaluation_daemons_anew",
            is_same,
        ),
    ):
        task = task_of("evaluation", "daemons.yml", name)
        found = value_of(task["vars"][wrong], **known)
        assert holds(task["ansible.builtin.assert"]["that"], **{wrong: found}) is expected
        assert [line.split()[0] for line in found] == ([] if expected else ["datanode"])
