"""Checks frozen settings against the records of the tuning that they are the best of.

By these records alone: the experiment may have changed since. They do not say which of the two
latencies it ranks by, so that a ranking has to be right by one of them.
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sluice_evaluation import freeze, records
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.experiment import TUNE, matches
from sluice_evaluation.records import Record
from sluice_evaluation.schema import violations

WHAT_TO_DO = "bring back what it was frozen from, or tune again in another folder of results"


def find(results: Path) -> Iterator[Path]:
    """All files of frozen settings below a folder, in a stable order."""
    return iter(sorted(results.glob(f"*/*/{freeze.FILE_NAME}")))


def faults(path: Path, results: Path) -> list[str]:
    """Everything wrong with one of them: schema, place, and the ranking made again."""
    try:
        frozen = json.loads(path.read_text())
    except (OSError, json.JSONDecodeError) as error:
        return [f"{path}: cannot be read: {error}"]
    wrong = violations(frozen, "frozen") or _place_faults(path, results, frozen)
    if not wrong:
        wrong = _choice_faults(path, frozen)
    return [f"{path}: {text}" for text in wrong]


def _place_faults(path: Path, results: Path, frozen: dict[str, Any]) -> list[str]:
    expected = freeze.path_of(results, frozen["experiment"], frozen["profile"])
    return [] if path == expected else [f"is of {expected.parent.relative_to(results)}"]


def _choice_faults(path: Path, frozen: dict[str, Any]) -> list[str]:
    """Those by the latency that explains the file best."""
    try:
        found = [records.load(p) for p in records.find_in(path.parent)]
    except EvaluationError as error:
        return [f"a record beside it is wrong: {error}"]
    tuning = [record for record in found if record.plan["stage"] == TUNE]
    by_latency = [
        [text for choice in frozen["choices"] for text in _wrong(choice, frozen, tuning, latency)]
        for latency in ("measured", "intended")
    ]
    return min(by_latency, key=len)


def _wrong(
    choice: dict[str, Any], frozen: dict[str, Any], tuning: list[Record], latency: str
) -> list[str]:
    try:
        ranking, ranked_by = freeze.ranked(frozen, _group(choice, frozen, tuning), tuning, latency)
    except EvaluationError as error:
        return [f"the choice for {choice['per']}: {error}"]
    wrong = []
    told_by = choice.get("ranked_by", frozen["metric"])
    if told_by != ranked_by or not _is_same(choice["ranking"], ranking):
        wrong.append(
            f"the ranking for {choice['per']} is not what the records of the tuning give: "
            f"{WHAT_TO_DO}"
        )
    if choice["cell"] != choice["ranking"][0]["cell"]:
        wrong.append(f"{choice['cell']} is chosen, and not the first of its ranking: {WHAT_TO_DO}")
    if not _has_settings(choice, tuning):
        wrong.append(f"the settings of {choice['cell']} are not those of its runs: {WHAT_TO_DO}")
    return wrong


def _group(choice: dict[str, Any], frozen: dict[str, Any], tuning: list[Record]) -> freeze.Group:
    """The cells that were ranked for a choice, and what they were measured by."""
    left_out = {entry["cell"] for entry in choice.get("left_out", ())}
    cells = {record.plan["cell"]: record.plan["factors"] for record in tuning}
    reference = frozen.get("within", {}).get("to")
    return {
        identifier: factors
        for identifier, factors in cells.items()
        if matches(factors, choice["per"])
        and (identifier not in left_out or (reference and matches(factors, reference)))
    }


def _is_same(told: list[dict[str, Any]], found: list[tuple[float, str]]) -> bool:
    return [entry["cell"] for entry in told] == [cell for _, cell in found] and all(
        math.isclose(entry["value"], value, rel_tol=1e-9)
        for entry, (value, _) in zip(told, found, strict=True)
    )


def _has_settings(choice: dict[str, Any], tuning: list[Record]) -> bool:
    runs = [r for r in tuning if r.complete and r.plan["cell"] == choice["cell"]]
    return bool(runs) and all(
        choice["settings"].items() <= run.plan["settings"].items() for run in runs
    )
