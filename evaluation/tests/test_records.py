"""From raw output to a record, and what `check` finds."""

import csv
import json
import shutil

import pytest
from sluice_evaluation import assemble, records
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.plan import make_plan
from synthetic import JAVA_START_SECONDS, LABELS, write_raw


@pytest.fixture
def plan(experiments, tmp_path):
    return make_plan(experiments["postgres-burst"], "smoke", [], tmp_path)


@pytest.fixture
def planned(plan):
    return next(run for run in plan["runs"] if run["factors"]["arm"] == "sluice")


@pytest.fixture
def raw(planned, tmp_path):
    return write_raw(planned, tmp_path / "raw")


@pytest.fixture
def recorded(plan, planned, raw, tmp_path):
    results = tmp_path / "results"
    return results, assemble.record_run(plan, planned, raw, results)


def test_a_record_holds_the_whole_run(recorded, planned):
    results, directory = recorded
    record = records.load(directory / "record.json")
    document = record.document
    assert document["software"]["labels"] == LABELS
    assert document["plan"] == planned
    assert [p["name"] for p in document["phases"]] == [
        "load", "settle", "warm-up", "normal", "cool-down",
    ]  # fmt: skip
    kinds = {event["kind"] for event in document["events"]}
    assert kinds == {"burst", "client", "order", "checkpoint", "redo"}
    assert document["metrics"]["redo_seconds"] > 0
    assert document["metrics"]["largest_wal_distance_bytes"] == 65536 * 1024
    assert record.value("latency_p99_seconds", "intended") > record.value(
        "latency_p50_seconds", "intended"
    )
    assert record.value("no_such_metric_seconds", "intended") is None
    assert records.faults(directory / "record.json", results) == []


def test_only_the_normal_phase_counts(recorded, planned):
    _, directory = recorded
    document = records.load(directory / "record.json").document
    # 40 operations in each second, 9 s of normal phase.
    assert document["results"]["measured"]["operations"] == 40 * 9
    assert document["results"]["throughput_operations_per_second"] == 40
    with (directory / "intervals.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert {(row["client"], row["kind"]) for row in rows} == {
        ("steady", "measured"), ("steady", "intended"),
    }  # fmt: skip
    assert min(float(row["start_seconds"]) for row in rows) == 0.0


def test_time_counts_from_the_begin_of_the_load(recorded):
    _, directory = recorded
    document = records.load(directory / "record.json").document
    starts = {e["name"]: e["start_seconds"] for e in document["events"]}
    # The timeline started the client before its load began; the bursts are the load's own.
    assert starts["steady"] == pytest.approx(0.01 - JAVA_START_SECONDS)
    assert starts["burst-1"] == 4.0


def test_intended_latency_needs_a_target(experiments, tmp_path):
    plan = make_plan(experiments["postgres-checkpoint"], "smoke", [], tmp_path)
    planned = plan["runs"][0]
    raw = write_raw(planned, tmp_path / "raw")
    directory = assemble.record_run(plan, planned, raw, tmp_path / "results")
    record = records.load(directory / "record.json")
    assert record.document["results"]["intended"] is None
    assert record.value("latency_p99_seconds", "intended") is None
    assert {s["kind"] for s in record.document["summaries"]} == {"measured"}


def test_a_record_is_never_overwritten(recorded, plan, planned, raw):
    results, directory = recorded
    before = (directory / "record.json").read_bytes()
    with pytest.raises(EvaluationError, match="never overwritten; plan again"):
        assemble.record_run(plan, planned, raw, results)
    with pytest.raises(EvaluationError, match="never overwritten; plan again"):
        records.publish(shutil.copytree(directory, results / "copy"), directory)
    assert (directory / "record.json").read_bytes() == before


def test_what_was_staged_and_never_published_is_no_record(recorded, experiments):
    results, directory = recorded
    directory.rename(directory.parent / ".staged-left-behind")
    assert records.load_all(results) == []
    plan = make_plan(experiments["postgres-burst"], "smoke", records.load_all(results), results)
    assert (directory.parent.name, 1) in {(run["cell"], run["run"]) for run in plan["runs"]}


def test_operations_that_failed_or_were_not_issued_are_counted(plan, planned, raw, tmp_path):
    path = raw / "clients" / "steady" / "measurements.json"
    text = path.read_text().replace(
        '"FailedOperations", "value": 0', '"FailedOperations", "value": 3'
    )
    path.write_text(
        text.replace('"UnissuedOperations", "value": 0', '"UnissuedOperations", "value": 9')
    )
    timeline = raw / "timeline.jsonl"
    timeline.write_text(timeline.read_text().replace('"exit_code": 0', '"exit_code": 3', 1))
    directory = assemble.record_run(plan, planned, raw, tmp_path / "results")
    results = records.load(directory / "record.json").document["results"]
    assert (results["error_count"], results["unissued_count"]) == (3, 9)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda raw: (raw / "run.json").unlink(), "run.json"),
        (lambda raw: (raw / "settings.json").write_text("{}"), "effective_settings"),
        (lambda raw: (raw / "software.json").write_text('{"labels": {}}'), "is a required"),
        (lambda raw: (raw / "metrics.json").write_text('{"speed": 1}'), "speed"),
        (lambda raw: [p.unlink() for p in raw.glob("clients/*/*.hdr")], "has no .hdr file"),
        (lambda raw: (raw / "clients/steady/run.properties").unlink(), "run.properties"),
        (lambda raw: (raw / "clients/steady/run.properties").write_text("#"), "when the run began"),
        (lambda raw: (raw / "clients/steady/measurements.json").write_text("[]"), "OVERALL"),
        (lambda raw: (raw / "timeline.jsonl").write_text(""), "no line of kind origin.*failed"),
        (
            lambda raw: [
                p.rename(p.with_name(p.name.replace("UPDATE", "READ")))
                for p in list(raw.glob("clients/*/*UPDATE.hdr"))
            ],
            "no client recorded UPDATE",
        ),
        (
            lambda raw: (raw / "timeline.jsonl").write_text(
                (raw / "timeline.jsonl").read_text().replace('"exit_code": 0', '"exit_code": 1', 1)
            ),
            "steps of the timeline failed: steady",
        ),
        (
            lambda raw: (raw / "timeline.jsonl").write_text(
                "\n".join((raw / "timeline.jsonl").read_text().splitlines()[:-1])
            ),
            "orders were not given: .*; record the run as failed",
        ),
    ],
)
def test_an_incomplete_run_is_refused_and_leaves_nothing(
    plan, planned, raw, tmp_path, damage, message
):
    damage(raw)
    results = tmp_path / "results"
    with pytest.raises(EvaluationError, match=message):
        assemble.record_run(plan, planned, raw, results)
    assert [p for p in results.rglob("*") if p.is_file()] == []


def test_a_failure_is_a_record_that_says_so(plan, planned, tmp_path):
    raw, results = tmp_path / "raw", tmp_path / "results"
    raw.mkdir()
    times = {"started_at": "2020-01-01T00:00:00Z", "ended_at": "2020-01-01T00:00:09.5Z"}
    (raw / "run.json").write_text(json.dumps(times))
    directory = assemble.record_failure(plan, planned, raw, results, "start", "no space left")
    assert directory.name == "01-failed-1"
    record = records.load(directory / "record.json")
    assert not record.complete
    assert record.document["failure"] == {"step": "start", "message": "no space left"}
    assert record.value("latency_p99_seconds", "measured") is None
    assert records.faults(directory / "record.json", results) == []


def edit(directory, change):
    path = directory / "record.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda d: (d / "intervals.csv").write_text("x"), "intervals.csv was changed"),
        (lambda d: (d / "intervals.csv").unlink(), "intervals.csv is missing"),
        (lambda d: (d / "extra.txt").write_text("x"), "extra.txt is not listed"),
        (lambda d: (d / "record.json").write_text("{"), "cannot be read"),
        (lambda d: edit(d, lambda r: r.update(status="fine")), "status"),
        (lambda d: edit(d, lambda r: r.update(results=None)), "results"),
        (lambda d: edit(d, lambda r: r["plan"].update(run=2)), "but its plan says"),
        (
            lambda d: edit(d, lambda r: r["summaries"][0]["summary"].update(p99_seconds=0.001)),
            "is not what its histogram says",
        ),
        (
            lambda d: edit(d, lambda r: r["results"]["intended"].update(p99_seconds=0.001)),
            "intended latencies of the results are not what the histograms say",
        ),
        (
            lambda d: edit(d, lambda r: r["results"].update(throughput_operations_per_second=41)),
            "throughput of the results is not what the histograms say",
        ),
        (
            lambda d: edit(d, lambda r: r["metrics"].update(tail_latency_p99_99_seconds=0.001)),
            "tail_latency_p99_99_seconds is not what the histograms say",
        ),
    ],
)
def test_check_finds_what_is_wrong(recorded, damage, message):
    results, directory = recorded
    damage(directory)
    faults = records.faults(directory / "record.json", results)
    assert faults and any(message in fault for fault in faults)


def test_no_committed_record_is_synthetic():
    results = records.Path(__file__).parents[2] / "results"
    for path in records.find(results):
        labels = records.load(path).document["software"]["labels"]
        assert "synthetic" not in json.dumps(labels)


def test_a_record_holds_what_the_controller_decided_and_when_it_died(controlled, tmp_path):
    plan, planned = controlled
    raw = write_raw(planned, tmp_path / "raw")
    directory = assemble.record_run(plan, planned, raw, tmp_path / "results")
    events = records.load(directory / "record.json").document["events"]
    decisions = [event for event in events if event["kind"] == "decision"]
    assert [event["attributes"]["verdict"] for event in decisions] == ["change", "stop"]
    assert decisions[0]["attributes"]["number"] == 5e6
    assert decisions[0]["start_seconds"] == pytest.approx(3, abs=0.001)
    (fault,) = [event for event in events if event["kind"] == "fault"]
    assert fault["start_seconds"] == pytest.approx(75, abs=0.001)
    assert (directory / "decisions.jsonl").read_text().count("VERDICT_KEEP") == 1


def test_a_fault_that_was_not_made_is_no_run(controlled, tmp_path):
    plan, planned = controlled
    raw = write_raw(planned, tmp_path / "raw")
    (raw / "faults.jsonl").unlink()
    with pytest.raises(EvaluationError, match="kill-controller-1"):
        assemble.record_run(plan, planned, raw, tmp_path / "results")
