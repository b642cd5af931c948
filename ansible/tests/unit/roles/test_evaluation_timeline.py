"""What role evaluation has a host of clients do in a run, written by its template."""

import itertools
import json
from pathlib import Path

import jinja2
import pytest

TEMPLATES = Path(__file__).parents[3] / "roles" / "evaluation" / "templates"
# As many as the option can say.
ANY_NUMBER = 2000000000
# Without a schedule, in 21 s: more than any client does.
UNSCHEDULED = 21000000


def client(node: int, schedule: str | None) -> dict:
    return {
        "name": f"steady-{node}", "node": node, "start_seconds": 0.0, "duration_seconds": 21.0,
        "threads": 8, "schedule": schedule, "status_interval_seconds": 1,
    }  # fmt: skip


def timeline(schedule: str | None, host: str = "rd2", **further: object) -> dict:
    environment = jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters["to_json"] = json.dumps
    run = {
        "store": "rocksdb",
        "workload": "d",
        "data": {"record_count": 5000},
        "clients": [client(1, schedule), client(2, schedule) | further],
        "orders": [],
        "measure": {"drain": True},
    }
    store = {
        "client_argv": ["/runner", "client"],
        "client_properties": {},
        "drain_steps": ["settle"],
        "order_argv": [],
    }
    text = environment.from_string((TEMPLATES / "timeline.json.j2").read_text()).render(
        evaluation_run=run,
        evaluation_store=store,
        _evaluation_client_properties={},
        evaluation_host=host,
        evaluation_hosts=["rd1", "rd2", "rd3"],
        _evaluation_load_hosts=["rd1", "rd2"],
        _evaluation_node_directory="/var/tmp/run",
        _evaluation_drain_limit_seconds=900,
        _evaluation_begin_epoch_seconds=1795424200.5,
    )
    return json.loads(text)


def told(argv: list[str]) -> dict[str, str]:
    given = [value for name, value in itertools.pairwise(argv) if name == "-p"]
    return dict(pair.split("=", 1) for pair in given)


def test_a_host_has_its_own_client_and_what_waits_for_its_end():
    written = timeline(None)
    assert written["begin_epoch_seconds"] == 1795424200.5
    load, drain = written["steps"]
    assert load["name"] == "steady-2"
    assert load["argv"][:5] == ["/runner", "client", "sluice-ycsb", "run", "rocksdb"]
    # Without a step of this name and kind `sluice-evaluation record` refuses the run.
    assert (drain["name"], drain["kind"]) == ("drain-steady-2", "drain")
    assert drain["after_step"] == "steady-2"
    assert drain["argv"][:6] == [
        "/runner", "client", "sluice-ycsb", "prepare", "rocksdb", "settle",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("schedule", "least", "most"),
    [
        (None, UNSCHEDULED, UNSCHEDULED),
        ("5s:300,2s:1050,14s:300", 7800, 20000),
        ("3600s:1e+06", ANY_NUMBER, ANY_NUMBER),
    ],
)
def test_there_are_no_more_operations_than_a_schedule_can_ask_for(schedule, least, most):
    operations = int(told(timeline(schedule)["steps"][0]["argv"])["operationcount"])
    assert least <= operations <= most


def test_a_client_is_told_what_is_its_own_alone():
    written = timeline(None, properties={"table": "noisy"})
    assert told(written["steps"][0]["argv"])["table"] == "noisy"
    assert "table" not in told(timeline(None)["steps"][0]["argv"])
