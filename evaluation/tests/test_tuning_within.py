"""Settings that are the best of those that keep within a bound."""

from pathlib import Path

import pytest
import yaml
from sluice_evaluation import freeze
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.experiment import load
from sluice_evaluation.records import Record
from sluice_evaluation.report import tuned_text

QUIET_SECONDS = 0.005
BURSTS = "while_compacting_bursts_latency_p99_seconds"
BETWEEN = "while_compacting_between_bursts_latency_p99_seconds"


@pytest.fixture
def phases(experiments):
    return experiments["hbase-phases"]


def run_of(
    cell: str, seconds: float | None, p99: float, status: str = "complete", number: int = 1
) -> Record:
    metrics = {BURSTS: p99, BETWEEN: p99}
    if seconds is not None:
        metrics["compaction_seconds"] = seconds
    place = {"experiment": "hbase-phases", "profile": "small", "stage": "tune"}
    results = {"intended": {}} if status == "complete" else None
    return Record(
        Path(),
        {
            "status": status,
            "plan": {**place, "cell": cell, "run": number, "attempt": 1},
            "results": results,
            "metrics": metrics if results else {},
        },
    )


def tuning(phases, p99):
    """The runs of every cell, the sooner done the higher its rate; p99 says how slow reads are."""
    runs = []
    for number in range(1, phases.runs("small", "tune") + 1):
        runs.append(run_of("quiet_c64k_throttle", None, QUIET_SECONDS, number=number))
        for cell in phases.cells("small", "tune"):
            rate = cell.factors["compaction_rate_bytes_per_second"]
            if rate != "none":
                runs.append(run_of(cell.id, 1e9 / rate, p99(cell.factors), number=number))
    return runs


def with_run(runs, begin, status="complete", seconds=None):
    """The last runs of cells replaced, of which the id begins so."""
    last = max(run.plan["run"] for run in runs)
    return [
        run_of(run.plan["cell"], seconds, 0.006, status, last)
        if run.plan["cell"].startswith(begin) and run.plan["run"] == last
        else run
        for run in runs
    ]


def chosen(phases, runs, without_failed=False):
    (choice,) = freeze.choose(phases, "small", runs, without_failed)["choices"]
    return choice


def test_the_best_of_those_within_the_bound_is_chosen(phases):
    def p99(factors):
        fine = factors["check_interval_bytes"] == 65536
        return factors["compaction_rate_bytes_per_second"] / (2.8e9 if fine else 1.4e9)

    # At 28 MB/s: 0.01, exactly twice the quiet one, or 0.02.
    choice = chosen(phases, tuning(phases, p99))
    assert (choice["cell"], choice["ranked_by"]) == ("r28_c64k_throttle", "compaction_seconds")
    assert choice["settings"] == {
        "hbase.hstore.compaction.throughput.lower.bound": 28000000,
        "hbase.hstore.compaction.throughput.higher.bound": 28000000,
        "hbase.hstore.compaction.throughput.control.check.interval": 65536,
        "dfs.client.cache.readahead": 131072,
    }
    allowed = {"r14_c64k", "r21_c64k", "r28_c64k", "r14_c256k"}
    assert {entry["cell"].removesuffix("_throttle") for entry in choice["ranking"]} == allowed


def test_the_nearest_is_chosen_where_none_keeps_to_the_bound(phases):
    def p99(factors):
        slow = 0.02 + factors["compaction_rate_bytes_per_second"] / 1e9
        return slow - (0.001 if factors["check_interval_bytes"] == 262144 else 0)

    choice = chosen(phases, tuning(phases, p99))
    assert choice["cell"] == "r14_c256k_throttle"
    assert choice["ranked_by"] == "largest_ratio"
    assert choice["ranking"][0]["value"] == pytest.approx(0.033 / QUIET_SECONDS)


def test_every_metric_has_to_keep_to_the_bound(phases):
    """Quick at the low load, and slow at the high one, is not quick."""
    runs = tuning(phases, lambda _: 0.006)
    for run in runs:
        # At 28 MB/s requests of bursts are too slow, at 21 MB/s those between them.
        run.document["metrics"] |= {
            BURSTS: 0.011 if run.plan["cell"].startswith("r28_") else QUIET_SECONDS,
            BETWEEN: 0.011 if run.plan["cell"].startswith("r21_") else QUIET_SECONDS,
        }
    assert chosen(phases, runs)["cell"].startswith("r14_")


def test_a_compaction_that_was_not_finished_is_not_chosen_and_not_waited_for(phases):
    runs = tuning(phases, lambda _: 0.006)
    assert chosen(phases, runs)["cell"].startswith("r28_")
    for number, run in enumerate(runs):
        if run.plan["cell"].startswith("r28_"):
            runs[number] = run_of(run.plan["cell"], None, 0.006, number=run.plan["run"])
    assert chosen(phases, runs)["cell"].startswith("r21_")


def test_a_cell_of_which_one_run_was_not_finished_is_not_judged_by_the_others(phases):
    choice = chosen(phases, with_run(tuning(phases, lambda _: 0.006), "r28_"))
    assert choice["cell"].startswith("r21_")
    because = "a complete run lacks compaction_seconds"
    assert choice["left_out"] == [
        {"cell": "r28_c256k_throttle", "because": because},
        {"cell": "r28_c64k_throttle", "because": because},
    ]


def test_a_failed_run_lacks_nothing(phases):
    runs = tuning(phases, lambda _: 0.006)
    runs.insert(0, run_of("r28_c64k_throttle", None, 0.006, "failed"))
    choice = chosen(phases, runs)
    assert choice["cell"].startswith("r28_")
    assert "left_out" not in choice


def test_where_no_cell_is_left_the_message_names_those_left_out(phases):
    runs = tuning(phases, lambda _: 0.006)
    runs = with_run(runs, "r")
    with pytest.raises(EvaluationError, match="r14_c64k_throttle: a complete run lacks"):
        freeze.choose(phases, "small", runs)


def test_without_the_reference_nothing_is_chosen(phases):
    runs = tuning(phases, lambda _: 0.006)
    with pytest.raises(EvaluationError, match="tuning is not finished"):
        freeze.choose(phases, "small", runs[1:])
    runs[0] = run_of("quiet_c64k_throttle", None, QUIET_SECONDS, "failed")
    with pytest.raises(EvaluationError, match="the reference"):
        freeze.choose(phases, "small", runs, without_failed=True)


def test_a_cell_of_which_a_run_failed_is_left_out_only_when_that_is_asked_for(phases):
    runs = with_run(tuning(phases, lambda _: 0.006), "r28_c64k", "failed")
    with pytest.raises(EvaluationError, match=r"small/r28_c64k_throttle/02-failed-1; .*--without"):
        freeze.choose(phases, "small", runs)
    choice = chosen(phases, runs, without_failed=True)
    assert choice["cell"] == "r28_c256k_throttle"
    assert choice["left_out"] == [{"cell": "r28_c64k_throttle", "because": "run 2 failed"}]
    # Without any record it has not been tried, and nobody can say that it fails.
    with pytest.raises(EvaluationError, match=r"1 of 14 runs are left .r28_c64k_throttle run 2"):
        freeze.choose(phases, "small", [r for r in runs if r.complete], without_failed=True)


def test_without_any_value_the_message_says_where_to_look(phases):
    runs = [
        run_of(cell.id, None, 0.006, number=number)
        for cell in phases.cells("small", "tune")
        for number in (1, 2)
    ]
    with pytest.raises(EvaluationError, match="compaction_seconds"):
        freeze.choose(phases, "small", runs)


def test_a_reference_that_no_cell_is_is_refused(phases, tmp_path):
    document = yaml.safe_load(yaml.safe_dump(phases.document))
    tune = next(stage for stage in document["stages"] if stage["name"] == "tune")
    tune["select"]["within"]["to"] = {"compaction_rate_bytes_per_second": 7}
    path = tmp_path / "hbase-phases.yml"
    path.write_text(yaml.safe_dump(document))
    with pytest.raises(EvaluationError, match="no cell is"):
        load(str(path))


@pytest.mark.parametrize(
    ("value", "metric", "text"),
    [
        (0.0123, "latency_p99_seconds", "12.3 ms"),
        (0.0123, "while_compacting_latency_p99_seconds", "12.3 ms"),
        (41.26, "compaction_seconds", "41.3 s"),
        (2.313, freeze.RATIO, "2.31 times"),
    ],
)
def test_the_report_tells_the_ranking_in_units_that_fit(value, metric, text):
    assert tuned_text(value, metric) == text
