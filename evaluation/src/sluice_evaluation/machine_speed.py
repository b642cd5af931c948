"""How much slower a machine did work of kernel and memory than the fastest one that is known.

What is compared are the medians that `probes/processors.py` gives of its windows. Stolen time says
nothing of guests of the same host that use the caches and the memory which its processors share.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sluice_evaluation.probes.processors import KINDS
from sluice_evaluation.records import Record

# Where the report warns of it, and nothing is run: docs/evaluation.md says why it is this one.
MOST_SLOWDOWN_RATIO = 1.25


def fastest(observed: Iterable[dict[str, Any]]) -> dict[str, float]:
    """The largest median of each kind, per processor second; {} of nothing."""
    known = list(observed)
    return {kind: max(_median(one, kind) for one in known) for kind in KINDS} if known else {}


def slowdowns(observed: dict[str, Any], best: dict[str, float]) -> dict[str, float]:
    """How many times as long work of each kind took as at its best: 1 is as fast as that."""
    return {kind: rate / _median(observed, kind) for kind, rate in best.items()}


def complaints(
    observed: dict[str, Any], best: dict[str, float], most_slowdown: float, results: Path
) -> list[str]:
    """Each kind of work that is too slow, with what to do next; `results` is where `best` is."""
    return [
        f"{kind.replace('_', ' ')} took {ratio:.2f} times the processor time that they took before "
        f"the fastest of the runs in {results} on the same processors, more than "
        f"{most_slowdown:g} times: measure when what slows this machine down is gone, or on "
        "another one; where it will stay as it is, record into another folder (--results)"
        for kind, ratio in slowdowns(observed, best).items()
        if ratio > most_slowdown
    ]


def _median(observed: dict[str, Any], kind: str) -> float:
    return observed[kind]["median_per_processor_second"]


def observed_before(members: Iterable[Record]) -> list[dict[str, Any]]:
    """What was seen of the machine before each run; runs of earlier versions have nothing."""
    return [m.document["processors"] for m in members if "processors" in m.document]


def on_same_processors(members: Iterable[Record], environment: dict[str, Any]) -> list[Record]:
    """The runs on as many processors of the same model; kernel and memory may have changed."""
    return [
        m for m in members if (m.document["environment"] or {}).get("cpu") == environment["cpu"]
    ]


def slow_runs(members: Iterable[Record]) -> list[Record]:
    """The runs whose machine was slower than the fastest of them all by more than the bound."""
    members = list(members)
    best = fastest(observed_before(members))
    return [member for member in members if _is_slow(member, best)]


def _is_slow(member: Record, best: dict[str, float]) -> bool:
    observed = member.document.get("processors")
    if observed is None:
        return False
    return max(slowdowns(observed, best).values()) > MOST_SLOWDOWN_RATIO
