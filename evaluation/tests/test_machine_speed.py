"""How fast the machine of a run was, against the fastest: records, the report's warning, limits."""

import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice_evaluation import assemble, cli, machine_speed, plan, records
from sluice_evaluation.analysis import compare, studies
from sluice_evaluation.claims import claim_rows
from sluice_evaluation.inference import Caution
from sluice_evaluation.machine_speed import MOST_SLOWDOWN_RATIO
from sluice_evaluation.probes import fingerprint, processors
from synthetic import FINGERPRINT, write_raw

RATES = {"system_calls": 2e6, "page_faults": 3e5}


def observed(**slowdown):
    """A steady machine, of which each kind of work takes so many times as long as usual."""
    rates = {kind: [rate / slowdown.get(kind, 1.0)] * 20 for kind, rate in RATES.items()}
    summaries = {kind: processors.summary(values) for kind, values in rates.items()}
    steady = {"duration_seconds": 3.0, "stolen_share": 0.0}
    return steady | processors.pauses([], 3.0) | summaries


@given(st.lists(st.floats(1, 1000), min_size=1, max_size=20))
def test_one_is_the_fastest_and_none_is_faster(factors):
    seen = [observed(system_calls=factor, page_faults=1 / factor) for factor in factors]
    best = machine_speed.fastest(seen)
    for kind in processors.KINDS:
        ratios = [machine_speed.slowdowns(one, best)[kind] for one in seen]
        assert min(ratios) == 1.0


def test_of_nothing_nothing_is_known():
    assert machine_speed.fastest([]) == {}
    assert machine_speed.slowdowns(observed(), {}) == {}


@pytest.fixture
def made(experiments, tmp_path):
    """A plan, and a way to record its runs with what was seen of the machine before them."""
    chosen = plan.make_plan(experiments["postgres-checkpoint"], "smoke", [], tmp_path)

    def record(planned, seen, failed=False):
        raw = write_raw(planned, tmp_path / f"raw-{planned['cell']}-{planned['run']}")
        run = json.loads((raw / "run.json").read_text())
        if seen is not None:
            (raw / "run.json").write_text(json.dumps(run | {"processors": seen}))
        if failed:
            return assemble.record_failure(chosen, planned, raw, tmp_path / "results", "x", "y")
        return assemble.record_run(chosen, planned, raw, tmp_path / "results")

    return chosen["runs"], record


@pytest.mark.parametrize("failed", [False, True])
def test_a_record_holds_what_was_seen_before_its_run(made, tmp_path, failed):
    (first, second, *_), record = made
    path = record(first, observed(), failed) / "record.json"
    assert records.load(path).document["processors"] == observed()
    without = record(second, None, failed) / "record.json"
    assert "processors" not in records.load(without).document
    for one in (path, without):
        assert records.faults(one, tmp_path / "results") == []


def test_what_is_not_whole_is_no_record(made):
    (first, *_), record = made
    with pytest.raises(assemble.EvaluationError, match="page_faults"):
        record(first, {k: v for k, v in observed().items() if k != "page_faults"})


@pytest.mark.parametrize("kind", processors.KINDS)
@pytest.mark.parametrize(("factor", "warned"), [(0.98, False), (1.02, True)])
def test_a_run_on_a_slower_machine_is_warned_of_with_all_that_it_is_part_of(
    made, experiments, tmp_path, capsys, kind, factor, warned
):
    runs, record = made
    slow = runs[0]
    folders = {}
    for planned in runs:
        seen = observed(**{kind: factor * MOST_SLOWDOWN_RATIO} if planned is slow else {})
        folders[planned["cell"]] = record(planned, seen).parent
    (study,) = studies(records.load_all(tmp_path / "results"), experiments)
    cell = study.find(slow["factors"])
    other = next(c for c in study.measured if c is not cell)
    assert (Caution.SLOW_MACHINE in cell.cautions) is warned
    assert Caution.SLOW_MACHINE not in other.cautions
    ratio = compare(cell, other, "latency_p99_seconds")
    assert (Caution.SLOW_MACHINE in ratio.warnings) is warned
    told = [row for row in claim_rows(study) if "slow-machine" in row.as_dict()["warnings"]]
    assert bool(told) is warned
    assert cli.main(["compare", str(folders[cell.id]), str(folders[other.id])]) == 0
    assert ("longer than before the quickest of the runs" in capsys.readouterr().out) is warned


def test_runs_of_which_nothing_was_seen_are_not_warned_of(made, experiments, tmp_path):
    runs, record = made
    for planned in runs:
        record(planned, observed() if planned is runs[0] else None)
    (study,) = studies(records.load_all(tmp_path / "results"), experiments)
    assert not any(Caution.SLOW_MACHINE in cell.cautions for cell in study.cells)


def judge(monkeypatch, document, results, *arguments):
    text = document if isinstance(document, str) else json.dumps(document)
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    return cli.main(["processors", "--observed", "--results", str(results), *arguments])


def test_another_machine_is_judged_by_what_is_recorded_of_its_processors(
    made, tmp_path, monkeypatch, capsys
):
    (first, *_), record = made
    record(first, observed())
    results = tmp_path / "results"
    seen = {"environment": FINGERPRINT, "processors": observed(page_faults=1.5)}
    assert judge(monkeypatch, seen, results) == 1
    printed = capsys.readouterr()
    assert json.loads(printed.out) == seen["processors"]
    assert "page faults took 1.50 times the processor time" in printed.err
    assert "on another one" in printed.err and "--results" in printed.err
    assert "system calls" not in printed.err
    assert judge(monkeypatch, seen, results, "--most-slowdown", "1.6") == 0
    assert judge(monkeypatch, seen, tmp_path / "none") == 0
    newer = FINGERPRINT | {"kernel": "1.0"}
    assert judge(monkeypatch, seen | {"environment": newer}, results) == 1
    other = FINGERPRINT | {"cpu": {"model": "Another CPU", "count": 2}}
    assert judge(monkeypatch, seen | {"environment": other}, results) == 0


def test_another_machine_is_judged_by_itself_too(tmp_path, monkeypatch, capsys):
    seen = observed() | {"stolen_share": 0.05} | processors.pauses([0.03], 3.0)
    seen["system_calls"] = processors.summary([1e6] * 10 + [2e6] * 10)
    document = {"environment": FINGERPRINT, "processors": seen}
    assert judge(monkeypatch, document, tmp_path, "--most-paused-share", "0.002") == 1
    message = capsys.readouterr().err
    assert "5.0% of the processors' time" in message
    assert "system calls were 2.00 times as quick" in message
    assert "held up for 1.00% of the time, for as long as 30 ms" in message
    unlimited = ("--most-stolen-share", "1", "--most-spread", "inf")
    assert judge(monkeypatch, document, tmp_path, *unlimited) == 0


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("", "not JSON"),
        ([], "environment of standard input"),
        ({"environment": FINGERPRINT}, "processors of standard input"),
        ({"environment": {}, "processors": observed()}, "environment of standard input"),
    ],
)
def test_what_is_no_observation_is_refused_with_its_form(
    tmp_path, monkeypatch, capsys, document, message
):
    assert judge(monkeypatch, document, tmp_path) == 2
    printed = capsys.readouterr().err
    assert message in printed and "as fingerprint and processors print them" in printed


def test_this_machine_is_compared_with_what_is_recorded_of_it(made, tmp_path, monkeypatch, capsys):
    (first, *_), record = made
    record(first, observed())
    monkeypatch.setattr(fingerprint, "fingerprint", lambda: FINGERPRINT)
    monkeypatch.setattr(processors, "observe", lambda seconds: observed(system_calls=seconds))
    command = ["processors", "--results", str(tmp_path / "results"), "--duration"]
    assert cli.main([*command, "1.2"]) == 0
    assert cli.main([*command, "2"]) == 1
    assert "system calls took 2.00 times" in capsys.readouterr().err
