"""Experiments: read, checked beyond what a schema can, and resolved into cells."""

import hashlib
import itertools
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.schema import validate

DEFAULT_DIRECTORY = Path("ansible/experiments")
TUNE, MEASURE = "tune", "measure"


@dataclass(frozen=True)
class Cell:
    """One combination of factor levels, with everything that those levels set."""

    id: str
    factors: dict[str, Any]
    variant: str
    workload: str
    device: str
    threads: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    settings_from: str | None = None
    orders: tuple[dict[str, Any], ...] = ()
    policies: tuple[dict[str, Any], ...] = ()
    faults: tuple[dict[str, Any], ...] = ()
    service_levels: tuple[dict[str, Any], ...] = ()
    leases: tuple[dict[str, Any], ...] = ()
    even_load: bool = False
    neighbour: bool = False
    loaded_nodes: int | None = None
    load_share: float = 1.0
    agents: dict[str, Any] | None = None


@dataclass(frozen=True)
class Experiment:
    """A validated experiment document."""

    name: str
    document: dict[str, Any]

    def profile(self, name: str) -> dict[str, Any]:
        """The profile's table; EvaluationError naming those that exist."""
        profiles = self.document["profiles"]
        if name not in profiles:
            known = ", ".join(profiles)
            raise EvaluationError(f"{self.name} has no profile {name}; it has {known}")
        return profiles[name]

    def stage_names(self, profile: str) -> list[str]:
        """The stages that a profile runs, in their order."""
        wanted = self.profile(profile).get("stages")
        return [s["name"] for s in self.document["stages"] if not wanted or s["name"] in wanted]

    def stage(self, name: str) -> dict[str, Any]:
        """The stage's table."""
        for stage in self.document["stages"]:
            if stage["name"] == name:
                return stage
        known = ", ".join(stage["name"] for stage in self.document["stages"])
        raise EvaluationError(f"{self.name} has no stage {name}; it has {known}")

    def runs(self, profile: str, stage: str) -> int:
        """Runs of each cell."""
        return self.stage(stage).get("runs", self.profile(profile)["runs"])

    def phases(self, profile: str, stage: str) -> dict[str, float]:
        """Lengths of a run's phases in seconds."""
        table = self.profile(profile)
        return table["phases"] | table.get("phases_by_stage", {}).get(stage, {})

    def baseline(self, profile: str) -> dict[str, Any]:
        """Factor values of the cells that others are divided by."""
        return self.profile(profile).get("baseline", self.document["baseline"])

    def label(self, factor: str) -> str:
        """What readers call a factor."""
        factors = (f for stage in self.document["stages"] for f in stage["factors"])
        return next((f["label"] for f in factors if f["name"] == factor), factor)

    def describe(self, factors: dict[str, Any]) -> str:
        """Factor values in words."""
        return ", ".join(f"{self.label(name)} {value}" for name, value in factors.items())

    def published(self, identifier: str) -> dict[str, Any]:
        """A published figure by its id."""
        return next(p for p in self.document["published"] if p["id"] == identifier)

    def cells(self, profile: str, stage: str) -> list[Cell]:
        """The cells of a stage in the order of the document, constraints applied."""
        table, only = self.stage(stage), self.profile(profile).get("only", {})
        kept = [_kept_levels(factor, only) for factor in table["factors"]]
        cells = [self._cell(table, levels, profile) for levels in itertools.product(*kept)]
        return [c for c in cells if not _excluded(c.factors, table.get("exclude", []))]

    def _cell(self, stage: dict, levels: tuple[dict, ...], profile: str) -> Cell:
        names = [factor["name"] for factor in stage["factors"]]
        merged: dict[str, Any] = {k: stage[k] for k in ("variant", "workload") if k in stage}
        settings = dict(self.document["settings"]) | self.profile(profile).get("settings", {})
        lists: dict[str, list[dict]] = {name: [] for name in _JOINED}
        for level in levels:
            settings |= level.get("settings", {})
            for name, joined in lists.items():
                joined += level.get(name, [])
            merged |= {k: v for k, v in level.items() if k in _MERGED}
        return Cell(
            id="_".join(level["id"] for level in levels),
            factors=dict(zip(names, (level["value"] for level in levels), strict=True)),
            settings=settings,
            **{name: tuple(joined) for name, joined in lists.items()},
            **merged,
        )

    def digest(self) -> str:
        """SHA-256 over what runs depend on: texts, figures and claims may be mended later."""
        kept = {k: v for k, v in self.document.items() if k not in _TOLD_AFTERWARDS}
        text = json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


_TOLD_AFTERWARDS = {"title", "question", "published", "figures", "claims", "limitations"}
_MERGED = {
    "variant", "workload", "device", "threads", "settings_from", "even_load", "neighbour",
    "loaded_nodes", "load_share", "agents",
}  # fmt: skip
_JOINED = ("orders", "policies", "faults", "service_levels", "leases")


def _kept_levels(factor: dict, only: dict[str, list]) -> list[dict]:
    wanted = only.get(factor["name"])
    return [level for level in factor["levels"] if wanted is None or level["value"] in wanted]


def _excluded(factors: dict[str, Any], constraints: list[dict]) -> bool:
    return any(
        all(factors.get(name) in values for name, values in rule.items()) for rule in constraints
    )


def _load_faults(experiment: Experiment, profile: str) -> list[str]:
    table = experiment.profile(profile)
    loads = [table.get("load", {}), *table.get("load_by_device", {}).values()]
    stages = experiment.stage_names(profile)
    cells = [cell for stage in stages for cell in experiment.cells(profile, stage)]
    wrong = [
        f"profile {profile}: phases_by_stage has {name}, which is none of its stages"
        for name in table.get("phases_by_stage", {}).keys() - stages
    ]
    if any(cell.even_load for cell in cells) and any("even" not in load for load in loads):
        wrong.append(f"profile {profile}: a level has even_load, and a load has no entry even")
    if any(cell.neighbour for cell in cells) and any("neighbour" not in load for load in loads):
        wrong.append(f"profile {profile}: a level has neighbour, and a load has no entry neighbour")
    longest = min(experiment.phases(profile, stage)["warm_up_seconds"] for stage in stages)
    if any(load.get("warm_up", {}).get("duration_seconds", 0) > longest for load in loads):
        wrong.append(
            f"profile {profile}: warm_up of a load is longer than warm_up_seconds, {longest}"
        )
    return wrong


def _shared_cells(experiment: Experiment, profile: str) -> list[str]:
    """Cells of two stages with one id: a run of the one would count as that of the other."""
    stages = experiment.stage_names(profile)
    of_stages = [{cell.id for cell in experiment.cells(profile, stage)} for stage in stages]
    counts = Counter(itertools.chain(*of_stages))
    return [
        f"profile {profile}: two stages have a cell {identifier}; give a level of one another id"
        for identifier, count in sorted(counts.items())
        if count > 1
    ]


def _claim_faults(experiment: Experiment, profile: str) -> list[str]:
    """Claims that compare several cells: they would be judged by the first one alone."""
    cells, wrong = experiment.cells(profile, MEASURE), []
    for claim in experiment.document["claims"]:
        sides = [claim[side] for side in ("numerator", "denominator") if side in claim]
        names = claim.get("per", [])
        scopes = {tuple((name, cell.factors[name]) for name in names) for cell in cells}
        selections = [side | dict(scope) for side in sides for scope in scopes]
        if any(sum(matches(c.factors, chosen) for c in cells) > 1 for chosen in selections):
            wrong.append(
                f"profile {profile}: claim {claim['id']} is about several cells; "
                "select them by more factors, or give these as per"
            )
    return wrong


def matches(factors: dict[str, Any], selection: dict[str, Any]) -> bool:
    """Whether factors have the selected values; a list stands for any of its members."""
    return all(
        factors.get(name) in value if isinstance(value, list) else factors.get(name) == value
        for name, value in selection.items()
    )


def load(name_or_path: str, directory: Path = DEFAULT_DIRECTORY) -> Experiment:
    """Read an experiment by path, or by name from `directory`; EvaluationError when wrong."""
    path = Path(name_or_path)
    if path.suffix not in {".yml", ".yaml"}:
        path = directory / f"{name_or_path}.yml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in directory.glob("*.yml"))) or "none"
        raise EvaluationError(
            f"no experiment {path}; in {directory} there is: {known} (change it with --experiments)"
        )
    try:
        document = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise EvaluationError(f"{path} is not YAML: {error}") from error
    validate(document, "experiment", str(path))
    experiment = Experiment(document["name"], document)
    if wrong := _inconsistencies(experiment, path):
        raise EvaluationError(f"{path} contradicts itself:\n" + "\n".join(f"  {w}" for w in wrong))
    return experiment


def load_all(directory: Path = DEFAULT_DIRECTORY) -> dict[str, Experiment]:
    """All experiments of a directory by name."""
    found = [load(str(path)) for path in sorted(directory.glob("*.yml"))]
    return {experiment.name: experiment for experiment in found}


def _inconsistencies(experiment: Experiment, path: Path) -> list[str]:
    document, wrong = experiment.document, []
    if document["name"] != path.stem:
        wrong.append(f"name {document['name']} must be that of the file, {path.stem}")
    for stage in document["stages"]:
        wrong += _level_faults(stage, document)
    published = {p["id"] for p in document["published"]}
    for item in document["figures"] + document["claims"]:
        if "published" in item and item["published"] not in published:
            wrong.append(f"{item['id']}: published {item['published']} is not listed")
    for profile in document["profiles"]:
        wrong += _profile_faults(experiment, profile)
    return wrong


def _level_faults(stage: dict, document: dict) -> list[str]:
    wrong = []
    stages = {s["name"] for s in document["stages"]}
    for factor in stage["factors"]:
        values = [level["value"] for level in factor["levels"]]
        if len(set(values)) != len(values):
            wrong.append(f"factor {factor['name']}: two levels have the same value")
        for level in factor["levels"]:
            where = f"factor {factor['name']}, level {level['id']}"
            if (
                level.get("workload", next(iter(document["workloads"])))
                not in document["workloads"]
            ):
                wrong.append(f"{where}: workload {level['workload']} is not listed")
            if level.get("device", next(iter(document["devices"]))) not in document["devices"]:
                wrong.append(f"{where}: device {level['device']} is not listed")
            if level.get("settings_from", stage["name"]) not in stages:
                wrong.append(f"{where}: there is no stage {level['settings_from']}")
    return wrong


def _profile_faults(experiment: Experiment, profile: str) -> list[str]:
    wrong = []
    for stage in experiment.stage_names(profile):
        try:
            cells = experiment.cells(profile, stage)
        except TypeError as error:
            return [f"profile {profile}, stage {stage}: no level sets what a cell needs: {error}"]
        identifiers = [cell.id for cell in cells]
        if len(set(identifiers)) != len(identifiers):
            wrong.append(f"profile {profile}, stage {stage}: two cells have the same id")
        if not cells:
            wrong.append(f"profile {profile}, stage {stage}: no cell is left")
        wrong += [
            f"profile {profile}, cell {cell.id}: service levels and leases need policies"
            for cell in cells
            if (cell.service_levels or cell.leases) and not cell.policies
        ]
        within = experiment.stage(stage).get("select", {}).get("within")
        if within and not any(matches(cell.factors, within["to"]) for cell in cells):
            wrong.append(f"profile {profile}, stage {stage}: no cell is {within['to']}")
    table = experiment.profile(profile)
    wrong += _load_faults(experiment, profile) + _shared_cells(experiment, profile)
    if experiment.document["latency"] == "intended" and "load" not in table:
        wrong.append(f"profile {profile}: intended latency needs a load with target rates")
    wrong += _claim_faults(experiment, profile)
    measured = experiment.cells(profile, MEASURE)
    if not any(matches(c.factors, experiment.baseline(profile)) for c in measured):
        wrong.append(f"profile {profile}: no cell is the baseline; give the profile one of its own")
    return wrong
