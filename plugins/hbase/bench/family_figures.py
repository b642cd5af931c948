"""Figures of the plug-in about the block cache of a family, in its snapshots."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass

PLAIN = frozenset((string.ascii_lowercase + string.digits).encode())


def figure_name(scope: str, suffix: str) -> str:
    """Name of a figure about a scope: what is no lower case letter or digit is written as a byte.

    The plug-in shortens names of more than 100 characters, which is not needed here.
    """
    encoded = "".join(chr(byte) if byte in PLAIN else f"_{byte:02x}" for byte in scope.encode())
    return f"cache_{encoded}_{suffix}"


@dataclass(frozen=True)
class Lookups:
    """Looked up in the cache: found, and not found."""

    hits: float
    misses: float

    def since(self, before: Lookups) -> Lookups:
        """Those after an earlier moment."""
        return Lookups(self.hits - before.hits, self.misses - before.misses)

    @property
    def total(self) -> float:
        """All of them."""
        return self.hits + self.misses

    @property
    def hit_ratio(self) -> float:
        """Share of those that were found; ValueError when there were none."""
        if self.total <= 0:
            raise ValueError("nothing was looked up in the cache")
        return self.hits / self.total


def family_lookups(figures: Mapping[str, float], scope: str) -> Lookups:
    """Of a family, since the region server started."""
    return Lookups(
        figures.get(figure_name(scope, "hits_total"), 0),
        figures.get(figure_name(scope, "misses_total"), 0),
    )


def highest_hit_ratio(both: Lookups, reads: int, lookups_a_read: float) -> float:
    """The highest hit ratio that reads can have had, where another client's lookups count as well.

    All hits are taken for those of the reads.
    """
    if reads <= 0 or lookups_a_read <= 0:
        raise ValueError(f"there were {reads} reads of {lookups_a_read} lookups")
    return min(1.0, both.hits / (reads * lookups_a_read))
