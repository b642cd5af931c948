"""Claims: what an experiment expects, beside what its records show."""

import math
from dataclasses import dataclass
from typing import Any

from sluice_evaluation.analysis import (
    CellRuns,
    Study,
    caution_texts,
    compare,
    compare_to_value,
    estimate_dict,
    ratio_text,
)
from sluice_evaluation.experiment import MEASURE, matches
from sluice_evaluation.inference import CONFIDENCE, Caution, RatioEstimate

# Not the committed results: what is there is not run again, and two machines would mix.
AGAIN = ".work/again"

TOO_SHORT_TEXT = "runs of this profile are too short to judge by"


@dataclass(frozen=True)
class ClaimRow:
    """One row of the table of claims."""

    experiment: str
    profile: str
    id: str
    statement: str
    scope: dict[str, Any]
    scope_text: str
    expected: dict[str, float]
    estimate: RatioEstimate | None
    command: str
    seconds: float
    disk_bytes: int
    too_short: bool = False
    # There are complete runs, and those of a side have no such figure.
    lacking: bool = False
    published: dict[str, Any] | None = None

    @property
    def status(self) -> str:
        """`met`, `missed`, `~` when the interval decides nothing, `absent` without records."""
        if self.estimate is None:
            return "~" if self.lacking else "absent"
        low, high = self.expected.get("min", -math.inf), self.expected.get("max", math.inf)
        if self.too_short or not self.estimate.claimable:
            return "~"
        if low <= self.estimate.lower and self.estimate.upper <= high:
            return "met"
        if self.estimate.upper < low or self.estimate.lower > high:
            return "missed"
        return "~"

    @property
    def expected_text(self) -> str:
        """The expected range in words."""
        low, high = self.expected.get("min"), self.expected.get("max")
        if low is not None and high is not None:
            return f"ratio {low:g} to {high:g}"
        return f"ratio at least {low:g}" if low is not None else f"ratio at most {high:.3g}"

    @property
    def measured_text(self) -> str:
        """The ratio with its interval."""
        return ratio_text(self.estimate)

    @property
    def cost_text(self) -> str:
        """Time and disk that the command needs."""
        return f"{duration_text(self.seconds)}, {self.disk_bytes / 1e9:.1f} GB"

    @property
    def cautions(self) -> list[str]:
        """Warnings in words."""
        texts = caution_texts(self._warnings)
        return [TOO_SHORT_TEXT, *texts] if self.too_short else texts

    @property
    def _warnings(self) -> tuple[Caution, ...]:
        if self.estimate is None:
            return (Caution.LACKING,) if self.lacking else ()
        return self.estimate.warnings

    def as_dict(self) -> dict[str, Any]:
        """For scripts."""
        estimate = self.estimate
        return {
            "experiment": self.experiment,
            "profile": self.profile,
            "claim": self.id,
            "statement": self.statement,
            "scope": self.scope,
            "command": self.command,
            "expected": self.expected,
            "status": self.status,
            "measured": estimate_dict(estimate) if estimate else None,
            "time_seconds": self.seconds,
            "disk_bytes": self.disk_bytes,
            "warnings": [str(warning) for warning in self._warnings],
        }


def duration_text(seconds: float) -> str:
    """Minutes, or hours and minutes."""
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"


def claim_rows(study: Study) -> list[ClaimRow]:
    """The experiment's claims, each for every value of its `per` factors.

    Those that compare a cell which the profile does not plan are another profile's.
    """
    return [row for claim in study.experiment.document["claims"] for row in _rows(study, claim)]


def _rows(study: Study, claim: dict[str, Any]) -> list[ClaimRow]:
    if claim["kind"] == "largest-ratio":
        scope, estimate = _largest(study, claim["metric"])
        return [_row(study, claim, scope, estimate, lacking=False)]
    rows = []
    for scope in _scopes(study, claim.get("per", [])):
        compared = [claim[side] for side in ("numerator", "denominator") if side in claim]
        selections = [selection | scope for selection in compared]
        if not all(_is_planned(study, selection) for selection in selections):
            continue
        sides = [study.find(selection) for selection in selections]
        estimate = _compared(sides, claim) if all(sides) else None
        has_runs = all(side and side.complete for side in sides)
        rows.append(_row(study, claim, scope, estimate, lacking=has_runs and estimate is None))
    return rows


def _compared(sides: list[CellRuns], claim: dict[str, Any]) -> RatioEstimate | None:
    if claim["kind"] == "ratio-to-value":
        return compare_to_value(*sides, claim["metric"], claim["value"])
    return compare(*sides, claim["metric"])


def _row(
    study: Study,
    claim: dict[str, Any],
    scope: dict[str, Any],
    estimate: RatioEstimate | None,
    lacking: bool,
) -> ClaimRow:
    name, profile = study.experiment.name, study.profile
    published = claim.get("published")
    table = study.experiment.profile(profile)
    return ClaimRow(
        experiment=name,
        profile=profile,
        id=claim["id"],
        statement=claim["statement"],
        scope=scope,
        scope_text=study.experiment.describe(scope),
        expected=claim["expected"],
        estimate=estimate,
        command=f"make evaluate EXPERIMENT={name} PROFILE={profile} RESULTS={AGAIN}",
        seconds=study.planned_seconds(),
        disk_bytes=table["estimate"]["disk_bytes"],
        too_short=table.get("too_short", False),
        lacking=lacking,
        published=study.experiment.published(published) if published else None,
    )


def _is_planned(study: Study, selection: dict[str, Any]) -> bool:
    cells = study.experiment.cells(study.profile, MEASURE)
    return any(matches(cell.factors, selection) for cell in cells)


def _scopes(study: Study, names: list[str]) -> list[dict[str, Any]]:
    cells = study.experiment.cells(study.profile, MEASURE)
    found = {tuple((n, cell.factors[n]) for n in names): None for cell in cells}
    return [dict(key) for key in found]


def _largest(study: Study, metric: str) -> tuple[dict[str, Any], RatioEstimate | None]:
    """The cell with the largest ratio, its interval widened for having been picked."""
    ratios: list[tuple[float, CellRuns]] = [
        (estimate.ratio, cell)
        for cell in study.measured
        if (estimate := study.ratio(cell, metric)) is not None
    ]
    if not ratios:
        return {}, None
    _, cell = max(ratios, key=lambda pair: pair[0])
    estimate = study.ratio(cell, metric, 1 - (1 - CONFIDENCE) / len(ratios))
    warnings = (*estimate.warnings, Caution.SIMULTANEOUS)
    return cell.factors, RatioEstimate(**{**estimate.__dict__, "warnings": warnings})
