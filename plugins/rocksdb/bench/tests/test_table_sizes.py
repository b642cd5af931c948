"""Tables that come, grow and go, and when a trace stops, goes on or gives way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice_evaluation.bench.traces import Trace
from table_sizes import (
    TableSizes,
    bytes_at,
    growth_seconds,
    seconds_to_go_on,
    seconds_to_stop,
    share_beside,
)

LOOK_SECONDS = 0.001


def looks(start: float, end: float) -> list[float]:
    return [start + number * LOOK_SECONDS for number in range(round((end - start) / LOOK_SECONDS))]


def trace_of(start: float, end: float, done_at) -> Trace:
    trace = Trace()
    for now in looks(start, end):
        trace.add(now, done_at(now))
    return trace


def test_tables_that_are_gone_count_with_what_they_had(tmp_path):
    tables = TableSizes(tmp_path)
    assert tables.written_bytes() == 0
    (tmp_path / "000007.sst").write_bytes(b"12345")
    (tmp_path / "MANIFEST-000004").write_bytes(b"no table")
    assert tables.written_bytes() == 5
    (tmp_path / "000008.sst").write_bytes(b"12")
    (tmp_path / "000007.sst").unlink()
    assert tables.written_bytes() == 7
    (tmp_path / "000008.sst").write_bytes(b"1234")
    assert tables.written_bytes() == 9


def test_growth_is_seen_at_the_look_after_it():
    assert growth_seconds(Trace([0, 1, 2, 3], [5, 5, 7, 7])) == [2]


@given(stop=st.floats(0, 0.08))
def test_a_stop_is_the_last_growth_after_the_order(stop):
    stopped = trace_of(-0.01, 0.1, lambda now: int(min(now, stop) * 1e9))
    assert seconds_to_stop(stopped, 0.1) == pytest.approx(stop, abs=2 * LOOK_SECONDS)


def test_without_growth_after_the_order_all_had_stopped_by_then():
    assert seconds_to_stop(Trace([-0.002, -0.001, 0.001, 0.2], [1, 2, 2, 3]), 0.1) == 0


def test_a_stop_without_effect_is_the_end_of_the_trace():
    assert seconds_to_stop(trace_of(0, 0.1, lambda now: int(now * 1e9)), 0.1) > 0.09


@given(begin=st.floats(0, 0.09))
def test_going_on_is_the_first_growth_after_the_order(begin):
    going_on = trace_of(-0.01, 0.1, lambda now: int(max(0, now - begin) * 1e9))
    assert seconds_to_go_on(going_on) == pytest.approx(begin, abs=2 * LOOK_SECONDS)


def test_going_on_without_effect_is_the_end_of_the_trace():
    assert seconds_to_go_on(Trace([-0.001, 0.001, 0.1], [1, 1, 1])) == 0.1


def test_what_was_there_at_a_moment_is_what_the_look_before_it_saw():
    trace = Trace([0, 1, 2], [5, 6, 7])
    assert [bytes_at(trace, moment) for moment in (0, 0.9, 1, 5)] == [5, 5, 6, 7]
    with pytest.raises(ValueError, match="nobody has looked"):
        bytes_at(trace, -1)


@given(rate=st.integers(0, 100), end=st.floats(0.1, 0.9))
def test_what_a_lower_rank_writes_after_the_higher_ones_end_does_not_count(rate, end):
    higher = trace_of(-0.01, 1, lambda now: int(max(0, min(now, end)) * 1e9))

    def lower_at(now):
        beside, after = min(now, end), max(0, now - end - 2 * LOOK_SECONDS)
        return int(beside * rate * 1e7) + int(after * 1e9)

    lower = trace_of(-0.01, 1, lower_at)
    expected = rate / 100 * (end - 0.05) / end
    assert share_beside(lower, higher, 0.05) == pytest.approx(expected, abs=0.05)


def test_there_is_nothing_to_yield_to_where_a_higher_rank_writes_nothing():
    still = Trace([-0.1, 0.1], [0, 0])
    with pytest.raises(ValueError, match="written nothing"):
        share_beside(still, still, 0.05)
