"""Ratios that were measured more than once on the same software, taken together.

Each measurement is weighted by the inverse of its variance, to which what measurements differ by
beyond their own scatter is added: R. DerSimonian and N. Laird, "Meta-analysis in clinical trials",
Controlled Clinical Trials 7, 1986. Their few measurements tell little of what they differ by, so
the interval is Student's with one degree of freedom less than there are: J. Hartung and G. Knapp,
"On tests of the overall treatment effect in meta-analysis with normally distributed responses",
Statistics in Medicine 20, 2001; never narrower than by the variances themselves: G. Knapp and
J. Hartung, "Improved tests for a random effects meta-regression with a single covariate",
Statistics in Medicine 22, 2003. All measurements that have an interval take part: none is chosen,
and those whose interval was unbounded are counted.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from scipy import stats

from sluice_evaluation.inference import CONFIDENCE
from sluice_evaluation.measurements import NO_INTERVAL, Figure, Measurement

# Two measurements have one difference: what others would differ by cannot be told from it.
MINIMUM_MEASUREMENTS = 3


@dataclass(frozen=True)
class Pooled:
    """A ratio over several measurements.

    `values` counts those of all measurements; `between` is the standard deviation of what the
    measurements differ by beyond their own scatter, 0 when nothing of the kind shows.
    `without_interval` counts the measurements that have no weight, as they have no variance.
    """

    store: str
    version: str
    figure: Figure
    measurements: int
    values: int
    between: float
    without_interval: int = 0

    @property
    def count_text(self) -> str:
        """What it was taken from."""
        text = f"{self.measurements} measurements, {self.values} values"
        if not self.without_interval:
            return text
        return f"{text}; {self.without_interval} more had no interval, and no part in it"

    @property
    def status(self) -> str:
        """That of the figure; `~` where there are too few measurements to judge by."""
        if self.figure.expected and self.measurements < MINIMUM_MEASUREMENTS:
            return "~"
        return self.figure.status

    def as_dict(self) -> dict[str, Any]:
        """For output that scripts read."""
        return asdict(self) | {"status": self.status}


def pooled(measured: Iterable[Measurement]) -> list[Pooled]:
    """Each ratio with an interval that two or more measurements of the same software have."""
    groups: dict[tuple[str, ...], list[Figure]] = defaultdict(list)
    without: Counter[tuple[str, ...]] = Counter()
    for measurement in measured:
        document = measurement.document
        software = json.dumps(document["software"], sort_keys=True)
        for figure in measurement.figures:
            quantity = figure.quantity.removesuffix(NO_INTERVAL)
            key = (document["store"], document["version"], software, quantity)
            if _is_ratio(figure):
                groups[key].append(figure)
            elif quantity != figure.quantity:
                without[key] += 1
    return [
        replace(_pool(*key[:2], figures), without_interval=without[key])
        for key, figures in groups.items()
        if len(figures) > 1
    ]


def _is_ratio(figure: Figure) -> bool:
    if figure.low is None or figure.high is None or figure.low == figure.high:
        return False
    return figure.unit == "1" and len(figure.values) > 1


def _variance(figure: Figure) -> float:
    """That of the ratio, from its interval; over many values Fieller's is Student's around it."""
    quantile = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(figure.values) - 1))
    return ((figure.high - figure.low) / 2 / quantile) ** 2


def _pool(store: str, version: str, figures: Sequence[Figure]) -> Pooled:
    ratios, variances = [f.value for f in figures], [_variance(f) for f in figures]
    between = _variance_between(ratios, variances)
    mean, half_width = _interval(ratios, [v + between for v in variances])
    last = figures[-1]
    figure = Figure(
        last.quantity, "1", mean, mean - half_width, mean + half_width, expected=last.expected
    )
    count = sum(len(f.values) for f in figures)
    return Pooled(store, version, figure, len(figures), count, math.sqrt(between))


def _interval(ratios: Sequence[float], variances: Sequence[float]) -> tuple[float, float]:
    """Mean, and half the width of Hartung and Knapp's interval."""
    mean, error = _weighted(ratios, variances)
    freedom = len(ratios) - 1
    # Ratios that happen to agree are no reason for an interval narrower than their own scatter.
    factor = max(1.0, _cochran_q(ratios, variances, mean) / freedom)
    return mean, float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom)) * error * math.sqrt(factor)


def _weighted(ratios: Sequence[float], variances: Sequence[float]) -> tuple[float, float]:
    """Mean by inverse variance, and its standard error."""
    total = sum(1 / v for v in variances)
    mean = sum(r / v for r, v in zip(ratios, variances, strict=True)) / total
    return mean, math.sqrt(1 / total)


def _variance_between(ratios: Sequence[float], variances: Sequence[float]) -> float:
    """DerSimonian and Laird's estimate, from Cochran's Q."""
    mean, _ = _weighted(ratios, variances)
    weights = [1 / v for v in variances]
    q = _cochran_q(ratios, variances, mean)
    scale = sum(weights) - sum(w * w for w in weights) / sum(weights)
    return max(0.0, (q - (len(ratios) - 1)) / scale)


def _cochran_q(ratios: Sequence[float], variances: Sequence[float], mean: float) -> float:
    """Squared distances from the mean, each in units of its variance."""
    return sum((r - mean) ** 2 / v for r, v in zip(ratios, variances, strict=True))
