"""The rows that prove an upgrade, and the host that has to write and compare them."""

import json

import pytest
from role_files import Host, task_of, tasks_of

THREE = ["hb1", "hb2", "hb3"]
PROOF = "sluice_upgrade_proof_2.6.4-hadoop3"


@pytest.mark.parametrize(
    ("tables", "end", "changed", "created", "written", "compared"),
    [
        ("", None, [], True, True, False),
        # An earlier run died while it wrote.
        (PROOF, "", [], False, True, False),
        # An earlier upgrade to this build has failed; or it died before the first host.
        (PROOF, "written\tf:v\tall", [], False, False, True),
        # It died between hosts.
        (PROOF, "written\tf:v\tall", ["hb1"], False, False, False),
        # The way back from another aim leaves what that has written.
        ("sluice_upgrade_proof_2.6.4-hadoop3-stock", None, [], True, True, False),
    ],
)
def test_rows_of_an_upgrade_are_written_once(tables, end, changed, created, written, compared):
    hosts = {name: {"_hbase_other_units": [] if name in changed else ["former"]} for name in THREE}
    # One without daemons has no build to change, and tells nothing.
    hosts["worker"] = {"_hbase_other_units": []}
    known = {
        "groups": {"hbase_regionserver": THREE},
        "hostvars": hosts,
        "ansible_play_hosts": list(hosts),
        "_hbase_tables": {"stdout": tables},
    }
    if end is not None:
        known["_hbase_proof_ends"] = {"stdout": end}
    host = Host("hbase", "hb1", **known)
    for name, expected in (
        ("Make their table", created),
        ("Write them", written),
        ("Write that they are written", written),
        ("Compare those of an earlier run", compared),
    ):
        assert host.holds(task_of("hbase", "write_proof.yml", name)) is expected


@pytest.mark.parametrize(("lost", "accepted"), [([], True), ([42], False), ([10000], False)])
def test_rows_are_compared_with_all_that_was_written(lost, accepted):
    host = Host("hbase", "hb1")
    rows = [*host.value("_hbase_proof"), host.value("_hbase_proof_end")]
    assert rows == sorted(rows, key=lambda row: row[0])
    kept = [row for number, row in enumerate(rows) if number not in lost]
    scan = json.dumps([{"row": row, "value": value} for row, value in kept])
    task = task_of("hbase", "compare_proof.yml", "Compare them with what was written")
    assert host.holds(task, "that", _hbase_scan={"stdout": scan}) is accepted


def test_evidence_is_dropped_by_a_verification_that_went_well_alone():
    assert "drop" not in str(
        [task.get("ansible.builtin.command") for task in tasks_of("hbase", "compare_proof.yml")]
    )
    names = [task["name"] for task in tasks_of("hbase", "upgrade_verify.yml")]
    assert names.index("Compare what was written before") < names.index("Drop the rows")


@pytest.mark.parametrize(
    ("role", "file", "name", "known"),
    [
        (
            "hbase",
            "upgrade_begin.yml",
            "Require the host that verifies",
            {"groups": {"hbase_master": ["one", "two"]}},
        ),
        (
            "postgres",
            "upgrade_plan.yml",
            "Require the primary",
            {"groups": {"postgres_primary": ["one"], "postgres_standby": ["two"]}},
        ),
    ],
)
def test_an_upgrade_without_the_host_that_proves_it_does_not_begin(role, file, name, known):
    host, task = Host(role, "two", **known), task_of(role, file, name)
    assert host.holds(task, "that", ansible_play_hosts_all=["one", "two"])
    assert not host.holds(task, "that", ansible_play_hosts_all=["two"])
    assert "--limit two,one" in host.message(task)
    files = [other.get("ansible.builtin.include_tasks") for other in tasks_of(role, file)]
    names = [other["name"] for other in tasks_of(role, file)]
    # Rows of HBase, rows and marker of PostgreSQL.
    beginning = {"hbase": "write_proof.yml", "postgres": "upgrade_begin.yml"}[role]
    assert names.index(name) < files.index(beginning)
