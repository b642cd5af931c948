"""Confidence intervals of means and of ratios of means, with warnings that travel along.

Sources: Student's t interval: Student, Biometrika 6, 1908. Ratio intervals: E. C. Fieller, "Some
problems in interval estimation", J. R. Stat. Soc. B 16, 1954; their three shapes: V. H. Franz,
"Ratios: A short guide to confidence limits and proper use", arXiv:0710.2024, 2007. Degrees of
freedom for unequal variances: A. C. Tamhane and B. R. Logan, J. Biopharm. Stat. 14, 2004.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy import stats

CONFIDENCE = 0.95
# With three runs a side a rank test cannot get below p = 0.1, whatever the data.
MINIMUM_RUNS = 4
# Runs that scatter more than this give wide intervals; the reader is told why.
HIGH_VARIATION = 0.25
ROUNDING = 1e-9


class Caution(StrEnum):
    """Reasons to read a result with care."""

    FEW_RUNS = "few-runs"
    HIGH_VARIANCE = "high-variance"
    UNBOUNDED = "unbounded"
    EXCLUSIVE = "exclusive"
    UNPAIRED = "unpaired"
    INCOMPLETE = "incomplete"
    LACKING = "lacking"
    FAILED_RUNS = "failed-runs"
    OUTDATED = "outdated"
    MIXED_SOFTWARE = "mixed-software"
    MIXED_ENVIRONMENT = "mixed-environment"
    ERRORS = "errors"
    OVERLOADED = "overloaded"
    LATE = "late"
    STOLEN = "stolen"
    OTHERS = "others"
    SLOW_MACHINE = "slow-machine"
    GENERATOR_WAITED = "generator-waited"
    SIMULTANEOUS = "simultaneous"


CAUTION_TEXT = {
    Caution.FEW_RUNS: f"fewer than {MINIMUM_RUNS} runs on a side: nothing is claimed",
    Caution.HIGH_VARIANCE: f"runs vary by more than {HIGH_VARIATION:.0%} of their mean",
    Caution.UNBOUNDED: "the interval of the ratio is the whole line: the data say nothing",
    Caution.EXCLUSIVE: "the baseline's mean cannot be told from 0: no upper end",
    Caution.UNPAIRED: "some blocks lack a run on one side: compared as independent samples",
    Caution.INCOMPLETE: "some complete runs lack this figure, as where what it measures did not "
    "end in them: nothing is claimed",
    Caution.LACKING: "none of the complete runs of a cell has this figure, as where what it "
    "measures did not end in any of them: nothing is claimed",
    Caution.FAILED_RUNS: "some runs failed; they are listed under failures",
    Caution.OUTDATED: "some runs were made as an earlier version of the experiment's file planned "
    "them",
    Caution.MIXED_SOFTWARE: "runs that are compared used different images or packages",
    Caution.MIXED_ENVIRONMENT: "runs were made on different machines or kernels",
    Caution.ERRORS: "some operations returned an error",
    Caution.OVERLOADED: "over 1 % of what was due was never issued: latencies are too low",
    Caution.LATE: "requests of the warm-up were still to be issued when the normal phase of one of "
    "the runs began: latencies hold their wait",
    Caution.STOLEN: "over 1 % of the processors' time went to other machines in one of the runs",
    Caution.OTHERS: "programs that are of no node had over 30 % of the processors' time in one of "
    "the runs: they may have had what latencies and throughput lack",
    Caution.SLOW_MACHINE: "before one of the runs, system calls or page faults took the processors "
    "over 25 % longer than before the quickest of the runs: what else uses their caches and memory "
    "changes latencies too",
    Caution.GENERATOR_WAITED: "a load generator waited for its own processor quota for over 1 % of "
    "the time of one of the runs: latencies hold that",
    Caution.SIMULTANEOUS: "the largest of several ratios: its interval is widened for all of them "
    "(Bonferroni)",
}


class Verdict(StrEnum):
    """What an interval of a ratio shows."""

    LOWER = "lower"
    HIGHER = "higher"
    NOTHING_SHOWN = "~"


class Shape(StrEnum):
    """The three shapes of a Fieller set."""

    BOUNDED = "bounded"
    EXCLUSIVE = "exclusive"  # everything except the open interval (lower, upper)
    UNBOUNDED = "unbounded"  # the whole line


@dataclass(frozen=True)
class MeanEstimate:
    """Mean of runs with its Student t interval; infinite ends when there is a single run."""

    mean: float
    lower: float
    upper: float
    runs: int
    confidence: float
    warnings: tuple[Caution, ...] = ()


@dataclass(frozen=True)
class RatioEstimate:
    """Ratio of two means with its Fieller set."""

    ratio: float
    lower: float
    upper: float
    shape: Shape
    numerator_runs: int
    denominator_runs: int
    paired: bool
    confidence: float
    warnings: tuple[Caution, ...] = ()

    def contains(self, value: float) -> bool:
        """Whether the set does not rule `value` out."""
        if self.shape is Shape.UNBOUNDED:
            return True
        # Equal runs on both sides give an interval of no width, right up to rounding.
        slack = ROUNDING * max(1.0, abs(value))
        if self.shape is Shape.BOUNDED:
            return self.lower - slack <= value <= self.upper + slack
        return not self.lower + slack < value < self.upper - slack

    @property
    def claimable(self) -> bool:
        """Whether anything may be claimed: a bounded interval from enough runs, none left out."""
        enough = min(self.numerator_runs, self.denominator_runs) >= MINIMUM_RUNS
        whole = Caution.INCOMPLETE not in self.warnings
        return enough and whole and self.shape is Shape.BOUNDED

    @property
    def verdict(self) -> Verdict:
        """Lower or higher than 1 when shown, else `~`."""
        if not self.claimable or self.contains(1.0):
            return Verdict.NOTHING_SHOWN
        return Verdict.LOWER if self.ratio < 1.0 else Verdict.HIGHER


def coefficient_of_variation(values: Sequence[float]) -> float:
    """Sample standard deviation over mean; 0 for a single value, infinite when the mean is 0."""
    if len(values) < 2:
        return 0.0
    mean, deviation = float(np.mean(values)), float(np.std(values, ddof=1))
    if deviation == 0.0:
        return 0.0
    return deviation / abs(mean) if mean else math.inf


def _sample_cautions(*samples: Sequence[float]) -> tuple[Caution, ...]:
    found = []
    if min(len(sample) for sample in samples) < MINIMUM_RUNS:
        found.append(Caution.FEW_RUNS)
    if max(coefficient_of_variation(sample) for sample in samples) > HIGH_VARIATION:
        found.append(Caution.HIGH_VARIANCE)
    return tuple(found)


def mean_estimate(values: Sequence[float], confidence: float = CONFIDENCE) -> MeanEstimate:
    """Mean with Student t interval; ValueError when `values` is empty."""
    if not values:
        raise ValueError("a mean needs at least one run")
    mean, warnings = float(np.mean(values)), _sample_cautions(values)
    if len(values) == 1:
        return MeanEstimate(mean, -math.inf, math.inf, 1, confidence, warnings)
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    half_width = float(stats.t.ppf((1 + confidence) / 2, len(values) - 1)) * error
    return MeanEstimate(
        mean, mean - half_width, mean + half_width, len(values), confidence, warnings
    )


def fieller_set(
    numerator: float,
    denominator: float,
    numerator_variance: float,
    denominator_variance: float,
    covariance: float,
    quantile: float,
) -> tuple[Shape, float, float]:
    """All ratios r whose difference numerator - r * denominator is within quantile standard errors.

    Variances and covariance are those of the two means. Squaring gives a quadratic in r; the signs
    of its leading coefficient (is the denominator told from 0?) and of its discriminant give the
    three shapes.
    """
    square = quantile * quantile
    a = denominator**2 - square * denominator_variance
    b = numerator * denominator - square * covariance
    c = numerator**2 - square * numerator_variance
    discriminant = b * b - a * c
    if a > 0:
        # Never negative in exact arithmetic, as the ratio itself is in the set.
        root = math.sqrt(max(discriminant, 0.0))
        return Shape.BOUNDED, (b - root) / a, (b + root) / a
    if a == 0 or discriminant <= 0:
        return Shape.UNBOUNDED, -math.inf, math.inf
    root = math.sqrt(discriminant)
    ends = sorted(((b - root) / a, (b + root) / a))
    return Shape.EXCLUSIVE, ends[0], ends[1]


def _ratio_of(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else math.nan


def _shape_cautions(shape: Shape) -> tuple[Caution, ...]:
    return {
        Shape.BOUNDED: (),
        Shape.EXCLUSIVE: (Caution.EXCLUSIVE,),
        Shape.UNBOUNDED: (Caution.UNBOUNDED,),
    }[shape]


def paired_ratio(
    numerator: Sequence[float], denominator: Sequence[float], confidence: float = CONFIDENCE
) -> RatioEstimate:
    """Ratio of means of runs paired by block (n - 1 degrees of freedom); exact for normal pairs.

    ValueError when the two differ in length or are empty.
    """
    count = len(numerator)
    if count != len(denominator) or count == 0:
        raise ValueError("paired runs need as many numerators as denominators, and at least one")
    means = float(np.mean(numerator)), float(np.mean(denominator))
    warnings = _sample_cautions(numerator, denominator)
    if count == 1:
        shape, lower, upper = Shape.UNBOUNDED, -math.inf, math.inf
    else:
        covariances = np.cov(numerator, denominator, ddof=1) / count
        quantile = float(stats.t.ppf((1 + confidence) / 2, count - 1))
        shape, lower, upper = fieller_set(
            *means, *(float(covariances[i]) for i in ((0, 0), (1, 1), (0, 1))), quantile
        )
    return RatioEstimate(
        _ratio_of(*means), lower, upper, shape, count, count, True, confidence,
        warnings + _shape_cautions(shape),
    )  # fmt: skip


def independent_ratio(
    numerator: Sequence[float], denominator: Sequence[float], confidence: float = CONFIDENCE
) -> RatioEstimate:
    """Ratio of means of independent samples of unequal variance.

    Satterthwaite's degrees of freedom, at the estimated ratio. ValueError when a side is empty.
    """
    counts = len(numerator), len(denominator)
    if min(counts) == 0:
        raise ValueError("a ratio needs at least one run on each side")
    means = float(np.mean(numerator)), float(np.mean(denominator))
    warnings = _sample_cautions(numerator, denominator)
    ratio = _ratio_of(*means)
    if min(counts) == 1 or math.isnan(ratio):
        shape, lower, upper = Shape.UNBOUNDED, -math.inf, math.inf
    else:
        variances = [float(np.var(side, ddof=1)) / len(side) for side in (numerator, denominator)]
        freedom = _satterthwaite(variances[0], ratio * ratio * variances[1], *counts)
        quantile = float(stats.t.ppf((1 + confidence) / 2, freedom))
        shape, lower, upper = fieller_set(*means, *variances, 0.0, quantile)
    return RatioEstimate(
        ratio, lower, upper, shape, *counts, False, confidence, warnings + _shape_cautions(shape)
    )


def _satterthwaite(first: float, second: float, first_runs: int, second_runs: int) -> float:
    total = first + second
    if total == 0.0:
        return first_runs + second_runs - 2.0
    return total**2 / (first**2 / (first_runs - 1) + second**2 / (second_runs - 1))


def block_ratio(
    numerator: dict[int, float], denominator: dict[int, float], confidence: float = CONFIDENCE
) -> RatioEstimate:
    """Ratio of runs keyed by block: paired when the blocks agree, else independent."""
    if numerator.keys() == denominator.keys():
        blocks = sorted(numerator)
        return paired_ratio(
            [numerator[b] for b in blocks], [denominator[b] for b in blocks], confidence
        )
    result = independent_ratio(list(numerator.values()), list(denominator.values()), confidence)
    return RatioEstimate(**{**result.__dict__, "warnings": (*result.warnings, Caution.UNPAIRED)})
