"""Output that looks whole and is of no run of its plan is refused, with what was missing."""

import json

import pytest
from sluice_evaluation import assemble
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.histograms import read_log, write_log
from sluice_evaluation.plan import make_plan
from synthetic import EPOCH, hash_of, write_raw


def origin_of(planned):
    return EPOCH + hash_of(planned) % 10_000_000


def refused(plan, planned, raw, tmp_path, match):
    with pytest.raises(EvaluationError, match=match):
        assemble.record_run(plan, planned, raw, tmp_path / "results")
    assert not list(tmp_path.glob("results/*/*/*/*/record.json"))


def raw_of(experiments, tmp_path, name, profile, arm):
    plan = make_plan(experiments[name], profile, [], tmp_path)
    planned = next(run for run in plan["runs"] if run["factors"]["arm"] == arm)
    return plan, planned, write_raw(planned, tmp_path / "raw")


def without_compactions(raw):
    (raw / "logs" / "regionserver.log").write_text("")


def test_an_order_that_led_to_no_compaction(experiments, tmp_path):
    plan, planned, raw = raw_of(experiments, tmp_path, "hbase-compaction", "short", "stock")
    without_compactions(raw)
    refused(plan, planned, raw, tmp_path, "start-major-compact second-half was ordered")


def test_a_quiet_run_has_no_compaction_and_is_recorded(experiments, tmp_path):
    plan, planned, raw = raw_of(experiments, tmp_path, "hbase-compaction", "short", "quiet")
    without_compactions(raw)
    assert assemble.record_run(plan, planned, raw, tmp_path / "results").exists()


# The clients end at 11.25 s: the last recovery began before that.
@pytest.mark.parametrize(("seconds", "is_refused"), [(5.0, True), (-2.0, False), (12.0, True)])
def test_a_crash_that_the_store_recovered_from(experiments, tmp_path, seconds, is_refused):
    plan, planned, raw = raw_of(experiments, tmp_path, "postgres-burst", "smoke", "sluice")
    with (raw / "logs" / "postgres.log").open("a") as log:
        log.write(
            f"{origin_of(planned) + seconds:.3f} LOG:  redo done at 0/1 system usage: "
            "CPU: user: 0.30 s, system: 0.10 s, elapsed: 1.50 s\n"
        )
    if is_refused:
        refused(plan, planned, raw, tmp_path, f"recovered from a crash at {seconds:g} s")
    else:
        assert assemble.record_run(plan, planned, raw, tmp_path / "results").exists()


def test_many_operations_that_failed(experiments, tmp_path):
    plan, planned, raw = raw_of(experiments, tmp_path, "postgres-burst", "smoke", "sluice")
    path = raw / "clients" / "steady" / "measurements.json"
    overall = json.loads(path.read_text())
    (failed,) = (entry for entry in overall if entry["measurement"] == "FailedOperations")
    failed["value"] = 100_000
    path.write_text(json.dumps(overall))
    refused(plan, planned, raw, tmp_path, "100000 operations failed")


def test_a_load_generator_that_began_late(experiments, tmp_path):
    plan = make_plan(experiments["rocksdb-skew"], "small-two", [], tmp_path)
    planned = plan["runs"][0]
    raw = write_raw(planned, tmp_path / "raw")
    name = planned["clients"][1]["name"]
    begun = round((origin_of(planned) + 20) * 1000)
    path = raw / "clients" / name / "run.properties"
    path.write_text(f"sluice.run.start_unix_milliseconds={begun}\n")
    refused(plan, planned, raw, tmp_path, f"{name} began 20.0 s later")


def without_step(raw, name):
    """What a timeline leaves that ended before that step, and whose exit code nobody looked at."""
    path = raw / "timeline.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("".join(f"{line}\n" for line in lines if json.loads(line).get("name") != name))


def test_a_drain_that_nobody_waited_for(experiments, tmp_path):
    plan = make_plan(experiments["rocksdb-skew"], "small-two", [], tmp_path)
    planned = plan["runs"][0]
    raw = write_raw(planned, tmp_path / "raw")
    name = f"drain-{planned['clients'][1]['name']}"
    without_step(raw, name)
    refused(plan, planned, raw, tmp_path, f"these drains were not waited for: {name}; record")


def test_a_run_without_drains_needs_none(experiments, tmp_path):
    plan, planned, raw = raw_of(experiments, tmp_path, "postgres-burst", "smoke", "sluice")
    assert '"drain"' not in (raw / "timeline.jsonl").read_text()
    assert assemble.record_run(plan, planned, raw, tmp_path / "results").exists()


def end_early(raw, client, end, logs="*.hdr"):
    """What a load generator leaves that was done by then, or whose disk was full."""
    for path in list((raw / "clients" / client).glob(logs)):
        kept = [i for i in read_log(path) if i.end <= end]
        path.unlink()
        write_log(path, kept)


# The normal phase ends at 11 s, and what was planned at 12.
@pytest.mark.parametrize(("seconds", "is_refused"), [(12, False), (10, False), (9, True)])
def test_a_load_generator_that_ended_early(experiments, tmp_path, seconds, is_refused):
    plan, planned, raw = raw_of(experiments, tmp_path, "postgres-burst", "smoke", "sluice")
    end_early(raw, "steady", origin_of(planned) + seconds)
    if is_refused:
        refused(plan, planned, raw, tmp_path, r"steady has nothing after 9\.0 s")
    else:
        assert assemble.record_run(plan, planned, raw, tmp_path / "results").exists()


@pytest.mark.parametrize("log", ["UPDATE.hdr", "Intended-UPDATE.hdr"])
@pytest.mark.parametrize("seconds", [9, 0])
def test_a_log_that_ended_early_or_is_empty(experiments, tmp_path, log, seconds):
    plan, planned, raw = raw_of(experiments, tmp_path, "postgres-burst", "smoke", "sluice")
    end_early(raw, "steady", origin_of(planned) + seconds, log)
    refused(plan, planned, raw, tmp_path, rf"steady has nothing after {seconds}\.0 s")


@pytest.mark.parametrize("seconds", [20, 0])
def test_a_neighbour_that_ended_early(experiments, tmp_path, seconds):
    plan = make_plan(experiments["service-level-two"], "short", [], tmp_path)
    planned = next(run for run in plan["runs"] if len(run["clients"]) > 1 and "policies" not in run)
    raw = write_raw(planned, tmp_path / "raw")
    end_early(raw, "neighbour", origin_of(planned) + seconds)
    refused(plan, planned, raw, tmp_path, "load generator neighbour has nothing after")


def cut_off(raw, end):
    """The decisions up to a moment."""
    path = raw / "decisions.jsonl"
    lines = [line for line in path.read_text().splitlines() if "VERDICT_KEEP" not in line]
    path.write_text("".join(f"{line}\n" for line in lines[:end]))


@pytest.mark.parametrize(("kept", "message"), [(1, "last time at 3.0 s"), (0, "never decided")])
def test_a_policy_that_ended_before_the_run(controlled, tmp_path, kept, message):
    plan, planned = controlled
    raw = write_raw(planned, tmp_path / "raw")
    cut_off(raw, kept)
    refused(plan, planned, raw, tmp_path, message)


def test_decisions_that_nobody_wrote_down(controlled, tmp_path):
    plan, planned = controlled
    raw = write_raw(planned, tmp_path / "raw")
    (raw / "decisions.jsonl").unlink()
    refused(plan, planned, raw, tmp_path, "never decided")


def test_a_fault_at_another_time_than_planned(controlled, tmp_path):
    plan, planned = controlled
    raw = write_raw(planned, tmp_path / "raw")
    path = raw / "faults.jsonl"
    fault = json.loads(path.read_text())
    fault["epoch_seconds"] -= 5
    path.write_text(json.dumps(fault) + "\n")
    refused(plan, planned, raw, tmp_path, "was made at 70 s of the run, and planned for 75 s")
