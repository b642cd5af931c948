"""Alert rules and dashboard: tests pass, and what they ask for is what the programs export."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import jinja2
import pytest
import yaml
from host_before_port import host_before_port
from role_files import Host, tasks_of

ROLE = Path(__file__).parents[3] / "roles" / "monitoring"
CONTROL = ROLE.parents[2] / "control"
METRIC = re.compile(r"sluice_[a-z0-9_]+")
# What client libraries add to the name of a histogram.
SUFFIX = re.compile(r"_(bucket|sum|count)$")


def promtool(*arguments: str | Path) -> str:
    assert shutil.which("promtool"), "promtool is missing: run build/bootstrap"
    command = ["promtool", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROLE / "tests", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def dashboard_expressions() -> list[str]:
    dashboard = json.loads((ROLE / "files" / "dashboard.json").read_text())
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def rules() -> list[dict]:
    groups = yaml.safe_load((ROLE / "files" / "rules.yml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def exported() -> set[str]:
    sources = [file for file in CONTROL.rglob("*.go") if not file.name.endswith("_test.go")]
    return {name for file in sources for name in METRIC.findall(file.read_text())}


def test_rules_do_what_their_tests_say():
    assert "SUCCESS" in promtool("test", "rules", "rules_test.yml")


def test_each_alert_has_a_test_that_fires():
    tests = yaml.safe_load((ROLE / "tests" / "rules_test.yml").read_text())["tests"]
    cases = [case for test in tests for case in test["alert_rule_test"]]
    fired = {case["alertname"] for case in cases if case["exp_alerts"]}
    quiet = {case["alertname"] for case in cases if not case["exp_alerts"]}
    alerts = {rule["alert"] for rule in rules()}
    assert fired == alerts
    assert quiet == alerts


def test_expressions_of_the_dashboard_are_valid(tmp_path):
    expressions = [text.replace("$__rate_interval", "1m") for text in dashboard_expressions()]
    entries = [
        {"record": f"expression:{number}", "expr": text} for number, text in enumerate(expressions)
    ]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": entries}]}))
    assert f"{len(entries)} rules found" in promtool("check", "rules", file)


@pytest.mark.parametrize("expression", [*dashboard_expressions(), *(r["expr"] for r in rules())])
def test_metrics_are_those_that_are_exported(expression):
    asked = {SUFFIX.sub("", name) for name in METRIC.findall(expression)}
    assert asked <= exported()


@pytest.mark.parametrize(
    ("listen", "own", "others"),
    [
        (None, "127.0.0.1:7414", "10.0.0.1:7414"),
        ("0.0.0.0:7000", "127.0.0.1:7000", "10.0.0.1:7000"),
        (":7000", "127.0.0.1:7000", "10.0.0.1:7000"),
        ("10.0.0.1:7000", "10.0.0.1:7000", "10.0.0.1:7000"),
        ("[::]:7000", "127.0.0.1:7000", "10.0.0.1:7000"),
    ],
)
def test_controllers_are_read_where_they_listen(listen, own, others):
    variables = yaml.safe_load((ROLE / "vars" / "main.yml").read_text())
    template = variables["_monitoring_controller_targets"]
    host = {"ansible_host": "10.0.0.1"} | ({"controller_page_listen": listen} if listen else {})
    environment = jinja2.Environment(finalize=lambda value: "" if value is None else value)
    environment.filters["sluice.stores.host_before_port"] = host_before_port
    for reader, address in (("one", own), ("two", others)):
        text = environment.from_string(template).render(
            monitoring_controllers=["one"], hostvars={"one": host}, inventory_hostname=reader
        )
        assert yaml.safe_load(text) == [{"targets": [address], "labels": {"controller": "one"}}]


def test_pages_of_stores_are_read_at_the_hosts_of_their_group():
    template = (ROLE / "templates" / "prometheus.yml.j2").read_text()
    environment = jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters["to_json"] = json.dumps
    environment.filters["sluice.stores.host_before_port"] = host_before_port
    text = environment.from_string(template).render(
        ansible_managed="managed",
        monitoring_cluster="c",
        monitoring_scrape_interval_seconds=15,
        monitoring_further_jobs=[
            {"name": "master", "group": "masters", "port": 16010, "path": "/prometheus"},
            {"name": "other", "group": "nobody", "port": 1},
        ],
        groups={"masters": ["one", "two", "six"]},
        hostvars={"one": {"ansible_host": "10.0.0.1"}, "two": {}, "six": {"ansible_host": "::6"}},
        _monitoring_jobs=[],
        _monitoring_tls_directory="/d",
    )
    master, other = yaml.safe_load(text)["scrape_configs"]
    assert master["metrics_path"] == "/prometheus" and other["metrics_path"] == "/metrics"
    assert master["static_configs"] == [
        {"targets": ["10.0.0.1:16010"], "labels": {"node": "one"}},
        {"targets": ["two:16010"], "labels": {"node": "two"}},
        {"targets": ["[::6]:16010"], "labels": {"node": "six"}},
    ]
    assert not other["static_configs"]


@pytest.mark.parametrize(
    ("host", "address"),
    [("fd00::1", "[fd00::1]"), ("10.0.0.1", "10.0.0.1"), ("n1.example", "n1.example")],
)
def test_addresses_of_version_6_are_in_brackets_before_a_port(host, address):
    known = {"hostvars": {"one": {"ansible_host": host}}, "inventory_dir": "/i"}
    read = {"monitoring_agents": ["one"], "monitoring_controllers": ["one"]}
    reader = Host("monitoring", "two", **known, **read)
    for kind, port in (("agent", 7412), ("controller", 7414)):
        [target] = reader.value(f"_monitoring_{kind}_targets")
        assert target["targets"] == [f"{address}:{port}"]
    controller = Host("controller", "two", controller_agents=["one"], **known)
    [agent] = controller.value("_controller_agent_addresses")
    assert agent["address"] == f"{address}:7411"


@pytest.mark.parametrize(
    ("handler", "registered", "counts_reload"),
    [
        ("Reload Prometheus", "_monitoring_unread", True),
        ("Restart Prometheus", "_monitoring_stale", False),
    ],
)
def test_files_whose_handler_was_lost_are_taken_by_the_next_run(handler, registered, counts_reload):
    tasks = tasks_of("monitoring", "configure.yml")
    told = [task for task in tasks if task.get("notify") == handler]
    [looking] = [task for task in told if "sluice.stores.unit_staleness" in task]
    templar = Host("monitoring", "m1", inventory_dir="/i").templar()
    kinds = ("ansible.builtin.copy", "ansible.builtin.template")
    modules = [task[kind] for task in told for kind in kinds if kind in task]
    written = {templar.template(module["dest"]) for module in modules}
    compared = templar.template(looking["sluice.stores.unit_staleness"])
    assert written and set(compared["inputs"]) == written
    assert compared["unit"] == "prometheus.service"
    assert compared.get("counts_reload", False) is counts_reload
    for reasons, changed in (([], False), (["new settings"], True)):
        templar = Host("monitoring", "m1", **{registered: {"reasons": reasons}}).templar()
        assert templar.evaluate_conditional(looking["changed_when"]) is changed
