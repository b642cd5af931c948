"""HBase's balancer, when a turn that switched it off cannot be ended."""

import pytest
from role_files import Host, task_of

THREE = ["hb1", "hb2", "hb3"]


@pytest.mark.parametrize(
    ("printed", "turning", "warned"),
    [("on", [], False), ("off", [], True), ("off", ["hb3"], False)],
)
def test_a_balancer_that_nobody_will_switch_on_is_told(printed, turning, warned):
    hosts = {
        name: {"inventory_hostname": name, "_hbase_turn": {"stat": {"exists": name in turning}}}
        for name in THREE
    }
    # One that was never asked.
    hosts["hb2"].pop("_hbase_turn")
    known = {
        "hostvars": hosts,
        "ansible_play_hosts": THREE,
        "_hbase_balancer": {"stdout": f"{printed}\n"},
    }
    host = Host("hbase", "hb1", **known)
    assert host.holds(task_of("hbase", "drain.yml", "Say that the balancer is off")) is warned
    assert "balancer on" in host.value("_hbase_balancer_warning")
    after = task_of("hbase", "balancer.yml", "Say that the balancer is off")
    assert host.holds(after) is (printed == "off")


@pytest.mark.parametrize("file", ["restart.yml", "upgrade_return.yml"])
def test_the_balancer_is_looked_at_after_the_last_turn(file):
    task = task_of("hbase", file, "Look at the balancer after the last turn")
    turns = {"hbase_turns": ["hb3", "hb2", "hb1"], "hbase_regionserver": THREE}
    looks = [
        name
        for name in THREE
        if Host("hbase", name, groups=turns, ansible_check_mode=False).holds(task)
    ]
    assert looks == ["hb1"]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("drain.yml", "Switch the balancer off"),
        ("join_balance.yml", "Have the balancer move regions to it"),
    ],
)
def test_a_command_that_waits_for_a_run_of_the_balancer_has_its_time(file, name):
    """Upstream's ends after 5 minutes, and a call to HBase after 2 unless it is told otherwise."""
    task = task_of("hbase", file, name)
    argv = Host("hbase", "hb1").templar(task).template(task["ansible.builtin.command"]["argv"])
    assert argv[argv.index("--timeout") + 1] == "600"
    assert "hbase.rpc.timeout=600000" in argv
