"""What role evaluation takes for a host that is fit to measure on, and what of it a run records."""

import json

import pytest
import yaml
from sluice_evaluation.machine_speed import MOST_SLOWDOWN_RATIO
from sluice_evaluation.probes.processors import (
    MOST_PAUSED_SHARE,
    MOST_SPREAD_RATIO,
    MOST_STOLEN_SHARE,
)
from test_safety_conditions import JINJA, ROLES, task_of, value_of

SEEN = {"system_calls": {"median_per_processor_second": 2e6}}


def test_bounds_of_the_role_are_those_that_the_report_warns_by():
    defaults = yaml.safe_load((ROLES / "evaluation" / "defaults" / "main.yml").read_text())
    assert defaults["evaluation_most_stolen_share"] == MOST_STOLEN_SHARE
    assert defaults["evaluation_most_spread"] == MOST_SPREAD_RATIO
    assert defaults["evaluation_most_paused_share"] == MOST_PAUSED_SHARE
    assert defaults["evaluation_most_slowdown"] == MOST_SLOWDOWN_RATIO


@pytest.mark.parametrize(
    ("registered", "recorded"),
    [
        ({"stdout": json.dumps(SEEN)}, {"processors": SEEN}),
        ({"stdout": json.dumps(SEEN), "failed": False}, {"processors": SEEN}),
        # The run failed before it was its turn, or by it.
        ({}, {}),
        ({"stdout": "", "failed": True}, {}),
    ],
)
def test_a_run_records_what_was_seen_before_it_and_not_before_another(
    monkeypatch, registered, recorded
):
    monkeypatch.setitem(JINJA.filters, "from_json", json.loads)
    observed = task_of("evaluation", "note_run.yml", "Write when the run was")["vars"]["observed"]
    assert value_of(observed, _evaluation_processors=registered) == recorded
    first = task_of("evaluation", "run.yml", "Note which run this is")["ansible.builtin.set_fact"]
    assert first["_evaluation_processors"] == {}
