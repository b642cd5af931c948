"""What the roles of the control plane do with keys, tags and addresses, read from their files."""

from pathlib import Path

import jinja2.nativetypes
import pytest
import yaml
from host_before_port import host_before_port
from role_files import Host, tasks_of

COLLECTION = Path(__file__).parents[3]
ROLES = COLLECTION / "roles"


def tasks(role: str, name: str) -> list[dict]:
    return yaml.safe_load((ROLES / role / "tasks" / f"{name}.yml").read_text())


def test_no_key_is_shown_by_diff():
    installing = [task for task in tasks("certificates", "install") if "key.pem" in str(task)]
    assert installing
    assert [task.get("diff") for task in installing] == [False] * len(installing)


def test_certificates_that_hosts_share_are_made_by_one_at_a_time():
    [issuing] = [task for task in tasks("certificates", "main") if "issue.yml" in str(task)]
    throttle = issuing["ansible.builtin.include_tasks"]["apply"]["throttle"]
    assert "operator" in throttle and "viewer" in throttle


@pytest.mark.parametrize("role", ["agent", "controller"])
def test_each_tag_alone_knows_whether_the_program_is_there(role):
    registered = f"_{role}_program"
    [looking] = [task for task in tasks(role, "main") if task.get("register") == registered]
    assert set(looking["tags"]) == {f"{role}_{part}" for part in ("install", "configure", "run")}


def test_nothing_of_a_controller_is_predicted_without_the_program():
    conditions = {task.get("when") for task in tasks("controller", "configure")}
    assert conditions == {"_controller_program.stat.exists"}


def test_the_page_of_the_test_bed_is_not_on_every_address():
    file = COLLECTION / "inventories" / "local" / "group_vars" / "controllers.yml"
    variables = yaml.safe_load(file.read_text())
    assert variables["controller_page_listen"] == "{{ ansible_host }}:7414"


def test_every_controller_writes_the_same_contexts():
    template = (ROLES / "controller" / "templates" / "cli.yml.j2").read_text()
    environment = jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters["sluice.stores.host_before_port"] = host_before_port
    listens = "0.0.0.0:7413"
    hosts = {
        "one": {"ansible_host": "10.0.0.1", "controller_listen": listens},
        "two": {"ansible_host": "10.0.0.2", "controller_listen": listens},
        "six": {"ansible_host": "fd00::6", "controller_listen": "[::]:7413"},
    }
    common = {
        "ansible_managed": "managed",
        "controller_cluster": "c",
        "controller_certificates_directory": "/d",
        "item": "anna",
        "hostvars": hosts,
        "_controller_group": list(hosts),
    }
    contexts_file = environment.from_string(template)
    written = [
        contexts_file.render(common | hosts[host] | {"inventory_hostname": host}) for host in hosts
    ]
    assert written[0] == written[1] == written[2]
    contexts = yaml.safe_load(written[0])["contexts"]
    addresses = {name: context["controller"] for name, context in contexts.items()}
    expected = {"c": "10.0.0.1:7413", "c-two": "10.0.0.2:7413", "c-six": "[fd00::6]:7413"}
    assert addresses == expected


@pytest.mark.parametrize(
    ("role", "address", "wanted"),
    [
        ("controller", "10.0.0.1", ["URI:sluice", "DNS:controller.c", "IP:10.0.0.1"]),
        ("controller", "fd00::1", ["URI:sluice", "DNS:controller.c", "IP:fd00::1"]),
        ("controller", "127.0.0.1", ["URI:sluice", "DNS:controller.c"]),
        ("controller", "c1.example", ["URI:sluice", "DNS:controller.c", "DNS:c1.example"]),
        ("agent", "10.0.0.1", ["URI:sluice", "DNS:agent.c"]),
        ("operator", "10.0.0.1", ["URI:sluice"]),
    ],
)
def test_a_browser_finds_the_address_of_the_page_in_the_certificate(role, address, wanted):
    variables = yaml.safe_load((ROLES / "certificates" / "vars" / "main.yml").read_text())
    known = {
        "certificates_role": role,
        "certificates_cluster": "c",
        "_certificates_identity": "sluice",
        "hostvars": {"one": {"ansible_host": address}},
        "inventory_hostname": "one",
    }
    environment = jinja2.nativetypes.NativeEnvironment()
    for name in ("host", "host_name", "alternative_names"):
        template = environment.from_string(variables[f"_certificates_{name}"])
        known[f"_certificates_{name}"] = template.render(known)
    loopback = {"DNS:localhost", "IP:127.0.0.1"}
    names = known["_certificates_alternative_names"]
    assert [name for name in names if name not in loopback] == wanted


@pytest.mark.parametrize("role", ["agent", "controller"])
def test_settings_whose_handler_was_lost_bring_a_restart(role):
    [looking] = [
        task for task in tasks_of(role, "run.yml") if "sluice.stores.unit_staleness" in task
    ]
    assert looking["notify"] == f"Restart the {role}"
    host = Host(role, "n1", inventory_dir="/i", agent_node="n1")
    compared = host.templar().template(looking["sluice.stores.unit_staleness"])
    assert compared["unit"] == f"sluice-{role}.service"
    assert f"/etc/sluice/{role}/{role}.yml" in compared["inputs"]
    for reasons, changed in (([], False), (["new settings"], True)):
        templar = host.templar(**{f"_{role}_stale": {"reasons": reasons}})
        assert templar.evaluate_conditional(looking["changed_when"]) is changed


def test_what_lets_workers_write_is_compared_also_when_it_is_gone():
    inputs = Host("agent", "n1", inventory_dir="/i").value("_agent_inputs")
    folder = "/etc/systemd/system/sluice-agent.service.d"
    assert {folder, f"{folder}/compaction.conf"} <= set(inputs)


def test_what_an_interrupted_evaluation_has_left_is_gone_before_the_controller_is_started():
    host = Host("controller", "n1", inventory_dir="/i")
    names = [task["name"] for task in tasks_of("controller", "run.yml")]
    removing, looking, stopping, starting = tasks_of("controller", "run.yml")[:4]
    assert names.index("Start the controller now and at boot") == 3
    # Without it the unit would keep the settings that were read before.
    assert starting["ansible.builtin.systemd_service"]["daemon_reload"] is True
    removed = host.templar().template(removing["ansible.builtin.file"])
    written = Host("evaluation", "n1").value("_evaluation_controller_override")
    assert removed == {"path": written, "state": "absent"}
    asked = looking["ansible.builtin.command"]["argv"]
    assert {"sluice-evaluation-*.timer", "sluice-evaluation-decisions.service"} <= set(asked)
    there = {"_controller_program": {"stat": {"exists": True}}}
    timer = "sluice-evaluation-kill-controller-1.timer"
    for lines, stops in (([], False), ([f"{timer} loaded active waiting /bin/sh"], True)):
        known = there | {"_controller_evaluation_units": {"stdout_lines": lines}}
        assert host.holds(stopping, **known) is stops
        argv = host.templar(**known).template(stopping["ansible.builtin.command"]["argv"])
        assert argv == ["systemctl", "stop", *([timer] if lines else [])]
