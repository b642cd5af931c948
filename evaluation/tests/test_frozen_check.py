"""Frozen settings are checked against the records of the tuning that they are the best of."""

import json
import shutil

import pytest
from conftest import EXPERIMENTS
from sluice_evaluation import assemble, cli, freeze, frozen_check, records
from sluice_evaluation.plan import make_plan
from synthetic import write_raw
from test_plan import ONE_TUNED_FACTOR, fail

PLACE = "postgres-burst/small"


@pytest.fixture(scope="module")
def tuned(experiments, tmp_path_factory):
    """Results of a tuning of three cells, frozen; not to be changed."""
    burst = experiments["postgres-burst"]
    results, scratch = tmp_path_factory.mktemp("results"), tmp_path_factory.mktemp("raw")
    with pytest.MonkeyPatch.context() as patch:
        profile = burst.profile("small")
        quick = profile["phases"] | {"normal_seconds": 5, "warm_up_seconds": 1}
        patch.setitem(profile, "phases", quick)
        patch.setitem(profile, "only", ONE_TUNED_FACTOR)
        plan = make_plan(burst, "small", [], results)
        for planned in plan["runs"]:
            raw = write_raw(planned, scratch / planned["cell"])
            assemble.record_run(plan, planned, raw, results)
        freeze.write(results, freeze.choose(burst, "small", records.load_all(results)))
    return results


@pytest.fixture
def results(tuned, tmp_path):
    return shutil.copytree(tuned, tmp_path / "results")


def found(results):
    return frozen_check.faults(results / PLACE / "frozen.json", results)


def edit(results, change):
    path = results / PLACE / "frozen.json"
    frozen = json.loads(path.read_text())
    change(frozen, frozen["choices"][0])
    path.write_text(json.dumps(frozen))


def test_what_was_frozen_is_what_the_records_give(results, capsys):
    assert list(frozen_check.find(results)) == [results / PLACE / "frozen.json"]
    assert found(results) == []
    assert cli.main(["check", str(results)]) == 0
    # Three records, and what was frozen from them.
    assert capsys.readouterr().out == "4 passed, 0 failed\n"


def choose_second(_, choice):
    choice["cell"] = choice["ranking"][1]["cell"]


def rank_second_first(_, choice):
    choice["ranking"].insert(0, choice["ranking"].pop(1))
    choice["cell"] = choice["ranking"][0]["cell"]


def forget_the_best(_, choice):
    del choice["ranking"][0]
    choice["cell"] = choice["ranking"][0]["cell"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (choose_second, "is chosen, and not the first of its ranking"),
        (rank_second_first, "the ranking for {'device': 'throttle'} is not what the records"),
        (forget_the_best, "the ranking for {'device': 'throttle'} is not what the records"),
        (lambda _, choice: choice["ranking"][0].update(value=0.5), "is not what the records"),
        (lambda _, choice: choice["settings"].update(wal_init_zero="on"), "are not those of its"),
        (lambda _, choice: choice["settings"].update(shared_buffers="1GB"), "are not those of its"),
        (lambda _, choice: choice.update(ranked_by="largest_ratio"), "is not what the records"),
        (lambda frozen, _: frozen.update(best="highest"), "is not what the records"),
        (lambda frozen, _: frozen.update(profile="smoke"), "is of postgres-burst/smoke"),
        (lambda frozen, _: frozen.update(choices=[]), "choices"),
    ],
)
def test_what_the_records_do_not_give_is_found(results, change, message, capsys):
    edit(results, change)
    assert any(message in text for text in found(results)), found(results)
    assert cli.main(["check", str(results)]) == 1
    assert capsys.readouterr().out == "3 passed, 1 failed\n"


def test_what_was_cut_off_cannot_be_read(results):
    (results / PLACE / "frozen.json").write_text('{"schema_version"')
    assert any("cannot be read" in text for text in found(results))


def test_a_record_of_the_tuning_that_is_gone_is_missed(results):
    frozen = freeze.load(results, "postgres-burst", "small")
    shutil.rmtree(results / PLACE / frozen["choices"][0]["cell"])
    assert any("bring back what it was frozen from" in text for text in found(results))


def test_a_wrong_record_beside_it_is_told(results):
    path = next((results / PLACE).glob("*/01/record.json"))
    path.write_text("{")
    assert any(f"a record beside it is wrong: {path}" in text for text in found(results))


def test_a_cell_that_was_left_out_is_not_missed(experiments, tmp_path, monkeypatch):
    burst, results = experiments["postgres-burst"], tmp_path / "results"
    profile = burst.profile("small")
    quick = profile["phases"] | {"normal_seconds": 5, "warm_up_seconds": 1}
    monkeypatch.setitem(profile, "phases", quick)
    monkeypatch.setitem(profile, "only", ONE_TUNED_FACTOR)
    plan = make_plan(burst, "small", [], results)
    first, *others = plan["runs"]
    fail(plan, first, tmp_path / "failed", results)
    for planned in others:
        raw = write_raw(planned, tmp_path / planned["cell"])
        assemble.record_run(plan, planned, raw, results)
    frozen = freeze.choose(burst, "small", records.load_all(results), without_failed=True)
    assert frozen["choices"][0]["left_out"]
    freeze.write(results, frozen)
    assert found(results) == []


def test_committed_settings_are_what_their_records_give():
    results = EXPERIMENTS.parents[1] / "results"
    committed = list(frozen_check.find(results))
    assert committed
    assert [text for path in committed for text in frozen_check.faults(path, results)] == []
