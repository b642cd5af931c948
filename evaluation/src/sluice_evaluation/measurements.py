"""Measurements: figures beside their bounds that a program takes straight from a store.

A measurement lies in `measurements/<store>-<version>/<name>/<number>.json` of the results. As with
run records, what is there is never written again: the next one gets the next number.
"""

import json
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sluice_evaluation import records
from sluice_evaluation.analysis import significant
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.schema import validate, violations

DIRECTORY = "measurements"
# Behind the quantity of a ratio whose interval is unbounded.
NO_INTERVAL = " (no interval: too few rounds, or the machine is not idle)"


@dataclass(frozen=True)
class Figure:
    """One quantity, in `s`, `bytes/s` or `1` (a ratio, or a count).

    `low` and `high` are the ends of its 95 % interval, `expected` its bounds by `min` and `max`.
    """

    quantity: str
    unit: str
    value: float
    low: float | None = None
    high: float | None = None
    expected: dict[str, float] | None = None
    values: list[float] = field(default_factory=list)

    @property
    def is_outside(self) -> bool:
        """Whether the value is out of bounds, whatever its interval says."""
        least, most = self._bounds
        return not least <= self.value <= most

    @property
    def _bounds(self) -> tuple[float, float]:
        expected = self.expected or {}
        return expected.get("min", -math.inf), expected.get("max", math.inf)

    @property
    def status(self) -> str:
        """`met`, `missed`, `~` when the interval lies on both sides; empty without a bound."""
        if self.expected is None:
            return ""
        least, most = self._bounds
        low = self.value if self.low is None else self.low
        high = self.value if self.high is None else self.high
        if least <= low and high <= most:
            return "met"
        return "missed" if high < least or low > most else "~"

    @property
    def value_text(self) -> str:
        """The value with its interval and unit."""
        texts = [self._scaled(v) for v in (self.value, self.low, self.high) if v is not None]
        interval = f" ({texts[1]} to {texts[2]})" if len(texts) == 3 else ""
        return f"{texts[0]}{interval}{self._unit_text}"

    @property
    def expected_text(self) -> str:
        """The bounds in words."""
        ends = [("at least", "min"), ("at most", "max")]
        given = [(word, self.expected[end]) for word, end in ends if end in (self.expected or {})]
        return ", ".join(f"{word} {self._scaled(v)}{self._unit_text}" for word, v in given)

    def _scaled(self, value: float) -> str:
        if self.unit == "1":
            # Ratios near 1 differ in their last digits.
            return f"{value:.4f}" if 0.9 < value < 1.1 and value != 1 else significant(value)
        return significant(value * {"s": 1e3, "bytes/s": 1e-6}[self.unit])

    @property
    def _unit_text(self) -> str:
        return {"s": " ms", "bytes/s": " MB/s", "1": ""}[self.unit]


@dataclass(frozen=True)
class Measurement:
    """A measurement and the file that it lies in."""

    path: Path
    document: dict[str, Any]

    @property
    def figures(self) -> list[Figure]:
        """All figures, in the order of the program."""
        return [Figure(**figure) for figure in self.document["figures"]]


def folder(document: dict[str, Any]) -> Path:
    """Where measurements of this name go, below the folder of results."""
    return Path(DIRECTORY, f"{document['store']}-{document['version']}", document["name"])


def write(results: Path, document: dict[str, Any]) -> Path:
    """Write a measurement under the next number; EvaluationError when it breaks the schema."""
    validate(document, "measurement", f"measurement {document.get('name')}")
    place = results / folder(document)
    place.mkdir(parents=True, exist_ok=True)
    staged = place / f".{os.getpid()}.part"
    try:
        staged.write_text(records.dump(document))
        return _publish(staged, place)
    finally:
        staged.unlink(missing_ok=True)


def _publish(staged: Path, place: Path) -> Path:
    """Give a whole file the next number; another program may have just taken it."""
    while True:
        taken = (int(path.stem) for path in place.glob("*.json") if path.stem.isdecimal())
        path = place / f"{max(taken, default=0) + 1:02d}.json"
        try:
            path.hardlink_to(staged)
        except FileExistsError:
            continue
        return path


def figures_document(figures: Iterable[Figure]) -> list[dict[str, Any]]:
    """Figures as a document holds them."""
    return [asdict(figure) for figure in figures]


def find(results: Path) -> Iterator[Path]:
    """All measurements below a folder, those of a name in the order of their numbers."""
    found = results.glob(f"{DIRECTORY}/*/*/*.json")
    return iter(sorted(found, key=lambda path: (path.parent, len(path.stem), path.stem)))


def faults(path: Path, results: Path) -> list[str]:
    """Everything wrong with one measurement: schema and place."""
    try:
        document = json.loads(path.read_text())
    except (OSError, json.JSONDecodeError) as error:
        return [f"{path}: cannot be read: {error}"]
    if wrong := violations(document, "measurement"):
        return [f"{path}: {text}" for text in wrong]
    expected = folder(document)
    actual = path.parent.relative_to(results)
    return [] if actual == expected else [f"{path}: lies in {actual}, but is of {expected}"]


def load_all(results: Path) -> list[Measurement]:
    """All measurements, those of a name in their order; EvaluationError when one is not valid."""
    found = []
    for path in find(results):
        if wrong := faults(path, results):
            raise EvaluationError("\n".join(wrong))
        found.append(Measurement(path, json.loads(path.read_text())))
    return found


def by_name(measured: Iterable[Measurement]) -> list[list[Measurement]]:
    """The measurements of each name, the last one last."""
    found: dict[Path, list[Measurement]] = {}
    for measurement in measured:
        found.setdefault(measurement.path.parent, []).append(measurement)
    return list(found.values())


def missed_before(members: list[Measurement]) -> list[tuple[Measurement, list[str]]]:
    """Those before the last one, with the quantities that were out of their bounds in them."""
    return [
        (one, [figure.quantity for figure in one.figures if figure.status == "missed"])
        for one in members[:-1]
    ]
