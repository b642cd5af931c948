"""Reading, merging and writing of latency distributions, against what YCSB itself reports."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.histograms import (
    Interval,
    between,
    coarsen,
    from_values,
    merge,
    read_log,
    write_log,
)

YCSB = Path(__file__).parent / "data" / "ycsb-0.17.0"
latencies = st.lists(st.integers(1, 3_000_000_000), min_size=1, max_size=200)


def ycsb_summary(operation: str) -> dict[str, float]:
    lines = (YCSB / "output.txt").read_text().splitlines()
    fields = [line.split(", ") for line in lines if line.startswith(f"[{operation}], ")]
    return {name: float(value) for _, name, value in fields if not name.startswith("Return")}


@pytest.mark.parametrize("operation", ["READ", "UPDATE", "Intended-READ"])
def test_merged_log_agrees_with_ycsb_summary(operation):
    merged = merge(i.distribution for i in read_log(YCSB / f"{operation}.hdr"))
    reported = ycsb_summary(operation)
    assert merged.total == reported["Operations"]
    assert merged.mean_seconds() == pytest.approx(reported["AverageLatency(us)"] * 1e-6, rel=1e-3)
    assert merged.percentile_seconds(99) * 1e6 == pytest.approx(
        reported["99thPercentileLatency(us)"]
    )
    assert merged.percentile_seconds(95) * 1e6 == pytest.approx(
        reported["95thPercentileLatency(us)"]
    )
    assert merged.maximum_seconds() * 1e6 == pytest.approx(reported["MaxLatency(us)"])


def test_intervals_agree_with_ycsb_status_lines():
    pattern = re.compile(r"\[Intended-READ: Count=(\d+), Max=(\d+),.*?, 99=(\d+), 99\.9=(\d+)")
    reported = [
        tuple(map(int, match.groups()))
        for match in map(pattern.search, (YCSB / "status.txt").read_text().splitlines())
        if match and match.group(1) != "0"
    ]
    read = [
        (
            i.distribution.total,
            *(round(1e6 * i.distribution.percentile_seconds(p)) for p in (100, 99, 99.9)),
        )
        for i in read_log(YCSB / "Intended-READ.hdr")
        if i.distribution.total
    ]
    assert read == reported and len(read) == 5


def test_log_times_are_since_the_epoch():
    first = read_log(YCSB / "READ.hdr")[0]
    assert first.start == pytest.approx(1795204318.889, abs=0.01)


@given(latencies, st.floats(0.1, 100.0))
def test_percentile_is_nearest_rank_within_three_digits(values, percent):
    distribution = from_values(values)
    rank = max(1, int(np.ceil(percent / 100 * len(values) - 1e-9)))
    exact = sorted(values)[rank - 1] * 1e-6
    assert distribution.percentile_seconds(percent) == pytest.approx(exact, rel=1e-3)


@given(latencies, latencies)
def test_merging_equals_recording_together(first, second):
    merged, together = merge([from_values(first), from_values(second)]), from_values(first + second)
    assert merged.summary() == together.summary()
    assert (merged.lower == together.lower).all() and (merged.counts == together.counts).all()


@given(latencies)
def test_exceedance_falls_to_zero(values):
    seconds, share = from_values(values).exceedance()
    assert (np.diff(seconds) > 0).all() and (np.diff(share) <= 0).all()
    assert share[-1] == 0.0


def test_written_log_reads_back(tmp_path):
    intervals = [
        Interval(1000.0, 1001.0, from_values([10, 2000, 123_456_789])),
        Interval(1001.0, 1002.0, from_values([7])),
    ]
    write_log(tmp_path / "x.hdr", intervals)
    read = read_log(tmp_path / "x.hdr")
    assert [(i.start, i.end, i.distribution.summary()) for i in read] == [
        (i.start, i.end, i.distribution.summary()) for i in intervals
    ]
    with pytest.raises(FileExistsError):
        write_log(tmp_path / "x.hdr", intervals)


@pytest.mark.parametrize("left", [40, 3, 0, -2])
def test_damaged_log_is_an_error(tmp_path, left):
    text = (YCSB / "READ.hdr").read_text()
    (tmp_path / "cut.hdr").write_text(text[: text.index("HISTF") + left] + "\n")
    with pytest.raises(EvaluationError, match=r"cut\.hdr"):
        read_log(tmp_path / "cut.hdr")


def test_a_hole_in_a_log_and_what_is_no_log_are_errors(tmp_path):
    lines = (YCSB / "READ.hdr").read_text().splitlines()
    holed = [*lines[:6], lines[6][:9], *lines[7:]]
    for text in ("\n".join(holed), "no log at all\n"):
        (tmp_path / "other.hdr").write_text(text)
        with pytest.raises(EvaluationError, match=r"other\.hdr.*is no interval"):
            read_log(tmp_path / "other.hdr")


def test_bins_and_windows_keep_every_request():
    intervals = [Interval(100.0 + i, 101.0 + i, from_values([i + 1])) for i in range(25)]
    binned = coarsen(intervals, 100.0, 10)
    assert [i.distribution.total for i in binned] == [10, 10, 5]
    assert (binned[0].start, binned[0].end) == (100.0, 110.0)
    assert len(between(intervals, 105.0, 110.0)) == 5


def test_empty_distribution_has_no_latency():
    assert merge([]).summary()["p99_seconds"] is None
