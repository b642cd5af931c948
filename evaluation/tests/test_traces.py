"""Traces that are made up give back the rate and the breakpoint that they were made with."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice_evaluation.bench.traces import (
    Progress,
    Trace,
    furthest_from_one,
    kept_rate,
    nearest_rank,
    seconds_to_effect,
)

BLOCK = 65_536
LOOK_SECONDS = 0.001


def staircase(seconds: float, done_at, phase: float = 0) -> Trace:
    """Looks at what is done, which is seen in steps of a block."""
    trace = Trace()
    for look in range(round(seconds / LOOK_SECONDS)):
        now = look * LOOK_SECONDS
        trace.add(now, math.floor(done_at(now) / BLOCK + phase) * BLOCK)
    return trace


@given(
    effect=st.floats(0, 0.45),
    rates=st.sampled_from([(4e6, 16e6), (16e6, 4e6)]),
    phase=st.floats(0, 1),
)
def test_the_breakpoint_is_found(effect, rates, phase):
    old, new = rates

    def done_at(now):
        return old * min(now, effect) + new * max(0, now - effect)

    found = seconds_to_effect(staircase(0.5, done_at, phase), old, new)
    assert found == pytest.approx(effect, abs=0.03)


@given(effect=st.floats(0, 0.4), rates=st.sampled_from([(32e6, 128e6), (128e6, 32e6)]))
def test_looks_before_the_order_make_up_for_long_steps(effect, rates):
    old, new = rates
    step = 2 << 20
    trace = Trace()
    for look in range(1000):
        now = look * LOOK_SECONDS
        done = old * min(now, 0.5 + effect) + new * max(0, now - 0.5 - effect)
        trace.add(now, math.floor(done / step) * step)
    found = seconds_to_effect(trace.since(0.5), old, new)
    assert found == pytest.approx(effect, abs=0.015)


def test_no_effect_is_the_end_of_the_trace():
    trace = staircase(0.5, lambda now: 4e6 * now)
    assert seconds_to_effect(trace, 4e6, 16e6) > 0.45


def test_a_rate_that_stays_has_no_effect():
    with pytest.raises(ValueError, match="no effect"):
        seconds_to_effect(Trace([0.0], [0]), 1e6, 1e6)


@given(rate=st.floats(4e6, 4e7), phase=st.floats(0, 1))
def test_a_kept_rate_is_seen_through_the_steps(rate, phase):
    trace = staircase(2, lambda now: rate * now, phase)
    assert kept_rate(trace, 0.2, 2) == pytest.approx(rate, rel=0.01)


def test_no_steps_are_no_rate():
    with pytest.raises(ValueError, match="no progress"):
        kept_rate(Trace([0, 1, 2], [5, 5, 5]), 0, 2)


def test_tasks_that_have_ended_count_with_what_they_had():
    progress = Progress()
    assert progress.look([{"id": "a", "bytes_done": 10}, {"id": "b", "bytes_done": 1}]) == 11
    assert progress.look([{"id": "b", "bytes_done": 5}]) == 15
    assert progress.look([{"id": "b", "bytes_done": 4}, {"id": "c", "bytes_done": 2}]) == 17
    assert set(progress.done_bytes) == {"a", "b", "c"}


@given(st.lists(st.floats(-1e9, 1e9), min_size=1), st.floats(0.01, 1))
def test_nearest_rank_is_one_of_the_values_with_enough_below(values, share):
    found = nearest_rank(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9


def test_nearest_rank_of_200():
    assert nearest_rank(range(1, 201), 0.99) == 198


def test_the_worst_ratio_is_on_either_side():
    assert furthest_from_one([1.01, 0.98, 1.0]) == 0.98
    assert furthest_from_one([1.05, 0.98]) == 1.05
