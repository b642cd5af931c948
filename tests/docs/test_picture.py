"""The picture of the README: it shows the parts, and can be read in both colour schemes."""

import re
import xml.etree.ElementTree as ElementTree

from run import TOP

PICTURE = TOP / "docs" / "overview.svg"
SVG = "{http://www.w3.org/2000/svg}"
PARTS = [
    "sluice-dist",
    "PostgreSQL",
    "plug-in",
    "agent",
    "controller",
    "policies",
    "sluice",
    "page",
    "YCSB",
    "report",
]
CHARACTER_SHARE = 0.53
"""About the mean width of a character, as a share of the size of the font."""


def root() -> ElementTree.Element:
    return ElementTree.parse(PICTURE).getroot()


def texts() -> list[ElementTree.Element]:
    return list(root().iter(f"{SVG}text"))


def words_of(text: ElementTree.Element) -> str:
    return "".join(text.itertext())


def test_every_part_is_there():
    shown = " ".join(words_of(text) for text in texts())
    assert [part for part in PARTS if not re.search(rf"(?<![\w-]){part}(?![\w-])", shown)] == []


def test_it_can_be_told_without_being_seen():
    title, description = root().find(f"{SVG}title"), root().find(f"{SVG}desc")
    assert title is not None and title.text
    assert description is not None
    assert all(part in description.text for part in ("agent", "controller", "lease"))


def test_both_colour_schemes_have_every_colour():
    style = root().find(f"{SVG}style").text
    palettes = re.findall(r":root \{([^}]*)\}", style)
    schemes = [set(re.findall(r"(--[\w-]+):", palette)) for palette in palettes]
    used = set(re.findall(r"var\((--[\w-]+)\)", style))
    assert len(schemes) == 2 and schemes[0] == schemes[1] == used


def inner_box(text: ElementTree.Element) -> ElementTree.Element:
    """The smallest rectangle that a text begins in; the page is the largest."""
    x, y = float(text.get("x")), float(text.get("y"))

    def holds(box: ElementTree.Element) -> bool:
        left, top = float(box.get("x", 0)), float(box.get("y", 0))
        right, bottom = left + float(box.get("width")), top + float(box.get("height"))
        return left <= x <= right and top <= y <= bottom

    boxes = [box for box in root().iter(f"{SVG}rect") if holds(box)]
    return min(boxes, key=lambda box: float(box.get("width")) * float(box.get("height")))


def test_texts_fit_into_their_boxes():
    for text in texts():
        size = 12 if "note" in text.get("class", "") else 14
        width = CHARACTER_SHARE * size * len(words_of(text))
        box, x = inner_box(text), float(text.get("x"))
        first = x if "left" in text.get("class", "") else x - width / 2
        left = float(box.get("x", 0))
        assert left <= first and first + width <= left + float(box.get("width")), words_of(text)
