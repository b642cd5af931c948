"""Runs with service levels: what is planned, which actions are told, what stands beside them."""

import copy
import dataclasses
import json

import pytest
from sluice_evaluation import assemble, level_actions, records
from sluice_evaluation.analysis import studies
from sluice_evaluation.claims import claim_rows
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.experiment import load
from sluice_evaluation.figures import drawing, responses
from sluice_evaluation.plan import make_plan
from synthetic import EPOCH, OPERATIONS_PER_INTERVAL, hash_of, write_raw

NAME = "service-level-zipfian"
ARM = "level_hdd"


@pytest.fixture
def chosen(experiments):
    """The experiment with enough short runs for an interval."""
    document = copy.deepcopy(experiments[NAME].document)
    document["profiles"]["short"] |= {"runs": 4, "too_short": False}
    return dataclasses.replace(experiments[NAME], document=document)


def decision(planned, seconds, verdict="CHANGE", number=None, **further):
    """A line of decisions.jsonl, as `sluice watch decisions -o json` writes it."""
    made_at = records.utc(EPOCH + hash_of(planned) % 10_000_000 + seconds)
    setting = {} if number is None else {"setting": {"name": "reserved_bytes", "number": number}}
    told = {
        "policy": "levels", "made_at": made_at, "verdict": f"VERDICT_{verdict}",
        "scope": "usertable/f", "reason": "synthetic", **setting, **further,
    }  # fmt: skip
    return json.dumps({"decision": told}) + "\n"


def growing(planned):
    """Two steps, the second from two nodes, and a node asked for while the cache is kept."""
    begin = planned["phases"][-1]["start_seconds"]
    return [
        decision(planned, begin + 5, number=5e6),
        decision(planned, begin + 15, number=10e6),
        decision(planned, begin + 15.2, number=10e6),
        decision(planned, begin + 20, "KEEP", number=10e6, action="add-node"),
        decision(planned, planned["duration_seconds"], "KEEP", number=10e6),
    ]


def record(made, planned, tmp_path, lines):
    raw = write_raw(planned, tmp_path / f"raw-{planned['cell']}-{planned['run']}")
    if lines:
        (raw / "decisions.jsonl").write_text("".join(lines))
    return records.load(
        assemble.record_run(made, planned, raw, tmp_path / "results") / "record.json"
    )


@pytest.fixture
def recorded(chosen, tmp_path):
    """Records of all arms, of which the one with a service level has actions."""
    made = make_plan(chosen, "short", [], tmp_path / "results")
    return [
        record(made, run, tmp_path, growing(run) if run["cell"] == ARM else [])
        for run in made["runs"]
    ]


def test_levels_and_leases_are_planned_with_the_figures_of_the_profile(experiments, tmp_path):
    plans = {p: make_plan(experiments[NAME], p, [], tmp_path) for p in ("short", "small")}
    levels = {
        profile: next(r for r in plan["runs"] if r["cell"] == ARM)["service_levels"][0]
        for profile, plan in plans.items()
    }
    assert [levels[p]["profile"]["data_bytes"] for p in levels] == [100000000, 400000000]
    others = [r for r in plans["short"]["runs"] if r["cell"] != ARM]
    assert all(not {"service_levels", "leases", "policies"} & r.keys() for r in others)


@pytest.mark.parametrize("key", ["service_levels", "leases"])
def test_what_a_controller_is_to_be_told_needs_one(experiments, tmp_path, key):
    document = copy.deepcopy(experiments[NAME].document)
    levels = document["stages"][0]["factors"][0]["levels"]
    levels[0][key] = levels[2][key]
    path = tmp_path / f"{NAME}.yml"
    path.write_text(json.dumps(document))
    with pytest.raises(EvaluationError, match="need policies"):
        load(str(path))


def test_actions_are_counted_once_and_told_with_their_scope(recorded):
    found = next(r for r in recorded if r.plan["cell"] == ARM)
    counted = {name: found.document["metrics"][name] for name in (
        "actions_count", "cache_steps_count", "nodes_asked_for_count", "undone_actions_count",
    )}  # fmt: skip
    assert list(counted.values()) == [3, 2, 1, 0]
    told = [e["attributes"] for e in found.document["events"] if e["kind"] == "decision"]
    assert {a["scope"] for a in told} == {"usertable/f"}
    assert [a["action"] for a in told if "action" in a] == ["add-node"]
    others = [r for r in recorded if r.plan["cell"] != ARM]
    assert all("actions_count" not in r.document["metrics"] for r in others)


@pytest.mark.parametrize(("seconds", "undone"), [(79, 1), (81, 0)])
def test_a_step_that_is_taken_back_within_ten_decisions_was_undone(
    chosen, tmp_path, seconds, undone
):
    made = make_plan(chosen, "short", [], tmp_path)
    planned = next(r for r in made["runs"] if r["cell"] == ARM)
    events = [
        {"kind": "decision", "name": "levels", "start_seconds": at,
         "attributes": {"setting": "reserved_bytes", "number": number, "scope": "usertable/f"}}
        for at, number in ((20, 5e6), (30, 10e6), (seconds, 5e6))
    ]  # fmt: skip
    found = level_actions.metrics(events, planned)
    assert (found["actions_count"], found["undone_actions_count"]) == (3, undone)


def test_a_claim_may_be_about_a_figure_that_is_no_measurement(recorded, chosen):
    (study,) = studies(recorded, {NAME: chosen})
    rows = {row.id: row for row in claim_rows(study)}
    assert (rows["undone"].status, rows["undone"].estimate.ratio) == ("met", 0)
    # Synthetic requests take about a millisecond.
    assert rows["kept"].status == "met" and 0 < rows["kept"].estimate.upper < 0.2


def test_the_figure_has_every_arm_and_the_actions_of_one(recorded, chosen):
    (study,) = studies(recorded, {NAME: chosen})
    drawn = {d.id: d for d in drawing.draw_all(study)}
    figure = drawn[f"{NAME}-short-response"]
    assert "service level: 3 actions" in figure.description
    assert "all of the cache: 0 actions" in figure.description
    marked = responses.marks_of(next(r for r in recorded if r.plan["cell"] == ARM))
    # Seconds of the normal phase.
    assert [(round(m.seconds), m.name, m.bytes) for m in marked] == [
        (5, "grow-cache", 5e6), (15, "grow-cache", 10e6), (20, "add-node", None),
    ]  # fmt: skip


@pytest.fixture
def two(experiments, tmp_path):
    """The plan of two applications, and a record of the arm in which the other one is not held."""
    made = make_plan(experiments["service-level-two"], "short", [], tmp_path / "results")
    planned = next(run for run in made["runs"] if run["cell"] == "stock_hdd")
    return made, planned, record(made, planned, tmp_path, [])


def test_the_neighbour_has_a_load_of_its_own_and_comes_with_its_arms_alone(two):
    made, planned, _ = two
    steady, neighbour = planned["clients"]
    assert neighbour["properties"] == {"table": "noisy", "requestdistribution": "uniform"}
    assert (steady["threads"], neighbour["threads"]) == (24, 16)
    assert neighbour["schedule"] == "20s:150,66s:300"
    alone = next(run for run in made["runs"] if run["cell"] == "alone_hdd")
    assert alone["clients"] == [steady]


def test_the_neighbour_is_in_no_latency_and_its_throughput_is_told(two):
    _, planned, made = two
    normal = planned["phases"][-1]["end_seconds"] - planned["phases"][-1]["start_seconds"]
    assert made.document["results"]["measured"]["operations"] == OPERATIONS_PER_INTERVAL * normal
    assert {entry["client"] for entry in made.document["summaries"]} == {"steady"}
    told = made.document["metrics"]["neighbour_operations_per_second"]
    assert told == pytest.approx(OPERATIONS_PER_INTERVAL)
    assert records.faults(made.directory / "record.json", made.directory.parents[3]) == []


def test_a_level_with_a_neighbour_needs_a_load_for_it(experiments, tmp_path):
    document = copy.deepcopy(experiments["service-level-two"].document)
    del document["profiles"]["short"]["load"]["neighbour"]
    path = tmp_path / "service-level-two.yml"
    path.write_text(json.dumps(document))
    with pytest.raises(EvaluationError, match="a load has no entry neighbour"):
        load(str(path))
