"""Bars of a metric over that of the baseline, with Fieller intervals."""

import math
from collections.abc import Callable
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from sluice_evaluation.analysis import CellRuns, Study, ratio_text
from sluice_evaluation.figures.style import Format, Theme, canvas, soften
from sluice_evaluation.inference import RatioEstimate, Shape, Verdict

PANEL_HEIGHT_INCHES = 2.1
# Room above the bars for the marks.
HEADROOM = 1.15
# So many bars leave room for their figures.
FEW_BARS = 4


def prepare(
    study: Study, figure: dict[str, Any], cells: list[CellRuns]
) -> tuple[Callable[[Theme, Format], Figure], str] | None:
    """The painter of the figure and its description for those who do not see it.

    None as long as there is no run of the baseline.
    """
    panels = _panels(study, figure, cells)
    if not panels:
        return None
    published = study.experiment.published(figure["published"]) if "published" in figure else None
    limit = published.get("largest_ratio") if published else None
    described = "; ".join(
        f"{label or 'all'}: " + ", ".join(f"{name} {text}" for name, text in _texts(bars))
        for label, bars in panels
    )

    def paint(theme: Theme, form: Format) -> Figure:
        return _paint(theme, form, panels, study, figure, limit)

    return paint, f"Bars of {figure['title'].lower()}. {described}."


class _Bar:
    """A cell's ratio; the baseline's is 1 by definition."""

    def __init__(self, study: Study, figure: dict[str, Any], cell: CellRuns):
        self.names = [str(cell.factors[name]) for name in figure["bars"]]
        self.is_baseline = study.baseline_of(cell) is cell
        self.estimate: RatioEstimate | None = study.ratio(cell, figure["metric"])

    @property
    def drawable(self) -> bool:
        return self.is_baseline or (self.estimate is not None and self.estimate.ratio > 0)

    @property
    def height(self) -> float:
        return 1.0 if self.is_baseline else self.estimate.ratio

    @property
    def top(self) -> float:
        if self.is_baseline or self.estimate.shape is not Shape.BOUNDED:
            return self.height
        return self.estimate.upper


def _panels(
    study: Study, figure: dict[str, Any], cells: list[CellRuns]
) -> list[tuple[str, list[_Bar]]]:
    groups: dict[str, list[_Bar]] = {}
    for cell in cells:
        values = [_panel_text(study, name, cell) for name in figure.get("panels", [])]
        bar = _Bar(study, figure, cell)
        if bar.drawable:
            groups.setdefault(", ".join(values), []).append(bar)
    return list(groups.items())


def _panel_text(study: Study, name: str, cell: CellRuns) -> str:
    value = cell.factors[name]
    if name == "threads":
        return f"{value} thread" + ("" if value == 1 else "s")
    return f"{study.experiment.label(name)} {value}"


def _texts(bars: list[_Bar]) -> list[tuple[str, str]]:
    return [
        (" ".join(bar.names), "1 (baseline)" if bar.is_baseline else ratio_text(bar.estimate))
        for bar in bars
    ]


def _paint(
    theme: Theme, form: Format, panels: list, study: Study, figure: dict, limit: float | None
) -> Figure:
    columns = min(form.columns, len(panels))
    if form.columns == 2 and len(figure["bars"]) == 1:
        columns = 1
    rows = math.ceil(len(panels) / columns)
    drawn = canvas(theme, form, rows * PANEL_HEIGHT_INCHES + 0.55)
    grid = drawn.subplots(rows, columns, sharey=True, squeeze=False)
    highest = max([bar.top for _, bars in panels for bar in bars] + ([limit] if limit else []))
    # An interval that runs away must not flatten the bars that people came for.
    tallest = max(bar.height for _, bars in panels for bar in bars)
    ceiling = min(highest, 2.5 * max(tallest, limit or 0)) * HEADROOM
    hues = _hues(theme, panels)
    for axes, (label, bars) in zip(grid.flat, panels, strict=False):
        _panel(axes, theme, form, label, bars, hues, ceiling)
        if limit:
            axes.axhline(limit, color=theme.text, linewidth=0.9, linestyle=(0, (1, 2)))
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[:, 0]:
        axes.set_ylabel("ratio to baseline")
    if len(figure["bars"]) > 1:
        for axes in grid[-1, :]:
            axes.set_xlabel(study.experiment.label(figure["bars"][-1]))
    _legend(drawn, theme, form, study, figure, hues, limit)
    return drawn


def _hues(theme: Theme, panels: list) -> dict[str, str]:
    first = dict.fromkeys(bar.names[0] for _, bars in panels for bar in bars)
    return {name: theme.series[i % len(theme.series)] for i, name in enumerate(first)}


def _panel(
    axes: Axes, theme: Theme, form: Format, label: str, bars: list[_Bar],
    hues: dict[str, str], ceiling: float,
) -> None:  # fmt: skip
    soften(axes)
    axes.set_ylim(0, ceiling)
    axes.set_title(label)
    axes.axhline(1.0, color=theme.muted, linewidth=0.9)
    for place, bar in enumerate(bars):
        colour = hues[bar.names[0]]
        axes.bar(
            place, bar.height, 0.72, color=theme.neutral if bar.is_baseline else colour,
            hatch="////" if bar.is_baseline else None, edgecolor=theme.text, linewidth=0.0,
        )  # fmt: skip
        _interval(axes, theme, place, bar, ceiling, len(bars) <= FEW_BARS)
    axes.set_xticks(range(len(bars)), [_tick(bar, form) for bar in bars])
    axes.tick_params(axis="x", length=0)


def _tick(bar: _Bar, form: Format) -> str:
    # With two factors the first one is the colour.
    text = bar.names[-1] if len(bar.names) > 1 else bar.names[0]
    return text.replace(", ", ",\n")


def _mark(estimate: RatioEstimate, few: bool) -> str:
    """`~` where nothing is shown, and the ratio itself where there is room for it."""
    words = ["~"] if estimate.verdict is Verdict.NOTHING_SHOWN else []
    if few:
        words.append(f"{estimate.ratio:.2f}")
    if estimate.shape is not Shape.BOUNDED:
        words.append("unbounded")
    return " ".join(words)


def _interval(axes: Axes, theme: Theme, place: int, bar: _Bar, ceiling: float, few: bool) -> None:
    if bar.is_baseline:
        return
    estimate = bar.estimate
    mark_at = bar.height
    if estimate.shape is Shape.BOUNDED:
        low, high = max(estimate.lower, 0.0), min(estimate.upper, ceiling)
        axes.plot([place, place], [low, high], color=theme.text, linewidth=1.1, zorder=3)
        for end in (low, high):
            axes.plot([place - 0.12, place + 0.12], [end, end], color=theme.text, linewidth=1.1)
        mark_at = high
    if text := _mark(estimate, few):
        axes.annotate(
            text, (place, min(mark_at, ceiling * 0.93)), xytext=(0, 2),
            textcoords="offset points", ha="center", va="bottom", fontweight="bold",
        )  # fmt: skip


def _legend(
    drawn: Figure, theme: Theme, form: Format, study: Study, figure: dict,
    hues: dict[str, str], limit: float | None,
) -> None:  # fmt: skip
    handles = []
    if len(figure["bars"]) > 1:
        name = study.experiment.label(figure["bars"][0])
        handles = [Patch(color=colour, label=f"{name} {value}") for value, colour in hues.items()]
    handles.append(
        Patch(facecolor=theme.neutral, hatch="////", edgecolor=theme.text, linewidth=0.0,
              label="baseline")
    )  # fmt: skip
    if limit:
        handles.append(
            Line2D([], [], color=theme.text, linewidth=0.9, linestyle=(0, (1, 2)),
                   label=f"published maximum, {limit:g}")
        )  # fmt: skip
    columns = 4 if form.columns > 2 else 2
    drawn.legend(handles=handles, loc="outside lower center", ncols=columns, handlelength=1.4)
