"""Which figures a study gives, and their files."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from sluice_evaluation.analysis import CellRuns, Study
from sluice_evaluation.experiment import matches
from sluice_evaluation.figures import bars, distributions, responses
from sluice_evaluation.figures.style import (
    FORMATS,
    THEMES,
    Format,
    Theme,
    drawing_parameters,
    to_svg,
)


@dataclass(frozen=True)
class Drawing:
    """One figure: its text, and its files by format and theme."""

    id: str
    title: str
    description: str
    files: dict[tuple[str, str], bytes]
    size: dict[str, tuple[int, int]]

    def file_name(self, form: str, theme: str) -> str:
        """The name of one of the files."""
        return f"{self.id}-{form}-{theme}.svg"


Painter = Callable[[Theme, Format], Figure]
_KINDS: dict[str, Callable[[Study, dict, list[CellRuns]], tuple[Painter, str] | None]] = {
    "normalised-bars": bars.prepare,
    "p99-over-time": distributions.prepare_time,
    "response-over-time": responses.prepare,
    "complementary-cdf": distributions.prepare_cdf,
}


def draw_all(study: Study) -> Iterator[Drawing]:
    """All figures of a study that its records suffice for."""
    for figure in study.experiment.document["figures"]:
        yield from _draw(study, figure)


def _draw(study: Study, figure: dict[str, Any]) -> Iterator[Drawing]:
    where = figure.get("where", {})
    cells = [cell for cell in study.measured if matches(cell.factors, where)]
    shown = {*figure.get("bars", []), *figure.get("panels", []), *figure.get("lines", [])}
    for scope, members in _split(cells, shown):
        if len(members) < 2:
            continue
        prepared = _KINDS[figure["kind"]](study, figure, members)
        if prepared is None:
            continue
        painter, description = prepared
        suffix = "".join(f"-{value}" for value in scope.values())
        title = figure["title"] + "".join(f", {value}" for value in scope.values())
        yield _paint(f"{study.experiment.name}-{study.profile}-{figure['id']}{suffix}",
                     title, description, painter)  # fmt: skip


def _split(
    cells: list[CellRuns], shown: set[str]
) -> Iterator[tuple[dict[str, Any], list[CellRuns]]]:
    """One figure for each combination of the factors that it does not show itself."""
    names = [name for name in (cells[0].factors if cells else {}) if name not in shown]
    varying = [n for n in names if len({cell.factors[n] for cell in cells}) > 1]
    scopes = dict.fromkeys(tuple(cell.factors[n] for n in varying) for cell in cells)
    for values in scopes:
        scope = dict(zip(varying, values, strict=True))
        yield scope, [cell for cell in cells if matches(cell.factors, scope)]


def _paint(identifier: str, title: str, description: str, painter: Painter) -> Drawing:
    files, size = {}, {}
    for form in FORMATS:
        for theme in THEMES:
            with matplotlib.rc_context(drawing_parameters(theme, form)):
                figure = painter(theme, form)
                files[form.name, theme.name] = to_svg(figure)
            size[form.name] = tuple(round(inches * 72) for inches in figure.get_size_inches())
    safe = identifier.lower().replace(" ", "-").replace(".", "-")
    return Drawing(safe, title, description, files, size)
