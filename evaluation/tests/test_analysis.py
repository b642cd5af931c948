"""Cells, ratios and claims over synthetic records whose differences are known."""

import copy
import dataclasses
import json
from collections import Counter

import pytest
from sluice_evaluation import cli, records
from sluice_evaluation.analysis import (
    CellRuns,
    compare,
    compare_to_value,
    ratio_text,
    significant,
    studies,
)
from sluice_evaluation.claims import claim_rows
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.inference import Caution, RatioEstimate, Shape, Verdict
from synthetic import write_raw


@pytest.fixture(scope="module")
def loaded(smoke_results):
    return records.load_all(smoke_results)


@pytest.fixture
def by_name(loaded, experiments):
    return {study.experiment.name: study for study in studies(loaded, experiments)}


def test_the_cell_that_is_slower_by_construction_is_shown_so(by_name):
    study = by_name["postgres-burst"]
    sluice = study.find({"arm": "sluice"})
    assert study.ratio(sluice, "latency_p99_seconds").verdict is Verdict.LOWER
    throughput = study.ratio(sluice, "throughput_operations_per_second")
    assert throughput.verdict is Verdict.NOTHING_SHOWN
    assert study.ratio(study.find({"arm": "stock 0.1"}), "latency_p99_seconds") is None


def test_pairs_are_by_block(by_name):
    study = by_name["postgres-burst"]
    sluice, stock = study.find({"arm": "sluice"}), study.find({"arm": "stock 0.1"})
    assert compare(sluice, stock, "latency_p99_seconds").paired
    fewer = dataclasses.replace(sluice, complete=sluice.complete[:3])
    estimate = compare(fewer, stock, "latency_p99_seconds")
    assert not estimate.paired and estimate.verdict is Verdict.NOTHING_SHOWN
    assert {Caution.UNPAIRED, Caution.FEW_RUNS} <= set(estimate.warnings)
    assert compare(dataclasses.replace(sluice, complete=()), stock, "latency_p99_seconds") is None


def altered(record, change):
    document = json.loads(json.dumps(record.document))
    change(document)
    return dataclasses.replace(record, document=document)


@pytest.mark.parametrize(
    ("change", "caution"),
    [
        (lambda d: d["software"]["labels"].update(x="y"), Caution.MIXED_SOFTWARE),
        (lambda d: d["software"]["versions"].update(ycsb="0.18.0"), Caution.MIXED_SOFTWARE),
        (lambda d: d["results"].update(error_count=2), Caution.ERRORS),
        (lambda d: d["results"].update(unissued_count=500), Caution.OVERLOADED),
        (lambda d: d["environment"].update(kernel="other"), Caution.MIXED_ENVIRONMENT),
    ],
)
def test_warnings_of_records_travel_with_the_ratio(by_name, change, caution):
    study = by_name["postgres-burst"]
    sluice, stock = study.find({"arm": "sluice"}), study.find({"arm": "stock 0.1"})
    odd = dataclasses.replace(
        sluice, complete=(altered(sluice.complete[0], change), *sluice.complete[1:])
    )
    assert caution not in compare(sluice, stock, "latency_p99_seconds").warnings
    assert caution in compare(odd, stock, "latency_p99_seconds").warnings
    # A cell that is compared with a target, and the baseline itself, have no other side.
    assert caution not in compare_to_value(sluice, "latency_p99_seconds", 0.03).warnings
    assert caution in compare_to_value(odd, "latency_p99_seconds", 0.03).warnings


def changed(cell, change):
    """The cell with all its runs altered alike."""
    return dataclasses.replace(cell, complete=tuple(altered(r, change) for r in cell.complete))


def label(name, value):
    return lambda document: document["software"]["labels"].update({name: value})


def version(name, value):
    return lambda document: document["software"]["versions"].update({name: value})


@pytest.mark.parametrize("change", [version("ycsb", "0.18.0"), label("x", "y")])
def test_two_cells_of_one_variant_with_other_software_are_told(by_name, change):
    small, large = by_name["postgres-checkpoint"].measured[:2]
    other = changed(small, change)
    # Each is of one kind, and only both together are not.
    assert Caution.MIXED_SOFTWARE not in other.cautions
    assert Caution.MIXED_SOFTWARE not in compare(small, large, "latency_p99_seconds").warnings
    assert Caution.MIXED_SOFTWARE in compare(other, large, "latency_p99_seconds").warnings


@pytest.mark.parametrize(
    ("change", "mixed"),
    [
        (label("dev.sluice.plugin.sha256", "3" * 64), False),
        (version("sluice-agent", "1.0"), False),
        (version("ycsb", "0.18.0"), True),
    ],
)
def test_what_variants_differ_in_is_no_warning(by_name, change, mixed):
    study = by_name["postgres-burst"]
    sluice, stock = study.find({"arm": "sluice"}), study.find({"arm": "stock 0.1"})
    estimate = compare(changed(sluice, change), stock, "latency_p99_seconds")
    assert (Caution.MIXED_SOFTWARE in estimate.warnings) is mixed


@pytest.mark.parametrize(("late_seconds", "warned"), [(0.0, False), (0.09, False), (0.2, True)])
def test_what_the_warm_up_left_undone_is_told(loaded, tmp_path, late_seconds, warned):
    (normal,) = (p for p in loaded[0].document["phases"] if p["name"] == "normal")
    begin = normal["start_seconds"]
    rows = [
        # Late before, and done by then; and late in the normal phase, which is what is measured.
        (begin - 2, 5.0, 0.001),
        (begin - 0.5, 0.001 + late_seconds, 0.001),
        (begin + 0.5, 5.0, 0.001),
    ]
    lines = ["client,operation,kind,start_seconds,end_seconds,operations,mean_seconds"]
    for end, intended, measured in rows:
        for kind, mean in (("intended", intended), ("measured", measured)):
            lines.append(f"steady,READ,{kind},{end - 1},{end},10,{mean}")
        lines.append(f"steady,UPDATE,measured,{end - 1},{end},0,0")
    (tmp_path / "intervals.csv").write_text("\n".join(lines) + "\n")
    record = dataclasses.replace(loaded[0], directory=tmp_path)
    assert record.late_seconds == pytest.approx(late_seconds)
    cell = CellRuns("cell", {}, "intended", complete=(record,), failed=())
    assert (Caution.LATE in cell.cautions) is warned


def test_runs_without_the_figure_are_told_and_nothing_is_claimed(by_name):
    study, metric = by_name["postgres-burst"], "compaction_seconds"

    def with_figure(cell, base, runs):
        change = [
            altered(r, lambda d, n=n: d["metrics"].update({metric: base + n / 100}))
            for n, r in enumerate(cell.complete[:runs])
        ]
        return dataclasses.replace(cell, complete=(*change, *cell.complete[runs:]))

    sluice, stock = study.find({"arm": "sluice"}), study.find({"arm": "stock 0.1"})
    # Five runs: four of them would be enough if there were no other.
    extra = altered(sluice.complete[0], lambda d: d["plan"].update(block=5, run=5))
    more = dataclasses.replace(sluice, complete=(*sluice.complete, extra))
    whole = compare(with_figure(more, 1, 5), with_figure(stock, 2, 4), metric)
    assert whole.verdict is Verdict.LOWER and Caution.INCOMPLETE not in whole.warnings
    for sides in ((with_figure(more, 1, 4), with_figure(stock, 2, 4)),
                  (with_figure(stock, 1, 4), with_figure(more, 2, 4))):  # fmt: skip
        partly = compare(*sides, metric)
        assert Caution.INCOMPLETE in partly.warnings
        assert partly.verdict is Verdict.NOTHING_SHOWN and not partly.claimable
    # A figure that no run of a cell has is not there at all, and says nothing of other figures.
    assert compare(with_figure(more, 1, 4), stock, metric) is None
    other = compare(with_figure(more, 1, 4), stock, "latency_p99_seconds")
    assert Caution.INCOMPLETE not in other.warnings


def test_failed_runs_are_told(by_name):
    study = by_name["postgres-burst"]
    cell = study.find({"arm": "sluice"})
    assert Caution.FAILED_RUNS in dataclasses.replace(cell, failed=cell.complete[:1]).cautions


def test_largest_ratio_is_widened_for_having_been_picked(by_name):
    study = by_name["postgres-checkpoint"]
    mean, p99 = claim_rows(study)
    assert p99.scope["max_wal_size_megabytes"] == 128
    assert Caution.SIMULTANEOUS in mean.estimate.warnings
    # One candidate in this profile: nothing to widen for.
    assert p99.estimate.confidence == pytest.approx(0.95)
    assert p99.published["largest_ratio"] == 1.619


def test_claims_about_cells_of_other_profiles_are_left_out(by_name):
    """The short profile has no tuned settings, which all claims of the burst compare with."""
    study = by_name["postgres-burst"]
    assert claim_rows(study) == []
    rows = claim_rows(dataclasses.replace(study, profile="small", cells=()))
    assert {row.status for row in rows} == {"absent"}
    assert rows[0].as_dict()["measured"] is None


@pytest.mark.parametrize(("complete", "status"), [(True, "~"), (False, "absent")])
def test_a_figure_that_no_run_of_a_cell_has_is_no_lack_of_runs(by_name, complete, status):
    """As where no compaction of an arm has ended, which is the worst that there can be."""
    study = by_name["postgres-burst"]
    chosen = copy.deepcopy(study.experiment.document)
    chosen["claims"] = [
        {
            "id": "quick", "statement": "it ends sooner", "kind": "ratio",
            "metric": "compaction_seconds", "numerator": {"arm": "sluice"},
            "denominator": {"arm": "stock 0.1"}, "expected": {"max": 1.0},
        }
    ]  # fmt: skip
    cells = [c if complete else dataclasses.replace(c, complete=()) for c in study.cells]
    experiment = dataclasses.replace(study.experiment, document=chosen)
    study = dataclasses.replace(study, experiment=experiment, cells=tuple(cells))
    (row,) = (dataclasses.replace(row, too_short=False) for row in claim_rows(study))
    assert (row.status, row.measured_text) == (status, "not measured")
    assert row.as_dict()["warnings"] == (["lacking"] if complete else [])
    assert any("none of the complete runs" in text for text in row.cautions) is complete


def estimate(ratio, lower, upper, shape=Shape.BOUNDED, runs=4):
    return RatioEstimate(ratio, lower, upper, shape, runs, runs, True, 0.95)


@pytest.mark.parametrize(
    ("made", "expected", "status"),
    [
        (estimate(0.2, 0.1, 0.3), {"max": 0.3333}, "met"),
        (estimate(0.3, 0.2, 0.4), {"max": 0.3333}, "~"),
        (estimate(0.5, 0.4, 0.6), {"max": 0.3333}, "missed"),
        (estimate(1.5, 1.3, 1.7), {"min": 1.05}, "met"),
        (estimate(1.0, 0.9, 1.04), {"min": 1.05}, "missed"),
        (estimate(1.5, 1.3, 1.7), {"min": 1.0, "max": 1.6}, "~"),
        (estimate(0.2, 0.1, 0.3, runs=3), {"max": 0.3333}, "~"),
        (estimate(0.2, -9.0, 9.0, Shape.UNBOUNDED), {"max": 0.3333}, "~"),
        (estimate(5.0, -9.0, 3.0, Shape.EXCLUSIVE), {"min": 1.0}, "~"),
        (None, {"min": 1.0}, "absent"),
    ],
)
def test_status_of_a_claim(by_name, made, expected, status):
    row = claim_rows(by_name["postgres-checkpoint"])[1]
    row = dataclasses.replace(row, estimate=made, expected=expected, too_short=False)
    assert row.status == status


def test_runs_that_are_too_short_judge_nothing(by_name):
    row = claim_rows(by_name["postgres-checkpoint"])[1]
    assert row.too_short and row.status == "~"
    assert dataclasses.replace(row, too_short=False).status == "met"
    assert "too short" in row.cautions[0]


def test_unbounded_intervals_are_said_in_words():
    assert "unbounded" in ratio_text(estimate(2.0, -9.0, 9.0, Shape.UNBOUNDED))
    assert ratio_text(estimate(5.0, -9.0, 3.0, Shape.EXCLUSIVE)).endswith("at least 3.00)")
    assert "at most 0.500 or" in ratio_text(estimate(5.0, 0.5, 3.0, Shape.EXCLUSIVE))
    assert ratio_text(None) == "not measured"


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1.00"), (0.19349, "0.193"), (12.345, "12.3"), (123.4, "123"), (12345.6, "12,346"),
     (0.0, "0"), (1.2e-5, "1.2e-05"), (9.999, "10.00")],
)  # fmt: skip
def test_three_digits(value, text):
    assert significant(value) == text


def test_records_of_an_unknown_experiment_are_an_error(loaded):
    with pytest.raises(EvaluationError, match="no such experiment"):
        studies(loaded, {})


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document["plan"]["settings"].update(wal_level="minimal"),
        lambda document: document["plan"].update(cell="no_such_cell"),
        lambda document: document["plan"].update(agents={"what": "is no longer in the file"}),
    ],
)
def test_records_that_were_planned_otherwise_are_counted(loaded, experiments, change):
    recorded = Counter(record.plan["experiment"] for record in loaded)
    found = studies([altered(record, change) for record in loaded], experiments)
    assert {study.experiment.name: study.outdated for study in found} == recorded


def test_runs_that_were_planned_otherwise_are_told_with_ratios_and_claims(loaded, experiments):
    chosen = {"postgres-checkpoint": experiments["postgres-checkpoint"]}
    members = [r for r in loaded if r.plan["experiment"] == "postgres-checkpoint"]
    (study,) = studies(members, chosen)
    assert not any(Caution.OUTDATED in cell.cautions for cell in study.cells)
    slowest = claim_rows(study)[1].scope
    (study,) = studies([planned_earlier(r, slowest) for r in members], chosen)
    told = [cell for cell in study.cells if Caution.OUTDATED in cell.cautions]
    assert [cell.factors for cell in told] == [slowest] and told[0].outdated == 1
    assert Caution.OUTDATED in study.ratio(told[0], "latency_p99_seconds").warnings
    row = claim_rows(study)[1]
    assert "outdated" in row.as_dict()["warnings"]
    assert any("earlier version" in text for text in row.cautions)


def planned_earlier(record, factors):
    """The first run of a cell, as of an older file."""
    if record.plan["factors"] != factors or record.plan["run"] != 1:
        return record
    return altered(record, lambda d: d["plan"]["settings"].update(wal_level="minimal"))


def test_failures_of_cells_that_the_experiment_no_longer_has_are_kept(loaded, experiments):
    chosen = {"postgres-checkpoint": experiments["postgres-checkpoint"]}
    members = [r for r in loaded if r.plan["experiment"] == "postgres-checkpoint"]

    def fail(document):
        document["status"] = "failed"
        document["plan"]["cell"] = "no_such_cell"

    (study,) = studies([altered(members[0], fail), *members[1:]], chosen)
    (failed,) = study.failures
    assert failed.plan["cell"] == "no_such_cell"
    # A complete one is no failure.
    gone = altered(members[0], lambda d: d["plan"].update(cell="no_such_cell"))
    assert studies([gone, *members[1:]], chosen)[0].failures == ()


def test_a_change_of_the_experiment_that_plans_the_same_runs_dates_no_record(loaded, experiments):
    old = [altered(r, lambda d: d.update(experiment_sha256="0" * 64)) for r in loaded]
    assert {study.outdated for study in studies(old, experiments)} == {0}


def options(smoke_results, experiments_folder):
    return ["--results", str(smoke_results), "--experiments", str(experiments_folder)]


def test_claims_are_printed(smoke_results, experiments_folder, capsys):
    assert cli.main(["claims", *options(smoke_results, experiments_folder)]) == 0
    text = capsys.readouterr().out
    assert "expected ratio at least 1.2, measured" in text
    assert "make evaluate EXPERIMENT=postgres-checkpoint PROFILE=smoke" in text
    assert cli.main(["claims", *options(smoke_results, experiments_folder), "-o", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {"claim", "command", "expected", "measured", "time_seconds", "disk_bytes"} <= set(
        rows[0]
    )


def test_whole_way_by_commands(tmp_path, capsys, experiments_folder):
    results, saved = tmp_path / "results", tmp_path / "plan.json"
    where = ["--results", str(results), "--experiments", str(experiments_folder)]
    plan_command = ["plan", "postgres-checkpoint", "--profile", "smoke", *where]
    assert cli.main(plan_command) == 0
    assert "8 of 8 runs left" in capsys.readouterr().out
    assert cli.main([*plan_command, "-o", "json"]) == 0
    saved.write_text(capsys.readouterr().out)
    planned = json.loads(saved.read_text())["runs"][0]
    raw = write_raw(planned, tmp_path / "raw")
    record = ["record", "--plan", str(saved), "--cell", planned["cell"], "--run", "1",
              "--raw", str(raw), "--results", str(results)]  # fmt: skip
    assert cli.main(record) == 0
    assert cli.main(record) == 2
    assert "never overwritten" in capsys.readouterr().err
    assert cli.main([*record, "--failed-step", "x"]) == 2
    assert cli.main(["check", str(results)]) == 0
    assert "1 passed, 0 failed" in capsys.readouterr().out
    next(results.rglob("intervals.csv")).write_text("")
    assert cli.main(["check", str(results)]) == 1
    assert cli.main(["check", str(tmp_path / "none")]) == 2
    assert cli.main(["freeze", "postgres-burst", "--profile", "small", *where]) == 2
