"""What is told of a part of a run: one operation, bursts, the time in which the store compacted."""

import pytest
from sluice_evaluation import assemble, records
from sluice_evaluation.histograms import Interval, from_values
from sluice_evaluation.plan import make_plan
from sluice_evaluation.window_metrics import latency_by_window
from synthetic import EPOCH, compaction_lines, hash_of, write_raw

ORIGIN = 1_795_205_416.0
NORMAL = {"start_seconds": 2.0, "end_seconds": 18.0}
BURSTS = [
    {"kind": "burst", "start_seconds": 5.0, "end_seconds": 8.0},
    {"kind": "burst", "start_seconds": 11.0, "end_seconds": 14.0},
]


def planned(windows, schedule="20s:10", **measure):
    return {
        "clients": [{"schedule": schedule}], "operations": ["READ"], "windows": windows,
        "measure": measure, "phases": [{"name": "normal", **NORMAL}],
    }  # fmt: skip


def clients(milliseconds, kind="intended", operation="READ"):
    """Ten requests in each second, all as slow as the second's figure."""
    return {
        ("steady", operation, kind): [
            Interval(ORIGIN + s, ORIGIN + s + 1, from_values([round(value * 1000)] * 10))
            for s, value in enumerate(milliseconds)
        ]
    }


def by_second(*spans, length=20):
    """1 ms, and in spans of (start, end, milliseconds) what they say; outside of the phase 99."""
    found = [1.0] * length
    for start, end, value in spans:
        found[start:end] = [value] * (end - start)
    return [99.0] * 2 + found[2:18] + [99.0] * (length - 18)


def test_bursts_and_what_lies_between_are_told_apart():
    latencies = clients(by_second((5, 8, 3.0), (11, 14, 3.0)))
    found = latency_by_window(latencies, planned(BURSTS), NORMAL, ORIGIN, None)
    assert found == {
        "bursts_latency_mean_seconds": pytest.approx(0.003, rel=0.01),
        "bursts_latency_p99_seconds": pytest.approx(0.003, rel=0.01),
        "between_bursts_latency_mean_seconds": pytest.approx(0.001, rel=0.01),
        "between_bursts_latency_p99_seconds": pytest.approx(0.001, rel=0.01),
    }


def test_without_bursts_and_without_a_log_nothing_is_told():
    assert latency_by_window(clients(by_second()), planned([]), NORMAL, ORIGIN, None) == {}


def test_the_last_part_of_the_normal_phase_is_told_apart():
    latencies = clients(by_second((14, 18, 4.0)))
    run = planned([], last_part_share=0.25)
    assert latency_by_window(latencies, run, NORMAL, ORIGIN, None) == {
        "last_part_latency_mean_seconds": pytest.approx(0.004, rel=0.01),
        "last_part_latency_p99_seconds": pytest.approx(0.004, rel=0.01),
    }


def test_the_time_of_compactions_is_told_apart_in_every_part():
    latencies = clients(by_second((12, 16, 7.0)))
    busy = ("while_compacting", [(11.6, 13.4), (12.4, 15.6)])
    found = latency_by_window(latencies, planned(BURSTS), NORMAL, ORIGIN, busy)
    assert found["while_compacting_latency_mean_seconds"] == pytest.approx(0.007, rel=0.01)
    assert found["while_compacting_bursts_latency_p99_seconds"] == pytest.approx(0.007, rel=0.01)
    assert found["while_compacting_between_bursts_latency_p99_seconds"] == pytest.approx(
        0.007, rel=0.01
    )
    # Two of the three seconds of the second burst are slow.
    assert found["bursts_latency_mean_seconds"] == pytest.approx((4 + 14) / 6 / 1000, rel=0.01)


def test_a_run_without_compactions_has_all_of_it_for_comparison():
    latencies = clients(by_second((5, 8, 3.0)))
    found = latency_by_window(latencies, planned(BURSTS), NORMAL, ORIGIN, ("while_compacting", []))
    for part in ("bursts", "between_bursts"):
        name = f"{part}_latency_mean_seconds"
        assert found[f"while_compacting_{name}"] == found[name]
    assert found["while_compacting_latency_mean_seconds"] == pytest.approx(
        (13 * 1 + 3 * 3) / 16 / 1000, rel=0.01
    )


def test_only_what_counts_is_told_and_by_due_time_where_there_is_one():
    both = clients(by_second((5, 8, 3.0)), "measured") | clients([50.0] * 20, "intended")
    both |= clients([70.0] * 20, "measured", "SCAN")
    found = latency_by_window(both, planned(BURSTS, None), NORMAL, ORIGIN, None)
    assert found["between_bursts_latency_p99_seconds"] == pytest.approx(0.001, rel=0.01)
    found = latency_by_window(both, planned(BURSTS), NORMAL, ORIGIN, None)
    assert found["between_bursts_latency_p99_seconds"] == pytest.approx(0.05, rel=0.01)


@pytest.fixture
def read_modify_write(experiments, tmp_path):
    """A synthetic record of workload F, whose read-modify-writes are told apart."""
    plan = make_plan(experiments["hbase-compaction"], "short", [], tmp_path)
    run = next(run for run in plan["runs"] if run["factors"]["arm"] == "stock")
    results = tmp_path / "results"
    directory = assemble.record_run(plan, run, write_raw(run, tmp_path / "raw"), results)
    assert records.faults(directory / "record.json", results) == []
    return records.load(directory / "record.json")


def test_a_run_plans_its_compaction_for_the_begin_of_the_normal_phase(read_modify_write):
    first, second, order = read_modify_write.plan["orders"]
    assert first["statement"] == "start-major-compact first-quarter"
    assert second["statement"] == "start-major-compact second-quarter"
    # Shares of the warm-up of 20 s.
    assert [first["at_seconds"], second["at_seconds"]] == pytest.approx([1.4, 8.6])
    assert order["statement"] == "start-major-compact second-half"
    assert order["at_seconds"] == read_modify_write.plan["phases"][1]["start_seconds"] > 0


def test_an_operation_that_is_told_apart_counts_in_nothing_else(read_modify_write):
    assert read_modify_write.plan["operations_apart"] == ["READ-MODIFY-WRITE"]
    # 40 operations of two kinds in each of 10 seconds.
    assert read_modify_write.document["results"]["measured"]["operations"] == 2 * 40 * 10
    summaries = {e["operation"]: e["summary"] for e in read_modify_write.document["summaries"]}
    for operation, prefix in (("READ", "read"), ("READ-MODIFY-WRITE", "read_modify_write")):
        found = read_modify_write.value(f"{prefix}_latency_p99_seconds", "measured")
        assert found == summaries[operation]["p99_seconds"]
    assert read_modify_write.value("scan_latency_p99_seconds", "measured") is None
    assert read_modify_write.value("read_latency_p12_seconds", "measured") is None


def test_operations_of_several_clients_are_added_up(read_modify_write):
    document = read_modify_write.document
    (reads,) = [e for e in document["summaries"] if e["operation"] == "READ"]
    document["summaries"].append(reads | {"client": "again"})
    found = read_modify_write.value("read_latency_mean_seconds", "measured")
    assert found == pytest.approx(reads["summary"]["mean_seconds"], rel=1e-6)


@pytest.mark.parametrize(("start_seconds", "counted"), [(1.0, 0), (19.0, 0), (21.0, 1)])
def test_a_compaction_of_the_warm_up_is_told_and_not_counted(
    experiments, tmp_path, start_seconds, counted
):
    plan = make_plan(experiments["hbase-compaction"], "short", [], tmp_path)
    run = next(run for run in plan["runs"] if run["factors"]["arm"] == "quiet")
    assert run["phases"][1]["start_seconds"] == 20
    raw = write_raw(run, tmp_path / "raw")
    origin = EPOCH + hash_of(run) % 10_000_000
    log = compaction_lines(origin, start_seconds, start_seconds + 2)
    (raw / "logs").mkdir(exist_ok=True)
    (raw / "logs" / "regionserver.log").write_text(log)
    directory = assemble.record_run(plan, run, raw, tmp_path / "results")
    document = records.load(directory / "record.json").document
    assert [event["kind"] for event in document["events"]].count("compaction") == 1
    assert document["metrics"]["compactions_count"] == counted
    # Those of all of the normal phase where there was none, and of its time where there was one.
    whole = document["results"]["measured"]["mean_seconds"]
    part = document["metrics"]["while_compacting_latency_mean_seconds"]
    assert (part == pytest.approx(whole)) == (counted == 0)
