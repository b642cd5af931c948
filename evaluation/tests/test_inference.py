"""Intervals against known worked examples, against their definition, and by simulated coverage."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from sluice_evaluation.inference import (
    Caution,
    Shape,
    Verdict,
    block_ratio,
    coefficient_of_variation,
    fieller_set,
    independent_ratio,
    mean_estimate,
    paired_ratio,
)

values = st.floats(0.1, 1000.0)
samples = st.lists(values, min_size=4, max_size=12)


def pairs(low: int = 4):
    return st.integers(low, 12).flatmap(
        lambda n: st.tuples(st.lists(values, min_size=n, max_size=n),
                            st.lists(values, min_size=n, max_size=n))
    )  # fmt: skip


def test_student_sleep_data():
    # Student 1908, Table 1 (additional hours of sleep); R documents the interval of the paired
    # differences as (0.7001142, 2.4598858): help(sleep), t.test(extra ~ group, paired = TRUE).
    estimate = mean_estimate([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
    assert estimate.mean == pytest.approx(1.58)
    assert estimate.lower == pytest.approx(0.7001142, abs=1e-7)
    assert estimate.upper == pytest.approx(2.4598858, abs=1e-7)


def test_fieller_published_calculation():
    # D. Colquhoun's program FIELLER, as documented in DCPROGS/DCSTATS: 14 and 7 with standard
    # deviations 3 and 2, uncorrelated, t = 1.812461 -> limits 1.051413 and 4.414296.
    shape, lower, upper = fieller_set(14.0, 7.0, 9.0, 4.0, 0.0, 1.812461)
    assert shape is Shape.BOUNDED
    assert lower == pytest.approx(1.051413, abs=1e-6)
    assert upper == pytest.approx(4.414296, abs=1e-6)


def test_paired_ratio_is_near_the_published_log_ratio_interval():
    # Bonett and Price 2020 (R package statpsych, ci.ratio.mean.ps): 1.134146 (1.09417, 1.175583).
    # Theirs is on the log scale, so it agrees with Fieller's only to the third digit.
    numerator = [3.3, 3.6, 3.0, 3.1, 3.9, 4.2, 3.5, 3.3]
    denominator = [3.0, 3.1, 2.7, 2.6, 3.2, 3.8, 3.2, 3.0]
    result = paired_ratio(numerator, denominator)
    assert result.ratio == pytest.approx(1.134146, abs=1e-6)
    assert (result.lower, result.upper) == pytest.approx((1.09417, 1.175583), abs=1e-3)


def test_independent_ratio_is_near_the_published_log_ratio_interval():
    # Bonett 2020, ci.ratio.mean2: 1.140592 (0.9897482, 1.314425).
    first = [36, 44, 47, 42, 49, 39, 46, 31, 33, 48]
    second = [32, 39, 26, 35, 43, 27, 40, 37, 34, 29, 49, 42, 40]
    result = independent_ratio(first, second)
    assert result.ratio == pytest.approx(1.140592, abs=1e-6)
    assert (result.lower, result.upper) == pytest.approx((0.9897482, 1.314425), abs=2e-2)


@given(pairs())
def test_paired_set_is_what_the_t_test_does_not_reject(sides):
    numerator, denominator = map(np.array, sides)
    result = paired_ratio(list(numerator), list(denominator))
    for ratio in (0.05, 0.5, 0.9, 1.0, 1.2, 2.0, 30.0, -1.0):
        difference = numerator - ratio * denominator
        assume(np.std(difference) > 1e-9)
        p_value = stats.ttest_1samp(difference, 0.0).pvalue
        assume(abs(p_value - 0.05) > 1e-6)
        assert result.contains(ratio) == (p_value > 0.05)


@given(samples, samples)
def test_independent_set_contains_its_estimate(first, second):
    result = independent_ratio(first, second)
    assert result.contains(result.ratio) or math.isclose(result.lower, result.upper)


@given(pairs(), st.floats(0.01, 100.0))
def test_ratio_scales_with_the_numerator(sides, factor):
    numerator, denominator = sides
    one, scaled = (
        paired_ratio(numerator, denominator),
        paired_ratio([factor * x for x in numerator], denominator),
    )
    assume(one.shape is Shape.BOUNDED and abs(one.upper) < 1e6)
    assert scaled.lower == pytest.approx(factor * one.lower, rel=1e-4, abs=1e-6 * factor)
    assert scaled.upper == pytest.approx(factor * one.upper, rel=1e-4, abs=1e-6 * factor)


@given(pairs())
def test_inverse_ratio_gives_inverse_interval(sides):
    numerator, denominator = sides
    one, inverse = paired_ratio(numerator, denominator), paired_ratio(denominator, numerator)
    assume(one.shape is Shape.BOUNDED and inverse.shape is Shape.BOUNDED)
    assume(one.lower > 1e-3 and inverse.lower > 1e-3)
    assert inverse.lower == pytest.approx(1 / one.upper, rel=1e-4)
    assert inverse.upper == pytest.approx(1 / one.lower, rel=1e-4)


@given(pairs(2))
def test_claims_need_four_runs_and_a_bounded_interval(sides):
    result = paired_ratio(*sides)
    if len(sides[0]) < 4 or result.shape is not Shape.BOUNDED:
        assert result.verdict is Verdict.NOTHING_SHOWN
    if len(sides[0]) < 4:
        assert Caution.FEW_RUNS in result.warnings
    if result.verdict is not Verdict.NOTHING_SHOWN:
        assert not result.contains(1.0)


@given(samples)
def test_a_higher_confidence_gives_a_wider_interval(sample):
    narrow, wide = mean_estimate(sample, 0.9), mean_estimate(sample, 0.99)
    assert wide.lower <= narrow.lower <= narrow.mean <= narrow.upper <= wide.upper


def test_denominator_near_zero_gives_an_exclusive_set():
    result = paired_ratio([100.0, 101.0, 99.0, 100.0], [1.0, -0.9, 0.8, 0.3])
    assert result.shape is Shape.EXCLUSIVE
    assert Caution.EXCLUSIVE in result.warnings
    assert not result.contains(1.0) and result.contains(result.ratio)
    assert result.verdict is Verdict.NOTHING_SHOWN


def test_both_sides_near_zero_give_the_whole_line():
    result = paired_ratio([0.1, -0.2, 0.15, -0.05], [1.0, -0.9, 0.8, -0.7])
    assert result.shape is Shape.UNBOUNDED
    assert Caution.UNBOUNDED in result.warnings
    assert result.contains(-1e9) and result.contains(1e9)


@given(values, st.integers(4, 9))
def test_equal_runs_show_no_difference(value, count):
    assert paired_ratio([value] * count, [value] * count).verdict is Verdict.NOTHING_SHOWN
    assert independent_ratio([value] * count, [value] * count).verdict is Verdict.NOTHING_SHOWN


def test_a_single_run_shows_nothing():
    assert paired_ratio([1.0], [2.0]).shape is Shape.UNBOUNDED
    assert mean_estimate([1.0]).lower == -math.inf
    assert Caution.FEW_RUNS in mean_estimate([1.0]).warnings


def test_no_run_is_an_error():
    with pytest.raises(ValueError, match="at least one run"):
        mean_estimate([])
    with pytest.raises(ValueError, match="at least one"):
        paired_ratio([], [])
    with pytest.raises(ValueError, match="each side"):
        independent_ratio([1.0], [])


def test_high_variance_is_said():
    assert Caution.HIGH_VARIANCE in mean_estimate([1.0, 3.0, 1.0, 9.0]).warnings
    assert Caution.HIGH_VARIANCE not in mean_estimate([1.0, 1.1, 0.9, 1.0]).warnings
    assert coefficient_of_variation([0.0, 1.0, -1.0]) == math.inf


def test_blocks_pair_runs_and_a_missing_block_is_said():
    low, high = {1: 1.0, 2: 2.0, 3: 3.0, 4: 4.0}, {1: 2.0, 2: 4.1, 3: 6.0, 4: 8.1}
    paired = block_ratio(high, low)
    assert paired.paired and paired.verdict is Verdict.HIGHER
    unpaired = block_ratio(high | {5: 9.0}, low)
    assert not unpaired.paired and Caution.UNPAIRED in unpaired.warnings
    # Pairing takes out what blocks share: the same data unpaired shows nothing.
    assert unpaired.verdict is Verdict.NOTHING_SHOWN


def coverage(draw, truth: float, rounds: int = 2000) -> float:
    return sum(draw().contains(truth) for _ in range(rounds)) / rounds


def test_simulated_coverage_of_paired_intervals():
    random = np.random.default_rng(20190701)

    def draw():
        block = random.normal(0.0, 0.5, 5)
        return paired_ratio(
            list(12.0 + block + random.normal(0.0, 0.8, 5)),
            list(10.0 + block + random.normal(0.0, 0.8, 5)),
        )

    # 2,000 rounds: standard error 0.5 %; Fieller's pairs are exact, so within three of them.
    assert coverage(draw, 1.2) == pytest.approx(0.95, abs=0.015)


def test_simulated_coverage_of_independent_intervals():
    random = np.random.default_rng(20190702)

    def draw():
        return independent_ratio(
            list(random.normal(12.0, 2.0, 6)), list(random.normal(10.0, 0.7, 5))
        )

    assert coverage(draw, 1.2) == pytest.approx(0.95, abs=0.015)


def test_simulated_coverage_of_mean_intervals_and_of_false_claims():
    random = np.random.default_rng(20190703)
    hits = claims = 0
    for _ in range(2000):
        first, second = random.normal(10.0, 1.0, (2, 4))
        interval = mean_estimate(list(first))
        hits += interval.lower <= 10.0 <= interval.upper
        claims += paired_ratio(list(first), list(second)).verdict is not Verdict.NOTHING_SHOWN
    assert hits / 2000 == pytest.approx(0.95, abs=0.015)
    # With no difference there, a claim is made in one of twenty comparisons.
    assert claims / 2000 == pytest.approx(0.05, abs=0.015)
