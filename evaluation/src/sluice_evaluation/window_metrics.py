"""Latency in parts of the normal phase: in bursts, between them, and while the store works behind.

A run in which the store did no such work has the latency of all of its normal phase there: it is
what the others are compared with.
"""

from collections.abc import Iterable
from typing import Any

from sluice_evaluation import histograms
from sluice_evaluation.histograms import Interval
from sluice_evaluation.raw_clients import Key, counted_of, is_scheduled, of_kind

# Of the summary; more would fill the tables.
QUANTITIES = ("mean_seconds", "p99_seconds")

TAIL_PERCENTILE = 99.99

# Seconds since the origin of the run.
Span = tuple[float, float]


def latency_by_window(
    clients: dict[Key, list[Interval]],
    planned: dict[str, Any],
    normal: dict[str, float],
    origin: float,
    busy: tuple[str, list[Span]] | None,
) -> dict[str, float]:
    """Metrics by name, from the time that requests were due where there is a schedule.

    `busy` has a word for the work behind, and when it was done; None for a store that does not say.
    """
    kind = "intended" if is_scheduled(planned) else "measured"
    every = of_kind(counted_of(clients, planned), kind)
    inside = _within(every, [(normal["start_seconds"], normal["end_seconds"])], origin)
    parts = _parts(inside, planned, origin)
    if busy is not None:
        word, spans = busy
        named = {word: inside} | {f"{word}_{name}": part for name, part in parts.items()}
        parts |= {
            name: _within(part, spans, origin) if spans else part for name, part in named.items()
        }
    return {metric: value for name, part in parts.items() for metric, value in _metrics(name, part)}


def tail_latency(
    clients: dict[Key, list[Interval]],
    planned: dict[str, Any],
    normal: dict[str, float],
    origin: float,
) -> dict[str, float]:
    """The slowest of 10,000 in the normal phase, which summaries do not hold."""
    kind = "intended" if is_scheduled(planned) else "measured"
    every = of_kind(counted_of(clients, planned), kind)
    inside = _within(every, [(normal["start_seconds"], normal["end_seconds"])], origin)
    merged = histograms.merge(interval.distribution for interval in inside)
    return {"tail_latency_p99_99_seconds": merged.percentile_seconds(TAIL_PERCENTILE)}


def _parts(
    inside: list[Interval], planned: dict[str, Any], origin: float
) -> dict[str, list[Interval]]:
    bursts = [
        (window["start_seconds"], window["end_seconds"])
        for window in planned["windows"]
        if window["kind"] == "burst"
    ]
    parts = _last_part(inside, planned, origin)
    if not bursts:
        return parts
    within = _within(inside, bursts, origin)
    taken = {id(interval) for interval in within}
    between = [interval for interval in inside if id(interval) not in taken]
    return parts | {"bursts": within, "between_bursts": between}


def _last_part(
    inside: list[Interval], planned: dict[str, Any], origin: float
) -> dict[str, list[Interval]]:
    """What is left of the normal phase once all that was to be done in it is done."""
    share = planned["measure"].get("last_part_share")
    if share is None:
        return {}
    normal = next(p for p in planned["phases"] if p["name"] == "normal")
    start, end = normal["start_seconds"], normal["end_seconds"]
    return {"last_part": _within(inside, [(end - share * (end - start), end)], origin)}


def _within(intervals: list[Interval], spans: list[Span], origin: float) -> list[Interval]:
    """The intervals whose middle lies in a span, each once."""
    found: dict[int, Interval] = {}
    for start, end in spans:
        inside = histograms.between(intervals, origin + start, origin + end)
        found |= {id(interval): interval for interval in inside}
    return list(found.values())


def _metrics(name: str, intervals: list[Interval]) -> Iterable[tuple[str, float]]:
    summary = histograms.merge(interval.distribution for interval in intervals).summary()
    for quantity in QUANTITIES:
        if summary[quantity] is not None:
            yield f"{name}_latency_{quantity}", summary[quantity]
