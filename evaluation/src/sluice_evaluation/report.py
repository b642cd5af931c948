"""The static report: one page and its figures, made from committed records and measurements alone.

The same records give the same bytes: nothing here asks for the time or the machine.
"""

import os
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2

from sluice_evaluation import experiment as experiments_module
from sluice_evaluation import freeze, measurements, records
from sluice_evaluation.analysis import (
    CellRuns,
    Study,
    caution_texts,
    ratio_text,
    significant,
    studies,
)
from sluice_evaluation.claims import ClaimRow, claim_rows
from sluice_evaluation.experiment import Experiment
from sluice_evaluation.figures import Drawing, draw_all
from sluice_evaluation.inference import CAUTION_TEXT, MeanEstimate
from sluice_evaluation.measurements import Measurement
from sluice_evaluation.pooling import Pooled, pooled
from sluice_evaluation.records import Record

PAGE = "index.html"
_LATENCIES = (("mean", "latency_mean_seconds"), ("p99", "latency_p99_seconds"))


@dataclass(frozen=True)
class Row:
    """One cell of a study as a line of its table."""

    names: list[str]
    runs: str
    values: list[str]
    ratios: list[tuple[str, str]]
    cautions: list[str]
    links: list[tuple[str, str]]
    is_baseline: bool


@dataclass(frozen=True)
class Section:
    """One study as the page shows it."""

    study: Study
    anchor: str
    factors: list[str]
    common: str
    rows: list[Row]
    drawings: list[Drawing]
    claims: list[ClaimRow]
    extra_metrics: list[str]
    frozen: dict[str, Any] | None
    failures: list[tuple[Record, str]]

    @property
    def title(self) -> str:
        """The experiment's title with the profile."""
        return self.study.experiment.document["title"]


@dataclass(frozen=True)
class Taken:
    """The last measurement of a name as the page shows it.

    `earlier` has number, link and missed quantities of those before it: they are not shown, and
    the reader is to know that there were some.
    """

    measurement: Measurement
    link: str
    earlier: list[tuple[str, str, list[str]]]


def write(results: Path, experiments: Path, output: Path) -> Path:
    """Write the page and its figures anew; returns the page's path.

    EvaluationError when a record is not valid or its experiment is unknown.
    """
    known = experiments_module.load_all(experiments)
    members = records.load_all(results)
    sections = [_section(study, results, output) for study in studies(members, known)]
    # What is meant as a result comes before what only shows that everything works.
    sections.sort(key=lambda section: section.study.profile == "smoke")
    measured = measurements.load_all(results)
    taken = [_taken(members, output) for members in measurements.by_name(measured)]
    page = _render(sections, taken, pooled(measured), members, known)
    output.mkdir(parents=True, exist_ok=True)
    figures = output / "figures"
    shutil.rmtree(figures, ignore_errors=True)
    figures.mkdir()
    for drawing in (d for section in sections for d in section.drawings):
        for (form, theme), content in sorted(drawing.files.items()):
            (figures / drawing.file_name(form, theme)).write_bytes(content)
    (output / PAGE).write_text(page)
    return output / PAGE


def _taken(members: list[Measurement], output: Path) -> Taken:
    earlier = [
        (one.path.stem, _relative(one.path, output), missed)
        for one, missed in measurements.missed_before(members)
    ]
    return Taken(members[-1], _relative(members[-1].path, output), earlier)


def differences(results: Path, experiments: Path, output: Path) -> list[str]:
    """The files of a report that are not what the records give now."""
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".report-", dir=output.parent) as folder:
        # Beside the report, so that links to the records are the same.
        fresh = Path(folder)
        write(results, experiments, fresh)
        both = [p.relative_to(t) for t in (fresh, output) for p in t.rglob("*") if p.is_file()]
        return sorted(str(n) for n in set(both) if _content(fresh / n) != _content(output / n))


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _render(
    sections: list[Section],
    taken: list[Taken],
    together: list[Pooled],
    members: list[Record],
    known: dict[str, Experiment],
) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("sluice_evaluation", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "citation": citation,
        "heading": extra_heading,
        "metric": metric_name,
        "tuned": tuned_text,
    }
    text = environment.get_template("report.html.j2").render(
        sections=sections,
        measurements=taken,
        together=together,
        record_count=len(members),
        complete_count=sum(member.complete for member in members),
        span=_span(members),
        machines=_machines(members),
        software=_software(members),
        cautions=list(CAUTION_TEXT.values()),
        documents=list({s.title: s.study.experiment.document for s in sections}.values()),
        waiting=sorted(set(known) - {s.study.experiment.name for s in sections}),
        style=jinja2.PackageLoader("sluice_evaluation", "templates")
        .get_source(environment, "report.css")[0],
    )  # fmt: skip
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip()) + "\n"


def _section(study: Study, results: Path, output: Path) -> Section:
    document = study.experiment.document
    names = study.cells[0].factors
    shown = [n for n in names if len({cell.factors[n] for cell in study.cells}) > 1]
    extra = sorted({n for c in study.measured for r in c.complete for n in r.document["metrics"]})
    return Section(
        study=study,
        anchor=f"{document['name']}-{study.profile}",
        factors=[study.experiment.label(name) for name in shown],
        common=study.experiment.describe({n: names[n] for n in names if n not in shown}),
        rows=[_row(study, cell, shown, extra, output) for cell in study.cells],
        drawings=list(draw_all(study)),
        claims=claim_rows(study),
        extra_metrics=extra,
        frozen=freeze.load(results, document["name"], study.profile),
        failures=[(record, _link(record, output)) for record in study.failures],
    )


def _row(study: Study, cell: CellRuns, shown: list[str], extra: list[str], output: Path) -> Row:
    metrics = [metric for _, metric in _LATENCIES]
    ratios = [study.ratio(cell, metric) for metric in metrics]
    cautions = dict.fromkeys(c for ratio in ratios if ratio for c in ratio.warnings)
    cautions |= dict.fromkeys(cell.cautions)
    planned = study.experiment.runs(study.profile, "measure")
    return Row(
        names=[str(cell.factors[name]) for name in shown],
        runs=f"{len(cell.complete)} of {planned}",
        values=[
            *(mean_text(cell.mean(metric), 1000, "ms") for metric in metrics),
            mean_text(cell.mean("throughput_operations_per_second"), 1, "/s"),
            *(_extra_text(name, cell.mean(name)) + _runs_with(cell, name) for name in extra),
        ],
        ratios=[(ratio_text(r), str(r.verdict)) if r else ("", "") for r in ratios],
        cautions=caution_texts(cautions),
        links=[(f"run {r.plan['run']}", _link(r, output)) for r in cell.complete],
        is_baseline=study.baseline_of(cell) is cell,
    )


def mean_text(estimate: MeanEstimate | None, factor: float, unit: str) -> str:
    """A mean with the half width of its interval."""
    if estimate is None:
        return ""
    mean = f"{significant(estimate.mean * factor)}"
    if estimate.runs < 2:
        return f"{mean} {unit}"
    return f"{mean} ± {(estimate.upper - estimate.mean) * factor:.2g} {unit}"


def tuned_text(value: float, metric: str) -> str:
    """A value of the ranking: latencies are short, what work takes is not."""
    if metric == freeze.RATIO:
        return f"{value:.3g} times"
    return f"{value * 1000:.3g} ms" if "latency_" in metric else f"{value:.3g} s"


def _extra_text(name: str, estimate: MeanEstimate | None) -> str:
    if estimate is None:
        return ""
    for suffix, factor, unit in (
        ("_bytes_per_second", 1e-6, "MB/s"),
        ("_bytes", 1e-6, "MB"),
        ("_seconds", 1, "s"),
    ):
        if name.endswith(suffix):
            return mean_text(estimate, factor, unit)
    return mean_text(estimate, 1, "").rstrip()


def _runs_with(cell: CellRuns, metric: str) -> str:
    """How many runs a mean is of, where that is not all."""
    if not cell.lacks(metric):
        return ""
    return f" ({len(cell.values(metric))} of {len(cell.complete)} runs)"


def extra_heading(name: str) -> str:
    """The name of a metric without its unit, which stands in the cells."""
    for suffix in ("_bytes_per_second", "_operations_per_second", "_bytes", "_seconds", "_count"):
        name = name.removesuffix(suffix)
    return name.replace("_", " ")


def metric_name(metric: str) -> str:
    """A metric in words."""
    words = {"latency_mean_seconds": "mean latency", "latency_p99_seconds": "99th percentile"}
    return words.get(metric, extra_heading(metric))


def _link(record: Record, output: Path) -> str:
    return _relative(record.directory / records.RECORD_NAME, output)


def _relative(target: Path, output: Path) -> str:
    return quote(Path(os.path.relpath(target, output)).as_posix())


def _span(members: list[Record]) -> tuple[str, str] | None:
    if not members:
        return None
    first = min(member.document["started_at"] for member in members)
    last = max(member.document["ended_at"] for member in members)
    return first[:10], last[:10]


def _machines(members: Iterable[Record]) -> list[tuple[int, dict[str, Any]]]:
    """The distinct environments with the number of their runs, the most frequent first."""
    return _counted(m.document["environment"] for m in members if m.document["environment"])


def _software(members: Iterable[Record]) -> list[tuple[int, dict[str, Any]]]:
    return _counted(
        {
            "store": f"{m.plan['store']} {m.plan['version']}, {m.plan['variant']}",
            **m.document["software"]["labels"],
            **m.document["software"].get("versions", {}),
        }
        for m in members
        if m.document["software"]["labels"]
    )


def _counted(documents: Iterable[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    counts: dict[str, tuple[int, dict[str, Any]]] = {}
    for document in documents:
        key = records.dump(document)
        counts[key] = counts.get(key, (0, document))[0] + 1, document
    return [counts[key] for key in sorted(counts, key=lambda k: (-counts[k][0], k))]


def citation(published: dict[str, Any]) -> str:
    """A published figure's source in one line."""
    source = published["citation"]
    authors = ", ".join(source["authors"])
    return f"{authors}: {source['title']}. {source['venue']}, {source['year']}"
