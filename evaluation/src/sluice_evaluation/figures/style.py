"""Colours, sizes and the deterministic way to write SVG."""

import io
import re
from dataclasses import dataclass

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

_PARAMETERS = {
    # Identifiers come from this instead of from a random number, which could come up twice.
    "svg.hashsalt": "sluice",
    # Glyphs as paths: the same picture whatever fonts the reader has.
    "svg.fonttype": "path",
    "font.family": ["DejaVu Sans"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.titlelocation": "left",
    "axes.axisbelow": True,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "path.simplify": False,
}


# As matplotlib makes them: a letter, and a hash of what they identify.
_HASHED_IDENTIFIER = re.compile(r'(?<=["#])([a-z])[0-9a-f]{10}(?=[")])')


@dataclass(frozen=True)
class Theme:
    """Colours of one appearance; series are told apart by the colour-blind too (Okabe and Ito)."""

    name: str
    text: str
    muted: str
    grid: str
    neutral: str
    burst: str
    checkpoint: str
    series: tuple[str, ...]


LIGHT = Theme(
    "light", "#1b1f24", "#57606a", "#d8dee4", "#9aa4af", "#f6d9b0", "#d5e4f3",
    ("#0072b2", "#d55e00", "#00795a", "#a64d82", "#7a5c00", "#2a8fc9"),
)  # fmt: skip
DARK = Theme(
    "dark", "#e6edf3", "#9da7b3", "#30363d", "#7d8590", "#5a4017", "#1c3a5a",
    ("#58b2ec", "#f59a5f", "#3ccfa0", "#e59cc6", "#e6c84b", "#a9c7ff"),
)  # fmt: skip
THEMES = (LIGHT, DARK)


@dataclass(frozen=True)
class Format:
    """Width of a figure and how much goes beside each other."""

    name: str
    width_inches: float
    columns: int
    font_points: float


WIDE = Format("wide", 9.0, 3, 8.5)
# For screens of 390 px, where a wide figure's letters would be too small to read.
NARROW = Format("narrow", 4.4, 2, 9.0)
FORMATS = (WIDE, NARROW)


def canvas(theme: Theme, form: Format, height_inches: float) -> Figure:
    """An empty figure with a transparent ground."""
    figure = Figure(figsize=(form.width_inches, height_inches), layout="constrained")
    figure.patch.set_alpha(0.0)
    return figure


def drawing_parameters(theme: Theme, form: Format) -> matplotlib.RcParams:
    """Settings to draw under: `with matplotlib.rc_context(drawing_parameters(...))`."""
    size = form.font_points
    return _PARAMETERS | {
        "font.size": size,
        "axes.titlesize": size,
        "axes.labelsize": size,
        "xtick.labelsize": size - 0.5,
        "ytick.labelsize": size - 0.5,
        "legend.fontsize": size,
        "text.color": theme.text,
        "axes.edgecolor": theme.muted,
        "axes.labelcolor": theme.text,
        "axes.titlecolor": theme.text,
        "xtick.color": theme.muted,
        "ytick.color": theme.muted,
        "xtick.labelcolor": theme.text,
        "ytick.labelcolor": theme.text,
        "axes.facecolor": "none",
        "grid.color": theme.grid,
        "grid.linewidth": 0.7,
        "hatch.color": theme.text,
    }


def soften(axes: Axes) -> None:
    """Horizontal grid lines only."""
    axes.grid(True, axis="y", which="major")
    axes.tick_params(length=2.5)


def to_svg(figure: Figure) -> bytes:
    """The figure as SVG without date, version or random identifiers."""
    out = io.BytesIO()
    FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None, "Creator": None})
    # Trailing blanks are matplotlib's; files of this project have none.
    lines = _number_identifiers(out.getvalue().decode()).splitlines()
    return ("\n".join(line.rstrip() for line in lines) + "\n").encode()


def _number_identifiers(svg: str) -> str:
    """Identifiers by their order of appearance.

    Their hashes are of coordinates to the last bit, which processors with other vector units
    compute otherwise; what is drawn has six decimals.
    """
    numbered: dict[str, str] = {}
    return _HASHED_IDENTIFIER.sub(
        lambda found: numbered.setdefault(found[0], f"{found[1]}{len(numbered) + 1}"), svg
    )
