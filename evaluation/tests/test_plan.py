"""Plans: order, blocks, budget, what is finished, failed and tuned."""

import copy
import dataclasses
import json
import shutil
from pathlib import Path

import pytest
from conftest import run_everything
from sluice_evaluation import assemble, cli, freeze, records
from sluice_evaluation.analysis import Study
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.experiment import MEASURE
from sluice_evaluation.plan import NOTHING_DONE, Stage, find_run, make_plan, planned_run
from sluice_evaluation.progress import State
from synthetic import write_raw


@pytest.fixture
def checkpoint(experiments):
    return experiments["postgres-checkpoint"]


@pytest.fixture
def burst(experiments):
    return experiments["postgres-burst"]


def keys(plan):
    return [(run["cell"], run["run"]) for run in plan["runs"]]


def fail(plan, planned, raw, results):
    raw.mkdir(parents=True)
    times = {"started_at": "2020-01-01T00:00:00Z", "ended_at": "2020-01-01T00:00:09Z"}
    (raw / "run.json").write_text(json.dumps(times))
    return assemble.record_failure(plan, planned, raw, results, "start", "no space left")


def test_each_block_holds_every_cell_once_in_an_order_of_its_own(checkpoint, tmp_path):
    plan = make_plan(checkpoint, "small", [], tmp_path)
    blocks = {}
    for run in plan["runs"]:
        blocks.setdefault(run["block"], []).append(run["cell"])
    assert list(blocks) == [1, 2, 3, 4]
    assert {frozenset(cells) for cells in blocks.values()} == {frozenset(blocks[1])}
    assert len(set(map(tuple, blocks.values()))) == 4
    assert make_plan(checkpoint, "small", [], tmp_path) == plan


def test_small_fits_into_three_hours(experiments, tmp_path):
    for chosen in experiments.values():
        stages = chosen.stage_names("small")
        table = chosen.profile("small")
        seconds = 4 * table["estimate"]["load_seconds"]
        for stage in stages:
            runs = len(chosen.cells("small", stage)) * chosen.runs("small", stage)
            phases = sum(chosen.phases("small", stage).values())
            seconds += runs * (phases + table["estimate"]["overhead_seconds"])
        assert seconds <= 3 * 3600


def test_budget_ends_at_a_block(checkpoint, tmp_path):
    whole = make_plan(checkpoint, "small", [], tmp_path)
    block = whole["runs"][0]["estimated_seconds"] * 36 + 60
    for budget, runs in ((block - 1, 0), (block + 1, 36), (2 * block, 72), (9e9, 144)):
        made = make_plan(checkpoint, "small", [], tmp_path, budget)
        assert len(made["runs"]) == runs
        assert made["next_block_seconds"] == block


def test_finished_runs_are_left_out_and_failed_ones_tried_twice(checkpoint, tmp_path):
    results = tmp_path / "results"
    plan = make_plan(checkpoint, "smoke", [], results)
    first, second = plan["runs"][:2]
    assemble.record_run(plan, first, write_raw(first, tmp_path / "raw-1"), results)
    fail(plan, second, tmp_path / "raw-2", results)
    again = make_plan(checkpoint, "smoke", records.load_all(results), results)
    assert keys(again) == keys(plan)[1:]
    retried = find_run(again, second["cell"], second["run"])
    assert retried["attempt"] == 2
    written = fail(again, retried, tmp_path / "raw-3", results)
    assert written.name == "01-failed-2"
    last = make_plan(checkpoint, "smoke", records.load_all(results), results)
    assert keys(last) == keys(plan)[2:] and last["runs_given_up"] == 1


def test_failed_runs_that_the_experiment_no_longer_has_are_not_given_up(
    checkpoint, tmp_path, monkeypatch
):
    results = tmp_path / "results"
    plan = make_plan(checkpoint, "smoke", [], results)
    first, second = plan["runs"][:2]
    for number in range(2):
        again = make_plan(checkpoint, "smoke", records.load_all(results), results)
        for run in (first, second):
            planned = find_run(again, run["cell"], run["run"])
            fail(again, planned, tmp_path / f"{run['cell']}-{number}", results)
    members = records.load_all(results)
    assert make_plan(checkpoint, "smoke", members, results)["runs_given_up"] == 2
    factor = "max_wal_size_megabytes"
    assert first["factors"][factor] != second["factors"][factor]
    kept = {**checkpoint.profile("smoke")["only"], factor: [second["factors"][factor]]}
    monkeypatch.setitem(checkpoint.profile("smoke"), "only", kept)
    fewer = make_plan(checkpoint, "smoke", members, results)
    assert [(run["cell"], run["given_up"]) for run in fewer["failed"]] == [(second["cell"], True)]


def test_own_runs_replace_the_estimate(checkpoint, smoke_results):
    some = [
        record
        for record in records.load_all(smoke_results)
        if record.plan["experiment"] == "postgres-checkpoint" and record.plan["run"] < 3
    ]
    plan = make_plan(checkpoint, "smoke", some, smoke_results)
    # The synthetic runs last from 12 s before the origin to 5 s behind the clients.
    assert {run["estimated_seconds"] for run in plan["runs"]} == {12 + 9 + 5}
    # Of that 9 s are phases: to settle, to warm up and to be measured.
    assert (plan["overhead_seconds"], plan["overhead_runs_count"]) == (12 + 5, len(some))


@pytest.mark.parametrize(("restored", "beyond_seconds"), [(False, 85 + 60), (True, 85)])
def test_a_run_that_loads_its_data_itself_is_guessed_with_the_load(
    experiments, tmp_path, monkeypatch, restored, beyond_seconds
):
    chosen = experiments["hbase-phases"]
    profile = chosen.profile("smoke")
    monkeypatch.setitem(profile, "data", profile["data"] | {"restore_from_copy": restored})
    plan = make_plan(chosen, "smoke", [], tmp_path)
    phases = sum(chosen.phases("smoke", MEASURE).values())
    assert plan["overhead_seconds"] == beyond_seconds
    assert {run["estimated_seconds"] for run in plan["runs"]} == {phases + beyond_seconds}
    # A copy is loaded once for each variant.
    copies = 60 * len({run["variant"] for run in plan["runs"]}) if restored else 0
    each = phases + beyond_seconds
    assert plan["estimated_seconds"] == pytest.approx(len(plan["runs"]) * each + copies)
    # What the report says of the time that a claim needs.
    assert Study(chosen, "smoke", ()).planned_seconds() == pytest.approx(len(plan["runs"]) * each)


def took(planned, seconds):
    """A complete run that took so long."""
    times = {"started_at": records.utc(0), "ended_at": records.utc(seconds)}
    return records.Record(Path(), {"status": "complete", "plan": planned, **times})


def test_runs_of_a_shorter_stage_do_not_shorten_the_estimate(experiments, tmp_path):
    chosen = experiments["hbase-phases"]
    planned = make_plan(chosen, "small", [], tmp_path)["runs"]
    # They settle for 2 s, warm up for 90 and are measured for 35.
    lengths = [2 + 90 + 35 + beyond for beyond in (30, 31, 500)]
    done = [took(run, seconds) for run, seconds in zip(planned[:3], lengths, strict=True)]
    left = make_plan(chosen, "small", done, tmp_path)
    assert (left["overhead_seconds"], left["overhead_runs_count"]) == (31, 3)
    assert {run["estimated_seconds"] for run in left["runs"]} == {2 + 90 + 35 + 31}
    frozen = {"choices": [{"per": {"device": "throttle"}, "settings": {}}]}
    stage = Stage(chosen, "small", MEASURE, State.of(done, chosen.name, "small"), frozen)
    cell = chosen.cells("small", MEASURE)[0]
    assert planned_run(stage, cell, 1, 1)["estimated_seconds"] == 2 + 130 + 35 + 31


def test_a_run_cools_down_after_it_has_ended(checkpoint, tmp_path):
    planned = make_plan(checkpoint, "paper", [], tmp_path)["runs"][:3]
    done = [took(run, 10 + 120 + 1020 + 40) for run in planned]
    left = make_plan(checkpoint, "paper", done, tmp_path)
    assert {run["estimated_seconds"] for run in left["runs"]} == {10 + 120 + 1020 + 120 + 40}


def test_the_plan_says_what_its_estimate_is_by(smoke_results, experiments_folder, tmp_path, capsys):
    plan = ["plan", "postgres-checkpoint", "--experiments", str(experiments_folder)]
    assert cli.main([*plan, "--profile", "small", "--results", str(tmp_path)]) == 0
    assert "each takes 22 s beyond its phases, by the experiment's file" in capsys.readouterr().out
    some = tmp_path / "postgres-checkpoint"
    shutil.copytree(smoke_results / "postgres-checkpoint", some)
    shutil.rmtree(next(some.glob("smoke/*/04")))
    assert cli.main([*plan, "--profile", "smoke", "--results", str(tmp_path)]) == 0
    assert "17 s beyond its phases, by the median of 7 runs" in capsys.readouterr().out


def test_nothing_is_left_when_all_is_done(burst, smoke_results):
    plan = make_plan(burst, "smoke", records.load_all(smoke_results), smoke_results)
    assert plan["runs"] == [] and not plan["freeze_needed"]


def test_bursts_become_a_schedule_and_orders(burst, tmp_path):
    plan = make_plan(burst, "smoke", [], tmp_path)
    run = next(run for run in plan["runs"] if run["factors"]["arm"] == "sluice")
    warm_up = run["phases"][0]["end_seconds"]
    assert [w["start_seconds"] - warm_up for w in run["windows"]] == [2.0, 7.0]
    (client,) = run["clients"]
    assert client["schedule"] == "4s:300,2s:900,3s:300,2s:900,1s:300"
    lengths = [float(phase.split("s:")[0]) for phase in client["schedule"].split(",")]
    # One cycle covers the client's whole time: it would start anew otherwise.
    assert sum(lengths) == client["duration_seconds"] == run["duration_seconds"]
    times = [order["at_seconds"] for order in run["orders"]]
    assert times == sorted(times) and times[0] == 0.0
    holds = [o["at_seconds"] for o in run["orders"] if "'hold'" in o["statement"]]
    assert holds == [w["start_seconds"] - 1 for w in run["windows"]]
    assert all("{" not in order["statement"] for order in run["orders"])


def test_a_load_may_warm_up_at_a_rate_of_its_own(burst, tmp_path):
    burst = dataclasses.replace(burst, document=copy.deepcopy(burst.document))
    load = burst.document["profiles"]["smoke"]["load"]
    load["warm_up"] = {"duration_seconds": 1.5, "target_operations_per_second": 700}
    plan = make_plan(burst, "smoke", [], tmp_path)
    run = next(run for run in plan["runs"] if run["factors"]["arm"] == "sluice")
    assert run["clients"][0]["schedule"] == "1.5s:700,2.5s:300,2s:900,3s:300,2s:900,1s:300"


def test_without_target_rates_there_is_no_schedule(checkpoint, tmp_path):
    runs = make_plan(checkpoint, "smoke", [], tmp_path)["runs"]
    assert {run["clients"][0]["schedule"] for run in runs} == {None}


ONE_TUNED_FACTOR = {
    "checkpoint_flush_after": ["0", "8kB", "256kB"],
    "wal_init_zero": ["off"],
    "checkpoint_completion_target": [0.9],
    "device": ["throttle"],
}


def test_tuning_comes_first_and_is_frozen_once(burst, tmp_path, monkeypatch):
    # Three cells for the grid and short runs keep this quick; the stages are the real ones.
    profile = burst.profile("small")
    monkeypatch.setitem(profile, "only", ONE_TUNED_FACTOR)
    monkeypatch.setitem(profile, "phases", profile["phases"] | {"normal_seconds": 30,
                                                                "warm_up_seconds": 1})  # fmt: skip
    results = tmp_path / "results"
    plan = make_plan(burst, "small", [], results)
    assert plan["stage"] == "tune" and len(plan["runs"]) == 3 and not plan["freeze_needed"]
    with pytest.raises(EvaluationError, match="tuning is not finished"):
        freeze.choose(burst, "small", [])
    run_everything(burst, "small", results, tmp_path / "raw")
    frozen = freeze.load(results, "postgres-burst", "small")
    assert [choice["per"] for choice in frozen["choices"]] == [{"device": "throttle"}]
    ranking = [entry["value"] for entry in frozen["choices"][0]["ranking"]]
    assert ranking == sorted(ranking) and len(ranking) == 3
    tuned = records.load(results / "postgres-burst/small/stocktuned_throttle/01/record.json")
    assert tuned.plan["settings"].items() >= frozen["choices"][0]["settings"].items()
    assert tuned.plan["windows"][0]["start_seconds"] == 1 + 10
    tuning = records.load(next((results / "postgres-burst/small").glob("ct*/01/record.json")))
    assert tuning.plan["windows"] == [] or tuning.plan["windows"][0]["start_seconds"] == 1 + 10 + 9
    with pytest.raises(EvaluationError, match="settings are frozen once; plan again"):
        freeze.write(results, frozen)


def test_settings_that_a_full_disk_broke_off_can_be_frozen_again(tmp_path, monkeypatch):
    frozen = {"experiment": "postgres-burst", "profile": "small", "choices": []}
    write = Path.write_text

    def disk_is_full(file, text):
        write(file, text[:5])
        raise OSError("No space left on device")

    with monkeypatch.context() as full:
        full.setattr(Path, "write_text", disk_is_full)
        with pytest.raises(OSError, match="No space"):
            freeze.write(tmp_path, frozen)
    assert freeze.load(tmp_path, "postgres-burst", "small") is None
    path = freeze.write(tmp_path, frozen)
    assert freeze.load(tmp_path, "postgres-burst", "small") == frozen
    assert list(path.parent.iterdir()) == [path]


def test_tuning_is_not_frozen_without_a_run_that_was_given_up(burst, tmp_path, monkeypatch):
    profile = burst.profile("small")
    monkeypatch.setitem(profile, "only", ONE_TUNED_FACTOR)
    monkeypatch.setitem(profile, "phases", profile["phases"] | {"normal_seconds": 5,
                                                                "warm_up_seconds": 1})  # fmt: skip
    results = tmp_path / "results"

    def replan(maximum_attempts=2):
        found = records.load_all(results)
        return make_plan(burst, "small", found, results, maximum_attempts=maximum_attempts)

    plan = replan()
    for number, planned in enumerate(plan["runs"]):
        raw = tmp_path / f"raw-{number}"
        if number == 0:
            fail(plan, planned, raw, results)
        else:
            assemble.record_run(plan, planned, write_raw(planned, raw), results)
    (again,) = replan()["runs"]
    assert [run["given_up"] for run in replan()["failed"]] == [False]
    fail(replan(), again, tmp_path / "again", results)
    plan = replan()
    assert plan["stage"] == "tune" and plan["runs"] == [] and not plan["freeze_needed"]
    (failed,) = plan["failed"]
    assert failed == {
        "cell": again["cell"],
        "run": 1,
        "attempts": 2,
        "given_up": True,
        "record_directory": f"postgres-burst/small/{again['cell']}/01-failed-2",
    }
    members = records.load_all(results)
    with pytest.raises(EvaluationError, match=r"01-failed-2; .*remove these folders"):
        freeze.choose(burst, "small", members)
    frozen = freeze.choose(burst, "small", members, without_failed=True)
    assert len(frozen["choices"][0]["ranking"]) == 2
    freeze.write(results, frozen)
    # It was left out on purpose: nothing is given up, and it is not run for nothing.
    for attempts in (2, 3):
        plan = replan(attempts)
        assert plan["stage"] == "measure" and plan["runs"] and plan["runs_given_up"] == 0


def test_a_run_that_the_plan_lacks_is_an_error(checkpoint, tmp_path):
    with pytest.raises(EvaluationError, match="no run 9"):
        find_run(make_plan(checkpoint, "smoke", [], tmp_path), "wal128_ct0.5_a_t10_throttle", 9)


@pytest.fixture
def measured(experiments):
    """The runs of postgres-slo by arm and load."""
    chosen = experiments["postgres-slo"]
    stage = Stage(
        chosen,
        "small",
        MEASURE,
        NOTHING_DONE,
        {"choices": [{"per": {"device": "throttle"}, "settings": {}}]},
    )
    cells = chosen.cells("small", MEASURE)
    return {(c.factors["arm"], c.factors["load"]): planned_run(stage, c, 1, 1) for c in cells}


def test_policies_have_the_figures_of_the_device(measured):
    (policy,) = measured["opportunistic", "bursts"]["policies"]
    assert policy["parameters"]["ceiling_bytes_per_second"] == 5200000
    assert policy["parameters"]["device"] == "{measured_device}"
    assert "policies" not in measured["stock, tuned", "bursts"]


def test_policies_have_the_target_of_the_workload(experiments):
    chosen = experiments["hbase-compaction"]
    stage = Stage(chosen, "small", MEASURE, NOTHING_DONE, {"choices": []})
    targets = {
        cell.workload: planned_run(stage, cell, 1, 1)["policies"][0]["parameters"]["target_seconds"]
        for cell in chosen.cells("small", MEASURE)
        if cell.factors["arm"] == "slo"
    }
    assert targets == {"a-single-field": 0.065, "e-single-field": 0.21}


def test_an_even_load_has_no_bursts(measured):
    run = measured["slo", "even"]
    assert run["windows"] == []
    assert run["clients"][0]["schedule"] == "141s:460"
    assert measured["slo", "bursts"]["windows"]


def test_faults_are_planned_within_the_normal_phase(measured):
    (fault,) = measured["slo, controller killed", "bursts"]["faults"]
    assert fault == {"name": "kill-controller-1", "what": "kill-controller", "at_seconds": 75.0}
