"""Agents that hold a pool: what they are told, when its log begins, and whose restart waits."""

import pytest
import yaml
from ansible.template import trust_as_template
from role_files import ROLES, Host, task_of, tasks_of

FOUR = ["rd1", "rd2", "rd3", "rd4"]
GROUPS = {"agents": FOUR, "pool_servers": FOUR, "pool_voters": FOUR[:3]}
SERVER = {"directory": "/srv/disk/pool", "free_bytes": 1048576}
EMPTY = {"log": False, "noted": False}


def host(name="rd1", groups=GROUPS, found=None, hosts=None, **known) -> Host:
    """A host of the pool; `found` is how each voter was found when the run began."""
    variables = {each: {"inventory_hostname": each} for each in FOUR}
    for voter, how in (found or {}).items():
        variables[voter]["_agent_pool_found"] = how
    for each, more in (hosts or {}).items():
        variables[each] |= more
    own = variables[name] | {"agent_pool_server": SERVER, "inventory_dir": "/i"} | known
    return Host("agent", name, groups=groups, hostvars=variables, **own)


def written(of: Host, **known) -> dict:
    """The configuration, by the template."""
    template = (ROLES / "agent/templates/agent.yml.j2").read_text().split("\n", 1)[1]
    text = of.templar(**known).template(trust_as_template(template))
    return yaml.safe_load(text)


def test_a_host_is_told_what_it_holds_and_where_the_others_are():
    pool = written(host(agent_pool_client={"socket": "/run/s", "copies": 2}))["pool"]
    assert pool["server"] == SERVER
    assert pool["metadata"] == {
        "state_directory": "/var/lib/sluice-agent/pool-metadata",
        "voters": [{"node": name, "address": f"{name}:7413"} for name in FOUR[:3]],
    }
    assert pool["client"] == {
        "voters": [{"node": name, "address": f"{name}:7411"} for name in FOUR[:3]],
        "servers": [{"node": name, "address": f"{name}:7411"} for name in FOUR],
        "socket": "/run/s",
        "copies": 2,
    }


def test_addresses_are_those_of_the_hosts_own_variables():
    own = {
        "agent_node": "db-2",
        "agent_pool_host": "10.0.0.2",
        "agent_listen": "0.0.0.0:7500",
        "agent_pool_metadata": {"listen": "10.0.0.2:7600"},
    }
    pool = written(host(hosts={"rd2": own}))["pool"]
    assert {"node": "db-2", "address": "10.0.0.2:7500"} in pool["client"]["servers"]
    assert {"node": "db-2", "address": "10.0.0.2:7600"} in pool["metadata"]["voters"]


def test_who_holds_nothing_has_the_commands_alone():
    groups = GROUPS | {"pool_servers": FOUR[:3]}
    assert set(written(host("rd4", groups=groups))["pool"]) == {"client"}
    assert set(written(host("rd4"))["pool"]) == {"server", "client"}


def test_without_groups_there_is_no_pool():
    assert "pool" not in written(host(groups={"agents": FOUR}))


def test_a_pool_of_another_inventory_is_named():
    others = [{"node": "far", "address": "far:7411"}]
    known = {"agent_pool_client": {"voters": others, "servers": others, "copies": 1}}
    pool = written(host(groups={"agents": FOUR}, **known))["pool"]
    assert pool == {"client": {"voters": others, "servers": others, "copies": 1}}


def test_what_lets_a_log_begin_is_in_no_other_file():
    assert "bootstrap" not in written(host())["pool"]["metadata"]
    assert written(host(), _agent_begins_log=True)["pool"]["metadata"]["bootstrap"] is True
    begin = tasks_of("agent", "pool_begin.yml")
    [writing] = [task for task in begin if "ansible.builtin.template" in task]
    assert writing["ansible.builtin.template"]["dest"] == "{{ _agent_begin_file }}"
    assert host().value("_agent_begin_file").startswith("/run/")
    assert host().value("_agent_begin_unit").startswith("/run/systemd/")
    [removing] = [task for task in _always(begin) if "ansible.builtin.file" in task]
    assert removing["ansible.builtin.file"]["state"] == "absent"
    assert removing["loop"] == ["{{ _agent_begin_unit }}", "{{ _agent_begin_file }}"]


def _always(tasks: list[dict]) -> list[dict]:
    return [each for task in tasks for each in task.get("always", [])]


@pytest.mark.parametrize(
    ("found", "begins"),
    [
        (dict.fromkeys(FOUR[:3], EMPTY), True),
        # A run over some of them does not know of the others.
        (dict.fromkeys(FOUR[:2], EMPTY), False),
        (dict.fromkeys(FOUR[:2], EMPTY) | {"rd3": {"log": True, "noted": True}}, False),
        # Its disk is not mounted.
        (dict.fromkeys(FOUR[:2], EMPTY) | {"rd3": {"log": False, "noted": True}}, False),
    ],
)
def test_a_log_begins_only_where_no_voter_has_one(found, begins):
    refusing = task_of("agent", "pool_preflight.yml", "Refuse to begin a log beside others")
    of = host("rd2", found=found)
    assert of.value("_agent_pool_begins") is begins
    assert of.holds(refusing, "that", _agent_pool_has_log=False) is begins
    assert of.holds(refusing, "that", _agent_pool_has_log=True)
    # It goes by how they were found: meanwhile the first has begun.
    noting = task_of("agent", "pool_look.yml", "Note how the voters were found")
    assert not of.holds(noting, _agent_pool_found=EMPTY)
    assert host("rd2").holds(noting)


def test_who_is_to_blame_for_a_refusal_is_named():
    refusing = task_of("agent", "pool_preflight.yml", "Refuse to begin a log beside others")
    found = {"rd1": {"log": True, "noted": True}, "rd2": EMPTY}
    message = host("rd2", found=found).message(refusing)
    assert "rd1 did or had done" in message and "rd3 was not in it" in message


@pytest.mark.parametrize(("has_log", "waits"), [(True, True), (False, False)])
def test_a_restart_waits_for_the_others_and_then_for_the_pool(has_log, waits):
    file = yaml.safe_load((ROLES / "agent/handlers/restart.yml").read_text())
    before, restarting, after = file
    assert restarting["ansible.builtin.systemd_service"]["state"] == "restarted"
    of = host(found={voter: {"log": has_log, "noted": has_log} for voter in FOUR[:3]})
    assert before["when"] == "_agent_in_pool | bool" and of.value("_agent_in_pool") is True
    assert of.value("_agent_pool_begins") is not waits
    assert after["when"] == ["_agent_in_pool | bool", "not _agent_pool_begins | bool"]
    [waiting] = [task for task in tasks_of("agent", "pool_wait.yml") if "until" in task]
    assert sorted(of.templar().template(waiting["loop"])) == ["rd2", "rd3", "rd4"]
    requiring = task_of("agent", "pool_wait.yml", "Require that they do")
    answers = {"results": [{"item": "rd2", "rc": 0}, {"item": "rd3", "rc": 3}]}
    assert not of.holds(requiring, "that", _agent_pool_other=answers)
    assert "does not run on rd3," in of.message(requiring, _agent_pool_other=answers)


def test_other_agents_are_restarted_without_waiting():
    assert host("rd4", groups={"agents": FOUR}).value("_agent_in_pool") is False


def test_an_agent_that_was_started_in_this_run_is_not_started_again():
    [restarting] = yaml.safe_load((ROLES / "agent/handlers/main.yml").read_text())
    handler = restarting | {"vars": {}}
    of = host(ansible_check_mode=False)
    handler["when"] = [trust_as_template(condition) for condition in restarting["when"]]
    assert of.holds(handler, _agent_start={"changed": False})
    assert not of.holds(handler, _agent_start={"changed": True})
    assert not of.holds(handler, _agent_start={"changed": False}, _agent_has_begun=True)
    # What the module tells is the state before.
    for state, restarted in (("inactive", False), ("failed", False), ("active", True)):
        start = {"changed": True, "status": {"ActiveState": state}}
        assert of.holds(handler, _agent_start=start) is restarted


CHECKS = [
    ("Check the pool", {"agent_pool_voters": FOUR[:2]}, "1, 3, 4 or 5 voters"),
    ("Check the pool", {"agent_pool_servers": FOUR[:1]}, "at least as many servers as copies"),
    ("Check the pool", {"agent_pool_servers": ["rd1", "rd1"]}, "each once"),
    ("Check the pool", {"agent_pool_servers": []}, "servers none"),
    (
        "Check that the inventory knows its hosts",
        {"agent_pool_servers": [*FOUR, "far"]},
        "far of agent_pool_voters",
    ),
    ("Check the names of the volumes", {"agent_pool_volumes": ["-x"]}, "which has -x"),
    (
        "Check the port of the metadata",
        {"groups": GROUPS | {"controllers": ["rd1"]}},
        "Port 7413 of agent_pool_metadata.listen",
    ),
    (
        "Refuse to bring several hosts of a pool to their configuration at once",
        {"ansible_play_batch": ["rd1", "rd4"]},
        "rd1, rd4 hold parts of one pool",
    ),
]


@pytest.mark.parametrize(("name", "wrong", "message"), CHECKS)
def test_what_cannot_be_is_refused(name, wrong, message):
    task = task_of("agent", "pool_preflight.yml", name)
    known = {"ansible_play_batch": ["rd1"], "agent_pool_volumes": ["orders", "a.b"]}
    assert host(**known).holds(task, "that")
    of = host(**(known | wrong))
    assert not of.holds(task, "that")
    assert message in of.message(task)


def test_a_disk_that_is_not_mounted_is_not_taken_for_a_new_one():
    blocks = task_of("agent", "pool_preflight.yml", "Refuse to begin anew where there were blocks")
    log = task_of("agent", "pool_preflight.yml", "Refuse to begin anew where there was metadata")
    there, gone = {"stat": {"exists": True}}, {"stat": {"exists": False}}
    for found, noted, accepted in ((there, there, True), (gone, gone, True), (gone, there, False)):
        known = {"_agent_pool_server_found": found, "_agent_pool_server_noted": noted}
        assert host().holds(blocks, "that", **known) is accepted
        known = {
            "_agent_pool_has_log": found["stat"]["exists"],
            "_agent_pool_metadata_noted": noted,
        }
        assert host().holds(log, "that", **known) is accepted


def test_the_unit_waits_for_the_disks_that_it_does_not_come_with():
    assert host().value("_agent_pool_disks") == ["/srv/disk/pool"]
    assert host(agent_pool_server={}).value("_agent_pool_disks") == []
    template = (ROLES / "agent/templates/pool.conf.j2").read_text().split("\n", 1)[1]
    text = host().templar().template(trust_as_template(template))
    assert 'RequiresMountsFor="/srv/disk/pool"' in text
    assert 'ReadWritePaths="/srv/disk/pool"' in text
    inputs = host().value("_agent_inputs")
    assert "/etc/systemd/system/sluice-agent.service.d/pool.conf" in inputs
