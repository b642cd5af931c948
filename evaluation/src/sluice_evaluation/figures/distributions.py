"""Latency over time, and the share of requests that were slower than a latency."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from sluice_evaluation.analysis import CellRuns, Study
from sluice_evaluation.figures.style import Format, Theme, canvas, soften
from sluice_evaluation.histograms import Distribution, coarsen, kept_width_seconds, merge
from sluice_evaluation.records import Record, normal_phase

MILLISECONDS = 1000.0
TIME_PANEL_HEIGHT_INCHES = 1.75
# A 99th percentile of fewer requests is the slowest or next to it.
LEAST_REQUESTS = 20
CURVE_STEP_DECADES = 0.015
_DASHES = ("solid", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))


def cell_name(figure: dict[str, Any], cell: CellRuns) -> str:
    """What a line or panel of a cell is called."""
    values = [str(cell.factors[name]) for name in figure["lines"]]
    return values[0] if len(values) == 1 else f"({', '.join(values)})"


def _width_seconds(record: Record) -> float:
    """The width of the kept intervals, widened so that bins of all clients line up."""
    start, end = normal_phase(record.document)
    return kept_width_seconds(end - start)


def intervals_over_time(record: Record, latency: str) -> list[tuple[float, Distribution]]:
    """Middle of each bin in seconds of the normal phase, and the latencies in it."""
    start, _ = normal_phase(record.document)
    width = _width_seconds(record)
    bins = coarsen(record.intervals(latency), start, width)
    # The bin's own place, not the first client's stamp in it.
    return [
        ((math.floor(((b.start + b.end) / 2 - start) / width) + 0.5) * width, b.distribution)
        for b in bins
        if b.distribution.total >= LEAST_REQUESTS
    ]


def over_time(record: Record, latency: str) -> tuple[np.ndarray, np.ndarray]:
    """Middle of each bin in seconds of the normal phase, and its 99th percentile in seconds."""
    bins = intervals_over_time(record, latency)
    percentiles = [distribution.percentile_seconds(99) for _, distribution in bins]
    return np.array([middle for middle, _ in bins]), np.array(percentiles)


def prepare_time(
    study: Study, figure: dict[str, Any], cells: list[CellRuns]
) -> tuple[Callable[[Theme, Format], Figure], str]:
    """The painter of p99 over time, one panel for each cell."""
    curves = {
        cell.id: [over_time(record, cell.latency) for record in cell.complete] for cell in cells
    }
    shaded = figure.get("shade", [])
    described = "; ".join(
        f"{cell_name(figure, cell)}: worst bin {worst * MILLISECONDS:.3g} ms"
        for cell in cells
        for worst in [max((p99 for _, bins in curves[cell.id] for p99 in bins), default=0)]
    )

    def paint(theme: Theme, form: Format) -> Figure:
        columns = min(len(cells), 1 if form.columns == 2 else 2 if len(cells) == 4 else 3)
        rows = math.ceil(len(cells) / columns)
        drawn = canvas(theme, form, rows * TIME_PANEL_HEIGHT_INCHES + 0.6)
        grid = drawn.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for index, (axes, cell) in enumerate(zip(grid.flat, cells, strict=False)):
            _time_panel(axes, theme, cell, curves[cell.id], shaded, index)
            axes.set_title(cell_name(figure, cell))
        for axes in list(grid.flat)[len(cells) :]:
            axes.set_visible(False)
        for axes in grid[:, 0]:
            axes.set_ylabel("p99 (ms)")
        for axes in grid[-1, :]:
            axes.set_xlabel("seconds of the normal phase")
        _legend(drawn, theme, shaded, 4 if form.columns > 2 else 2)
        return drawn

    return paint, f"99th percentile over time. {described}."


def _time_panel(
    axes: Axes, theme: Theme, cell: CellRuns, curves: list, shaded: list[str], index: int
) -> None:
    soften(axes)
    milliseconds(axes.yaxis, axes.set_yscale)
    first = cell.complete[0].document
    normal = next(p for p in first["phases"] if p["name"] == "normal")
    start, end = normal["start_seconds"], normal["end_seconds"]
    for event in first["events"]:
        left = max(event["start_seconds"], start) - start
        right = min(event["end_seconds"], end) - start
        if event["kind"] in shaded and right > left:
            colour, top = _shade(theme, event["kind"], shaded)
            axes.axvspan(left, right, ymax=top, color=colour, linewidth=0, zorder=0)
    colour = theme.series[index % len(theme.series)]
    for seconds, p99 in curves[1:]:
        axes.plot(seconds, p99 * MILLISECONDS, color=colour, linewidth=0.7, alpha=0.45)
    seconds, p99 = curves[0]
    axes.plot(seconds, p99 * MILLISECONDS, color=colour, linewidth=1.7)
    axes.set_xlim(0, end - start)


def _shade(theme: Theme, kind: str, shaded: list[str]) -> tuple[str, float]:
    """Colour and height of a shade: beside others, checkpoints are a strip at the bottom."""
    if kind == "burst":
        return theme.burst, 1.0
    return (theme.checkpoint, 1.0) if len(shaded) == 1 else (theme.muted, 0.045)


def _legend(drawn: Figure, theme: Theme, shaded: list[str], columns: int) -> None:
    handles: list[Any] = [
        Patch(color=_shade(theme, kind, shaded)[0], label=kind) for kind in shaded
    ]
    handles.append(Line2D([], [], color=theme.text, linewidth=1.7, label="run 1"))
    handles.append(Line2D([], [], color=theme.text, linewidth=0.7, alpha=0.6, label="other runs"))
    drawn.legend(handles=handles, loc="outside lower center", ncols=columns, handlelength=1.6)


def milliseconds(axis: Any, set_scale: Callable[[str], None]) -> None:
    """Have an axis show them on a logarithmic scale."""
    set_scale("log")
    axis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def prepare_cdf(
    study: Study, figure: dict[str, Any], cells: list[CellRuns]
) -> tuple[Callable[[Theme, Format], Figure], str]:
    """The painter of the complementary distribution, all runs of a cell together."""
    together: dict[str, Distribution] = {
        cell.id: merge(
            interval.distribution
            for record in cell.complete
            for interval in record.intervals(cell.latency)
        )
        for cell in cells
    }
    described = "; ".join(
        f"{cell_name(figure, cell)}: 1 in 1000 slower than "
        f"{together[cell.id].percentile_seconds(99.9) * 1000:.3g} ms"
        for cell in cells
    )

    def paint(theme: Theme, form: Format) -> Figure:
        drawn = canvas(theme, form, 3.6 if form.columns > 2 else 3.9)
        axes = drawn.subplots()
        axes.grid(True, which="major")
        for index, cell in enumerate(cells):
            _curve(axes, theme, together[cell.id], cell_name(figure, cell), index)
        milliseconds(axes.xaxis, axes.set_xscale)
        _share_axis(axes)
        axes.set_xlabel("latency (ms)")
        axes.set_ylabel("share of requests slower")
        drawn.legend(loc="outside lower center", ncols=4 if form.columns > 2 else 2)
        return drawn

    return paint, f"Share of requests slower than a latency. {described}."


def _curve(axes: Axes, theme: Theme, whole: Distribution, name: str, index: int) -> None:
    seconds, share = _thinned(*whole.exceedance())
    axes.plot(
        seconds * MILLISECONDS, share, drawstyle="steps-post", label=name,
        color=theme.series[index % len(theme.series)], linestyle=_DASHES[index % len(_DASHES)],
        linewidth=1.5,
    )  # fmt: skip


def _thinned(seconds: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The points that can be told apart in the figure."""
    # The last bucket has nothing above it, and a logarithmic axis has no 0.
    seconds, share = seconds[:-1], share[:-1]
    places = np.stack([np.log10(seconds), np.log10(share)])
    kept = [0] if seconds.size else []
    for index in range(1, seconds.size):
        if np.abs(places[:, index] - places[:, kept[-1]]).max() >= CURVE_STEP_DECADES:
            kept.append(index)
    return seconds[kept], share[kept]


def _share_axis(axes: Axes) -> None:
    axes.set_yscale("log")
    axes.set_ylim(top=1.0)
    names = {1.0: "all", 0.1: "1 in 10", 0.01: "1 in 100", 0.001: "1 in 1,000"}
    names |= {1e-4: "1 in 10⁴", 1e-5: "1 in 10⁵", 1e-6: "1 in 10⁶"}
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: names.get(float(f"{value:.3g}"), ""))
    )
    axes.yaxis.set_minor_formatter(NullFormatter())
