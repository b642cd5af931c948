"""SVG: the same bytes on every machine, and identifiers that are found."""

import re

from sluice_evaluation.figures.style import LIGHT, WIDE, canvas, to_svg


def drawn(left: float) -> str:
    """A figure with what gets hashed identifiers: markers, hatches and clips."""
    figure = canvas(LIGHT, WIDE, height_inches=2)
    figure.set_layout_engine("none")
    axes = figure.add_axes((left, 0.1, 0.8, 0.8))
    axes.plot([0, 1], [0, 1], marker="o", markersize=5 + left)
    axes.bar([0, 1], [1, 1], hatch="//")
    return to_svg(figure).decode()


def test_last_bits_of_coordinates_change_nothing():
    assert drawn(0.1) == drawn(0.1 + 1e-15)


def test_every_identifier_that_is_used_is_defined_once():
    svg = drawn(0.1)
    defined = re.findall(r' id="([^"]+)"', svg)
    used = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', svg)
    assert len(defined) == len(set(defined))
    assert {one or other for one, other in used} <= set(defined)
    assert {name[0] for name in map(max, used) if re.fullmatch(r"[a-z]\d+", name)} == set("hmp")
