"""Settings that a tuning stage finds, written down once before anything is measured with them."""

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.experiment import TUNE, Experiment
from sluice_evaluation.records import Record

FILE_NAME = "frozen.json"


def path_of(results: Path, experiment: str, profile: str) -> Path:
    """Where frozen settings of an experiment's profile lie."""
    return results / experiment / profile / FILE_NAME


def load(results: Path, experiment: str, profile: str) -> dict[str, Any] | None:
    """The frozen settings, or None before tuning is done."""
    path = path_of(results, experiment, profile)
    return json.loads(path.read_text()) if path.is_file() else None


def settings_for(frozen: dict[str, Any], factors: dict[str, Any]) -> dict[str, Any]:
    """The chosen settings for a cell with these factors."""
    for choice in frozen["choices"]:
        if all(factors.get(name) == value for name, value in choice["per"].items()):
            return choice["settings"]
    raise EvaluationError(
        f"nothing was tuned for {factors}, only per {frozen['per']}: "
        "the experiment has changed since; tune again in another folder of results"
    )


def choose(experiment: Experiment, profile: str, records: Iterable[Record]) -> dict[str, Any]:
    """The best cell of the tuning stage for each value of `per`.

    Cells whose runs all failed are left out; EvaluationError while others have not been run.
    """
    records = list(records)
    select = experiment.stage(TUNE)["select"]
    cells = {cell.id: cell for cell in experiment.cells(profile, TUNE)}
    values = _values(experiment, profile, records, select["metric"], cells)
    failed = {
        r.plan["cell"] for r in records if not r.complete and _is_tuning(r, experiment, profile)
    }
    if missing := sorted(set(cells) - set(values) - failed):
        raise EvaluationError(
            f"tuning is not finished: {len(missing)} of {len(cells)} cells have no complete run "
            f"({', '.join(missing[:3])}, ...); run the plan first"
        )
    groups = defaultdict(list)
    for identifier, found in values.items():
        key = tuple((name, cells[identifier].factors[name]) for name in select["per"])
        groups[key].append((median(found), identifier))
    return {
        "schema_version": 1,
        "experiment": experiment.name,
        "experiment_sha256": experiment.digest(),
        "profile": profile,
        "metric": select["metric"],
        "best": select["best"],
        "per": select["per"],
        "choices": [
            _choice(
                dict(key), sorted(group, reverse=select["best"] == "highest"), experiment, cells
            )
            for key, group in sorted(groups.items())
        ],
    }


def _values(
    experiment: Experiment, profile: str, records: Iterable[Record], metric: str, cells: dict
) -> dict[str, list[float]]:
    values = defaultdict(list)
    for record in records:
        if not _is_tuning(record, experiment, profile) or record.plan["cell"] not in cells:
            continue
        value = record.value(metric, experiment.document["latency"])
        if value is not None:
            values[record.plan["cell"]].append(value)
    return values


def _is_tuning(record: Record, experiment: Experiment, profile: str) -> bool:
    plan = record.plan
    place = plan["experiment"], plan["profile"], plan["stage"]
    return place == (experiment.name, profile, TUNE)


def _choice(per: dict, ranked: list[tuple], experiment: Experiment, cells: dict) -> dict[str, Any]:
    best = cells[ranked[0][1]]
    levels = [
        level["settings"]
        for factor in experiment.stage(TUNE)["factors"]
        for level in factor["levels"]
        if best.factors[factor["name"]] == level["value"] and "settings" in level
    ]
    return {
        "per": per,
        "cell": best.id,
        "settings": {name: value for settings in levels for name, value in settings.items()},
        "ranking": [{"cell": identifier, "value": value} for value, identifier in ranked],
    }


def write(results: Path, frozen: dict[str, Any]) -> Path:
    """Write the choice; EvaluationError when there is one, since it may not change any more."""
    path = path_of(results, frozen["experiment"], frozen["profile"])
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x") as out:
            out.write(json.dumps(frozen, indent=1, ensure_ascii=False) + "\n")
    except FileExistsError as error:
        raise EvaluationError(
            f"{path} exists: settings are frozen once; plan again for the runs that use them"
        ) from error
    return path
