"""Readers of the stores' own logs: one module per store, found by its name.

A module has `read(lines) -> list[Event]` (checkpoints, compactions, ...) and `metrics(events) ->
dict[str, float]` over those of one run. With `BACKGROUND`, a kind of events and a word, latency is
also told of the time in which there were such events. With `samples(lines) -> Iterator[Sample]`
and `metrics_between(samples, start, end)` a log gives quantities over time as well. A new store
adds a file and changes none.
"""

import importlib
import pkgutil
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any


@dataclass(frozen=True)
class Event:
    """Something that a store did, in seconds since the epoch."""

    kind: str
    name: str
    start: float
    end: float
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sample:
    """A quantity at a moment, as the probe `sample` writes those of a machine."""

    epoch_seconds: float
    source: str
    name: str
    value: float


def reader(store: str) -> ModuleType | None:
    """The module that reads a store's log, or None for a store without one."""
    if store not in {module.name for module in pkgutil.iter_modules(__path__)}:
        return None
    return importlib.import_module(f"{__name__}.{store}")
