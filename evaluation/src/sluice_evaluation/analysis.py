"""From records to what the report says: cells, ratios to the baseline, claims."""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sluice_evaluation import budget, freeze
from sluice_evaluation import records as records_module
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.experiment import MEASURE, TUNE, Experiment, matches
from sluice_evaluation.inference import (
    CAUTION_TEXT,
    CONFIDENCE,
    Caution,
    MeanEstimate,
    RatioEstimate,
    Shape,
    block_ratio,
    mean_estimate,
)
from sluice_evaluation.machine_speed import slow_runs
from sluice_evaluation.plan import planned_otherwise
from sluice_evaluation.probes.processors import MOST_STOLEN_SHARE
from sluice_evaluation.records import Record

# More than this share of operations that were due and never issued is an overloaded run.
UNISSUED_SHARE = 0.01
# Later than this, requests of the normal phase waited for what the warm-up had left to do.
LATE_SECONDS = 0.1
# Beyond this a latency may have changed because of others on the same hardware.
STOLEN_SHARE = MOST_STOLEN_SHARE
# The disks of the test bed, and who follows a run there, have had up to 23 % of two processors.
OTHERS_SHARE = 0.3
# Beyond this the 99th percentile may be that of the load generator.
GENERATOR_WAIT_SHARE = 0.01


@dataclass(frozen=True)
class CellRuns:
    """All records of one cell."""

    id: str
    factors: dict[str, Any]
    latency: str
    complete: tuple[Record, ...]
    failed: tuple[Record, ...]
    # Runs among the complete ones that the experiment as it is today would make in another way.
    outdated: int = 0
    # Runs among them whose machine was slower than the fastest of all that are looked at together.
    slow: int = 0

    def values(self, metric: str) -> dict[int, float]:
        """A metric by block, of the runs that have it."""
        found = {r.plan["block"]: r.value(metric, self.latency) for r in self.complete}
        return {block: value for block, value in sorted(found.items()) if value is not None}

    def lacks(self, metric: str) -> bool:
        """Whether some of the complete runs have a metric and others do not."""
        return 0 < len(self.values(metric)) < len(self.complete)

    def mean(self, metric: str) -> MeanEstimate | None:
        """Mean over runs, or None when no run has the metric."""
        values = self.values(metric)
        return mean_estimate(list(values.values())) if values else None

    @cached_property
    def cautions(self) -> tuple[Caution, ...]:
        """What the records themselves warn of."""
        found = []
        if self.failed:
            found.append(Caution.FAILED_RUNS)
        if self.outdated:
            found.append(Caution.OUTDATED)
        if any(r.document["results"]["error_count"] for r in self.complete):
            found.append(Caution.ERRORS)
        if any(_overloaded(r.document["results"]) for r in self.complete):
            found.append(Caution.OVERLOADED)
        if _distinct(_labels(r) for r in self.complete) > 1 or _versions_differ(self.complete):
            found.append(Caution.MIXED_SOFTWARE)
        if _distinct(_hardware(r) for r in self.complete) > 1:
            found.append(Caution.MIXED_ENVIRONMENT)
        if any(r.late_seconds > LATE_SECONDS for r in self.complete):
            found.append(Caution.LATE)
        if any((r.stolen_share or 0) > STOLEN_SHARE for r in self.complete):
            found.append(Caution.STOLEN)
        if any((r.others_share or 0) > OTHERS_SHARE for r in self.complete):
            found.append(Caution.OTHERS)
        if self.slow:
            found.append(Caution.SLOW_MACHINE)
        if any((r.generator_wait_share or 0) > GENERATOR_WAIT_SHARE for r in self.complete):
            found.append(Caution.GENERATOR_WAITED)
        return tuple(found)


def _overloaded(results: dict[str, Any]) -> bool:
    return results["unissued_count"] > UNISSUED_SHARE * results["measured"]["operations"]


def _distinct(documents: Iterable[dict]) -> int:
    return len({repr(sorted(document.items())) for document in documents})


def _labels(record: Record) -> dict[str, str]:
    return record.document["software"]["labels"]


def _versions_differ(members: Iterable[Record]) -> bool:
    """Whether a tool or package has two versions; what only some runs have is no difference."""
    seen: dict[str, str] = {}
    return any(
        seen.setdefault(name, version) != version
        for record in members
        for name, version in record.document["software"].get("versions", {}).items()
    )


def _mixed_software(members: Iterable[Record]) -> bool:
    """Whether runs that are compared had other software than their variants explain."""
    members = list(members)
    variants: dict[str, list[dict[str, str]]] = defaultdict(list)
    for record in members:
        variants[record.plan["variant"]].append(_labels(record))
    labels_differ = any(_distinct(labels) > 1 for labels in variants.values())
    return labels_differ or _versions_differ(members)


def compare(
    numerator: CellRuns, denominator: CellRuns, metric: str, confidence: float = CONFIDENCE
) -> RatioEstimate | None:
    """Ratio of two cells in a metric, or None when a side has no run with it."""
    sides = numerator.values(metric), denominator.values(metric)
    if not all(sides):
        return None
    estimate = block_ratio(*sides, confidence)
    own = dict.fromkeys((*estimate.warnings, *numerator.cautions, *denominator.cautions))
    if numerator.lacks(metric) or denominator.lacks(metric):
        own[Caution.INCOMPLETE] = None
    both = (*numerator.complete, *denominator.complete)
    if _mixed_software(both):
        own[Caution.MIXED_SOFTWARE] = None
    if _distinct(_hardware(r) for r in both) > 1:
        own[Caution.MIXED_ENVIRONMENT] = None
    return RatioEstimate(**{**estimate.__dict__, "warnings": tuple(own)})


def compare_to_value(cell: CellRuns, metric: str, value: float) -> RatioEstimate | None:
    """Ratio of a cell to a figure that is no measurement, such as a target."""
    values = cell.values(metric)
    if not values:
        return None
    estimate = block_ratio(values, dict.fromkeys(values, value))
    own = dict.fromkeys((*estimate.warnings, *cell.cautions))
    if cell.lacks(metric):
        own[Caution.INCOMPLETE] = None
    return RatioEstimate(**{**estimate.__dict__, "warnings": tuple(own)})


def _hardware(record: Record) -> dict[str, Any]:
    environment = record.document["environment"]
    return {key: environment[key] for key in ("cpu", "memory_bytes", "kernel")}


def ratio_text(estimate: RatioEstimate | None) -> str:
    """A ratio with its interval, as every table prints it."""
    if estimate is None:
        return "not measured"
    ratio, low, high = map(significant, (estimate.ratio, estimate.lower, estimate.upper))
    if estimate.shape is Shape.UNBOUNDED:
        return f"{ratio} (interval unbounded)"
    if estimate.shape is Shape.EXCLUSIVE:
        outside = f"at most {low} or at least {high}" if estimate.lower > 0 else f"at least {high}"
        return f"{ratio} (interval unbounded: {outside})"
    return f"{ratio} ({low} to {high})"


def significant(value: float) -> str:
    """Three significant digits, without an exponent for everyday sizes."""
    if value == 0 or not 1e-3 <= abs(value) < 1e6:
        return f"{value:.3g}"
    digits = max(0, 2 - int(f"{value:e}".partition("e")[2]))
    return f"{value:,.{digits}f}"


def caution_texts(cautions: Iterable[Caution]) -> list[str]:
    """The sentences of warnings."""
    return [CAUTION_TEXT[caution] for caution in cautions]


def estimate_dict(estimate: RatioEstimate) -> dict[str, Any]:
    """For scripts; an end that is infinite is null, and so is a ratio to a mean of 0."""
    return {
        "ratio": estimate.ratio if math.isfinite(estimate.ratio) else None,
        "lower": estimate.lower if math.isfinite(estimate.lower) else None,
        "upper": estimate.upper if math.isfinite(estimate.upper) else None,
        "shape": str(estimate.shape),
        "confidence": estimate.confidence,
        "numerator_runs": estimate.numerator_runs,
        "denominator_runs": estimate.denominator_runs,
        "paired": estimate.paired,
        "verdict": str(estimate.verdict),
    }


@dataclass(frozen=True)
class Study:
    """The records of one experiment in one profile."""

    experiment: Experiment
    profile: str
    cells: tuple[CellRuns, ...]
    tuning: tuple[CellRuns, ...] = ()
    outdated: int = field(default=0)
    # Failed runs of cells that the experiment no longer has.
    failed_elsewhere: tuple[Record, ...] = ()

    @property
    def failures(self) -> tuple[Record, ...]:
        """All failed runs."""
        own = (record for cell in (*self.tuning, *self.cells) for record in cell.failed)
        return (*own, *self.failed_elsewhere)

    @property
    def measured(self) -> tuple[CellRuns, ...]:
        """The cells that have a complete run."""
        return tuple(cell for cell in self.cells if cell.complete)

    def baseline_of(self, cell: CellRuns) -> CellRuns | None:
        """The cell that a cell is divided by: the same factors but the baseline's."""
        wanted = cell.factors | self.experiment.baseline(self.profile)
        return next((c for c in self.cells if c.factors == wanted), None)

    def ratio(
        self, cell: CellRuns, metric: str, confidence: float = CONFIDENCE
    ) -> RatioEstimate | None:
        """A cell over its baseline; None for the baseline itself and where runs lack."""
        baseline = self.baseline_of(cell)
        if baseline is None or baseline is cell:
            return None
        return compare(cell, baseline, metric, confidence)

    def planned_seconds(self) -> float:
        """Time that all runs of the profile take, from the experiment's own figures."""
        table = self.experiment.profile(self.profile)
        total = 0.0
        for stage in self.experiment.stage_names(self.profile):
            phases = self.experiment.phases(self.profile, stage)
            each = sum(phases.values()) + budget.guessed_overhead_seconds(table)
            cells = self.experiment.cells(self.profile, stage)
            total += len(cells) * self.experiment.runs(self.profile, stage) * each
        return total

    def find(self, selection: dict[str, Any]) -> CellRuns | None:
        """The first cell with the selected factor values."""
        return next((c for c in self.cells if matches(c.factors, selection)), None)


def studies(records: Iterable[Record], experiments: dict[str, Experiment]) -> list[Study]:
    """Group records by experiment and profile; EvaluationError for an unknown experiment."""
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        groups[record.plan["experiment"], record.plan["profile"]].append(record)
    found = []
    for (name, profile), members in sorted(groups.items()):
        if name not in experiments:
            raise EvaluationError(
                f"there are records of {name}, but no such experiment; "
                "point --experiments at the folder that has it"
            )
        found.append(_study(experiments[name], profile, members))
    return found


def _study(experiment: Experiment, profile: str, members: list[Record]) -> Study:
    frozen = _frozen(experiment, profile, members)
    outdated = [member for member in members if planned_otherwise(member, experiment, frozen)]
    slow = slow_runs(members)
    stages: dict[str, tuple[CellRuns, ...]] = {}
    for stage in experiment.stage_names(profile):
        stages[stage] = tuple(
            _cell_runs(cell.id, cell.factors, experiment, members, stage, outdated, slow)
            for cell in experiment.cells(profile, stage)
        )
    known = {(stage, cell.id) for stage, cells in stages.items() for cell in cells}
    elsewhere = tuple(
        m for m in members if not m.complete and (m.plan["stage"], m.plan["cell"]) not in known
    )
    tuning = stages.get(TUNE, ())
    return Study(experiment, profile, stages[MEASURE], tuning, len(outdated), elsewhere)


def _frozen(experiment: Experiment, profile: str, members: list[Record]) -> dict[str, Any] | None:
    if TUNE not in experiment.stage_names(profile):
        return None
    try:
        # What was left out when it was frozen is so here.
        return freeze.choose(experiment, profile, members, without_failed=True)
    except EvaluationError:
        return None


def _cell_runs(
    identifier: str,
    factors: dict,
    experiment: Experiment,
    members: list[Record],
    stage: str,
    outdated: list[Record],
    slow: list[Record],
) -> CellRuns:
    own = [m for m in members if (m.plan["cell"], m.plan["stage"]) == (identifier, stage)]
    complete = tuple(m for m in own if m.complete)
    return CellRuns(
        identifier,
        factors,
        experiment.document["latency"],
        complete,
        tuple(m for m in own if not m.complete),
        _count_among(complete, outdated),
        _count_among(complete, slow),
    )


def _count_among(members: Iterable[Record], others: list[Record]) -> int:
    return sum(any(member is other for other in others) for member in members)


@dataclass(frozen=True)
class CompareRow:
    """One metric of a comparison of two cells."""

    metric: str
    estimate: RatioEstimate

    @property
    def text(self) -> str:
        """The ratio, its interval and what it shows."""
        return f"{ratio_text(self.estimate)}  {self.estimate.verdict}"

    @property
    def cautions(self) -> list[str]:
        """Warnings in words."""
        return caution_texts(self.estimate.warnings)

    def as_dict(self) -> dict[str, Any]:
        """For scripts."""
        warnings = [str(w) for w in self.estimate.warnings]
        return {"metric": self.metric, **estimate_dict(self.estimate), "warnings": warnings}


def compare_cells(first: Path, second: Path, latency: str | None) -> list[CompareRow]:
    """All metrics that two folders of runs have in common."""
    pattern = f"{records_module.PUBLISHED}/{records_module.RECORD_NAME}"
    found = [
        [records_module.load(path) for path in sorted(folder.glob(pattern))]
        for folder in (first, second)
    ]
    slow = slow_runs(itertools.chain(*found))
    every = [m for m in itertools.chain(*found) if m.complete]
    # One kind for both: from when a request was due is another quantity than from when it was sent.
    intended = all(m.document["results"]["intended"] for m in every)
    chosen = latency or ("intended" if intended else "measured")
    sides = []
    for folder, members in zip((first, second), found, strict=True):
        complete = tuple(m for m in members if m.complete)
        if not complete:
            raise EvaluationError(
                f"{folder} holds no complete run; give the folder of a cell, "
                "results/EXPERIMENT/PROFILE/CELL"
            )
        failed = tuple(m for m in members if not m.complete)
        factors, slow_count = complete[0].plan["factors"], _count_among(complete, slow)
        sides.append(CellRuns(folder.name, factors, chosen, complete, failed, slow=slow_count))
    names = ("mean", "p50", "p99", "p99_9", "max")
    metrics = [f"latency_{name}_seconds" for name in names] + ["throughput_operations_per_second"]
    metrics += sorted(set.intersection(*(_extra_metrics(side) for side in sides)))
    compared = ((metric, compare(*sides, metric)) for metric in metrics)
    return [CompareRow(metric, estimate) for metric, estimate in compared if estimate]


def _extra_metrics(side: CellRuns) -> set[str]:
    return {name for record in side.complete for name in record.document["metrics"]}
