"""Ratios of two sides that were measured in pairs, as figures."""

from __future__ import annotations

from sluice_evaluation.inference import Shape, paired_ratio
from sluice_evaluation.measurements import NO_INTERVAL, Figure


def ratio_figure(
    what: str, values: list[float], base: list[float], expected: dict[str, float] | None = None
) -> Figure:
    """Ratio of the means with Fieller's interval at 95%.

    An unbounded interval has no ends: it is told so, and meets no bound.
    """
    estimate = paired_ratio(values, base)
    if estimate.shape is not Shape.BOUNDED:
        return Figure(what + NO_INTERVAL, "1", estimate.ratio, values=values)
    return Figure(what, "1", estimate.ratio, estimate.lower, estimate.upper, expected, values)


def distance_from_one(figure: Figure) -> float:
    """How far the interval is from 1, 0 when it contains it; ValueError when it has no ends."""
    if figure.low is None or figure.high is None:
        raise ValueError(f"{figure.quantity}: there is no interval")
    return max(0.0, figure.low - 1, 1 - figure.high)


def near_one(bound: float | None) -> dict[str, float] | None:
    """What is expected of a ratio that may differ from 1 by so much."""
    return {"min": 1 - bound, "max": 1 + bound} if bound else None


def shown_difference(figure: Figure) -> Figure:
    """Whether anything is shown at all: how far the interval is from 1."""
    return Figure(
        f"{figure.quantity}: from 1 to the interval",
        "1",
        distance_from_one(figure),
        expected={"max": 0.0},
    )
