"""Settings that a tuning stage finds, written down once before anything is measured with them."""

import json
import math
import os
from collections import defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path
from statistics import median
from typing import Any

from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.experiment import TUNE, Cell, Experiment, matches
from sluice_evaluation.records import Record, result_directory

# The factors of cells, by id.
Group = dict[str, dict[str, Any]]

FILE_NAME = "frozen.json"
# What cells are ranked by where none keeps to a bound.
RATIO = "largest_ratio"


def path_of(results: Path, experiment: str, profile: str) -> Path:
    """Where frozen settings of an experiment's profile lie."""
    return results / experiment / profile / FILE_NAME


def load(results: Path, experiment: str, profile: str) -> dict[str, Any] | None:
    """The frozen settings, or None before tuning is done."""
    path = path_of(results, experiment, profile)
    return json.loads(path.read_text()) if path.is_file() else None


def left_out(frozen: dict[str, Any] | None) -> set[str]:
    """The cells that were not ranked, as a run of them failed or lacks a figure."""
    choices = frozen["choices"] if frozen else ()
    return {entry["cell"] for choice in choices for entry in choice.get("left_out", ())}


def settings_for(frozen: dict[str, Any], factors: dict[str, Any]) -> dict[str, Any]:
    """The chosen settings for a cell with these factors."""
    for choice in frozen["choices"]:
        if all(factors.get(name) == value for name, value in choice["per"].items()):
            return choice["settings"]
    raise EvaluationError(
        f"nothing was tuned for {factors}, only per {frozen['per']}: "
        "the experiment has changed since; tune again in another folder of results"
    )


def choose(
    experiment: Experiment, profile: str, records: Iterable[Record], without_failed: bool = False
) -> dict[str, Any]:
    """The best cell of the tuning stage for each value of `per`.

    EvaluationError while a run is not complete; `without_failed` leaves cells out of which one
    failed.
    """
    tuning = [r for r in records if _is_tuning(r, experiment, profile)]
    select = experiment.stage(TUNE)["select"]
    cells = {cell.id: cell for cell in experiment.cells(profile, TUNE)}
    failed = _failed(cells, experiment.runs(profile, TUNE), tuning)
    if failed and not without_failed:
        raise EvaluationError(
            f"tuning is not finished, as these runs failed: "
            f"{', '.join(str(result_directory(r.plan, failed=True)) for r in failed.values())}; "
            "their record.json says why: remove these folders and run the plan again, or leave "
            "their cells out with freeze --without-failed"
        )
    groups: dict[tuple, dict[str, Cell]] = defaultdict(dict)
    for identifier, cell in cells.items():
        key = tuple((name, cell.factors[name]) for name in select["per"])
        groups[key][identifier] = cell
    choices = [
        _choice(dict(key), group, experiment, tuning, failed)
        for key, group in sorted(groups.items())
    ]
    return {
        "schema_version": 1,
        "experiment": experiment.name,
        "experiment_sha256": experiment.digest(),
        "profile": profile,
        "metric": select["metric"],
        "best": select["best"],
        **{name: select[name] for name in ("within",) if name in select},
        "per": select["per"],
        "choices": choices,
    }


def _failed(cells: dict[str, Cell], runs: int, tuning: list[Record]) -> dict[str, Record]:
    """Cells with a run that failed and was not made since; EvaluationError when runs are left."""
    complete = {(r.plan["cell"], r.plan["run"]) for r in tuning if r.complete}
    # The last attempt of a run comes last.
    attempts = sorted((r for r in tuning if not r.complete), key=lambda r: r.plan["attempt"])
    failed = {(r.plan["cell"], r.plan["run"]): r for r in attempts}
    missing = [key for i in cells for n in range(1, runs + 1) if (key := (i, n)) not in complete]
    if left := [f"{cell} run {run}" for cell, run in missing if (cell, run) not in failed]:
        raise EvaluationError(
            f"tuning is not finished: {len(left)} of {len(cells) * runs} runs are left "
            f"({', '.join(left[:3])}, ...); run the plan first"
        )
    return {cell: failed[cell, run] for cell, run in missing}


def ranked(
    select: dict[str, Any], group: Group, tuning: list[Record], latency: str
) -> tuple[list[tuple[float, str]], str]:
    """Cells by a metric, best first, and which: those beyond the bound of `within` left out."""
    values = _medians(tuning, select["metric"], group, latency)
    within = select.get("within")
    if within is None:
        return _sorted(values, select["best"]), select["metric"]
    most, ratios = within["largest_ratio"], _largest_ratios(within, group, tuning, latency)
    allowed = {i: v for i, v in values.items() if ratios.get(i, math.inf) <= most}
    if allowed:
        return _sorted(allowed, select["best"]), select["metric"]
    # None keeps to it: then the one that comes nearest.
    return _sorted({i: ratio for i, ratio in ratios.items() if i in values}, "lowest"), RATIO


def _largest_ratios(
    within: dict[str, Any], group: Group, tuning: list[Record], latency: str
) -> dict[str, float]:
    """By cell, the largest of what its metrics are to those of the reference.

    A cell without one of the metrics has none; EvaluationError when no reference has it.
    """
    reference = {i for i, factors in group.items() if matches(factors, within["to"])}
    largest: dict[str, float] = {}
    for metric in within["metrics"]:
        values = _medians(tuning, metric, group, latency)
        quiet = [values[i] for i in reference if i in values]
        if not quiet:
            raise EvaluationError(
                f"no tuning cell of the reference {within['to']}, which the others are measured "
                f"by, has {metric} in each of its complete runs: run it again"
            )
        for i in group.keys() - reference:
            ratio = values.get(i, math.inf) / min(quiet)
            largest[i] = max(largest.get(i, 0), ratio)
    return {i: ratio for i, ratio in largest.items() if ratio < math.inf}


def _sorted(values: dict[str, float], best: str) -> list[tuple[float, str]]:
    pairs = ((value, identifier) for identifier, value in values.items())
    return sorted(pairs, reverse=best == "highest")


def _lacking(
    select: dict[str, Any], group: Group, tuning: list[Record], latency: str
) -> list[dict[str, str]]:
    """Cells that are not ranked as only some of their runs have what they would be ranked by."""
    found = {}
    for metric in (select["metric"], *select.get("within", {}).get("metrics", ())):
        for identifier, values in _values(tuning, metric, group, latency).items():
            if None in values and any(value is not None for value in values):
                found.setdefault(identifier, f"a complete run lacks {metric}")
    return [{"cell": identifier, "because": text} for identifier, text in sorted(found.items())]


def _in_words(entries: list[dict[str, str]]) -> str:
    texts = [f"{entry['cell']}: {entry['because']}" for entry in entries]
    return f" ({'; '.join(texts)})" if texts else ""


def _medians(
    tuning: list[Record], metric: str, cells: Collection[str], latency: str
) -> dict[str, float]:
    """The metric by cell, of the cells that have it in each run.

    A run without it is often one in which a compaction did not end: the slowest of its cell.
    """
    values = _values(tuning, metric, cells, latency)
    return {i: median(found) for i, found in values.items() if None not in found}


def _values(
    tuning: list[Record], metric: str, cells: Collection[str], latency: str
) -> dict[str, list[float | None]]:
    """The metric of each complete run by cell."""
    values = defaultdict(list)
    for record in tuning:
        if record.complete and record.plan["cell"] in cells:
            values[record.plan["cell"]].append(record.value(metric, latency))
    return values


def _is_tuning(record: Record, experiment: Experiment, profile: str) -> bool:
    plan = record.plan
    place = plan["experiment"], plan["profile"], plan["stage"]
    return place == (experiment.name, profile, TUNE)


def _choice(
    per: dict, group: dict[str, Cell], experiment: Experiment, tuning: list, failed: dict
) -> dict[str, Any]:
    """The best of a group, with the whole ranking and what is not in it for lack of a figure."""
    select, latency = experiment.stage(TUNE)["select"], experiment.document["latency"]
    kept = {i: cell.factors for i, cell in group.items() if i not in failed}
    unranked = [
        {"cell": identifier, "because": f"run {failed[identifier].plan['run']} failed"}
        for identifier in sorted(group.keys() & failed)
    ] + _lacking(select, kept, tuning, latency)
    ranking, ranked_by = ranked(select, kept, tuning, latency)
    if not ranking:
        raise EvaluationError(
            f"no tuning cell of {per} has {select['metric']} in each of its complete runs"
            f"{_in_words(unranked)}: look at why in its records"
        )
    best = group[ranking[0][1]]
    return {
        "per": per,
        "cell": best.id,
        "settings": _settings(best, experiment),
        "ranking": [{"cell": identifier, "value": value} for value, identifier in ranking],
        # Where there was a bound, and none kept to it, it is not the metric.
        **({"ranked_by": ranked_by} if "within" in select else {}),
        **({"left_out": unranked} if unranked else {}),
    }


def _settings(cell: Cell, experiment: Experiment) -> dict[str, Any]:
    levels = [
        level["settings"]
        for factor in experiment.stage(TUNE)["factors"]
        for level in factor["levels"]
        if cell.factors[factor["name"]] == level["value"] and "settings" in level
    ]
    return {name: value for settings in levels for name, value in settings.items()}


def write(results: Path, frozen: dict[str, Any]) -> Path:
    """Write the choice; EvaluationError when there is one, since it may not change any more."""
    path = path_of(results, frozen["experiment"], frozen["profile"])
    path.parent.mkdir(parents=True, exist_ok=True)
    # Whole or not there: half of it would neither be read nor be written again.
    staged = path.with_name(f".{FILE_NAME}.{os.getpid()}")
    try:
        staged.write_text(json.dumps(frozen, indent=1, ensure_ascii=False) + "\n")
        path.hardlink_to(staged)
    except FileExistsError as error:
        raise EvaluationError(
            f"{path} exists: settings are frozen once; plan again for the runs that use them"
        ) from error
    finally:
        staged.unlink(missing_ok=True)
    return path
