"""Mean response over time, with what was promised and each action of a controller marked."""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sluice_evaluation.analysis import CellRuns, Study
from sluice_evaluation.figures.distributions import (
    MILLISECONDS,
    cell_name,
    intervals_over_time,
    milliseconds,
)
from sluice_evaluation.figures.style import Format, Theme, canvas, soften
from sluice_evaluation.level_actions import Action, actions_of
from sluice_evaluation.records import Record, normal_phase

PANEL_HEIGHT_INCHES = 2.0
_LINES = {"grow-cache": "solid", "shrink-cache": "dotted", "add-node": "dashed"}
_OTHER_LINE = "dashdot"


def over_time(record: Record, latency: str) -> tuple[np.ndarray, np.ndarray]:
    """Middle of each bin in seconds of the normal phase, and its mean in seconds."""
    bins = intervals_over_time(record, latency)
    means = [distribution.summary()["mean_seconds"] for _, distribution in bins]
    return np.array([middle for middle, _ in bins]), np.array(means)


def marks_of(record: Record) -> list[Action]:
    """What was done in the normal phase, in seconds of it."""
    normal = next(p for p in record.document["phases"] if p["name"] == "normal")
    return [
        Action(action.seconds - normal["start_seconds"], *_rest(action))
        for action in actions_of(record.document["events"], record.plan)
        if action.seconds >= normal["start_seconds"]
    ]


def _rest(action: Action) -> tuple[str, str, float | None]:
    return action.scope, action.name, action.bytes


def prepare(
    study: Study, figure: dict[str, Any], cells: list[CellRuns]
) -> tuple[Callable[[Theme, Format], Figure], str]:
    """The painter, one panel for each cell; actions are those of the first run."""
    curves = {
        cell.id: [over_time(record, cell.latency) for record in cell.complete] for cell in cells
    }
    marks = {cell.id: marks_of(cell.complete[0]) for cell in cells}
    target = figure.get("target_seconds")

    def paint(theme: Theme, form: Format) -> Figure:
        drawn = canvas(theme, form, len(cells) * PANEL_HEIGHT_INCHES + 0.6)
        panels = drawn.subplots(len(cells), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for index, (axes, cell) in enumerate(zip(panels, cells, strict=True)):
            _panel(axes, theme, cell, curves[cell.id], index)
            _mark(axes, theme, marks[cell.id])
            if target is not None:
                axes.axhline(target * MILLISECONDS, color=theme.muted, linewidth=0.9)
            axes.set_title(cell_name(figure, cell))
            axes.set_ylabel("mean (ms)")
        panels[-1].set_xlabel("seconds of the normal phase")
        names = dict.fromkeys(mark.name for cell in cells for mark in marks[cell.id])
        _legend(drawn, theme, list(names), target, 4 if form.columns > 2 else 2)
        return drawn

    described = "; ".join(_described(cell, figure, curves[cell.id], marks) for cell in cells)
    return paint, f"Mean response over time. {described}."


def _described(cell: CellRuns, figure: dict, curves: list, marks: dict[str, list[Action]]) -> str:
    _, means = curves[0]
    last = f", {means[-1] * MILLISECONDS:.3g} ms at the end" if means.size else ""
    return f"{cell_name(figure, cell)}: {len(marks[cell.id])} actions{last}"


def _panel(axes: Axes, theme: Theme, cell: CellRuns, curves: list, index: int) -> None:
    soften(axes)
    milliseconds(axes.yaxis, axes.set_yscale)
    colour = theme.series[index % len(theme.series)]
    for seconds, means in curves[1:]:
        axes.plot(seconds, means * MILLISECONDS, color=colour, linewidth=0.7, alpha=0.45)
    seconds, means = curves[0]
    axes.plot(seconds, means * MILLISECONDS, color=colour, linewidth=1.7)
    start, end = normal_phase(cell.complete[0].document)
    axes.set_xlim(0, end - start)


def _mark(axes: Axes, theme: Theme, marks: list[Action]) -> None:
    for mark in marks:
        style = _LINES.get(mark.name, _OTHER_LINE)
        axes.axvline(mark.seconds, color=theme.text, linewidth=0.8, linestyle=style)
        if mark.bytes is None:
            continue
        axes.annotate(
            f"{mark.bytes / 1e6:.3g} MB", (mark.seconds, 1.0), (2, -2), rotation=90, va="top",
            xycoords=("data", "axes fraction"), textcoords="offset points", fontsize="x-small",
        )  # fmt: skip


def _legend(
    drawn: Figure, theme: Theme, names: list[str], target: float | None, columns: int
) -> None:
    handles = [
        Line2D(
            [], [], color=theme.text, linewidth=0.8, linestyle=_LINES.get(n, _OTHER_LINE), label=n
        )
        for n in names
    ]
    if target is not None:
        label = f"target, {target * MILLISECONDS:g} ms"
        handles.append(Line2D([], [], color=theme.muted, linewidth=0.9, label=label))
    handles.append(Line2D([], [], color=theme.text, linewidth=1.7, label="run 1"))
    handles.append(Line2D([], [], color=theme.text, linewidth=0.7, alpha=0.6, label="other runs"))
    drawn.legend(handles=handles, loc="outside lower center", ncols=columns, handlelength=1.6)
