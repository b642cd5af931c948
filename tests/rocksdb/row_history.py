"""What a store was told to write, and what it has acknowledged: kept outside of the store.

Rows are written by one client, a batch at a time. A batch of which nobody knows whether it was
written, because the store died, is there as a whole or not at all.
"""

import random
from collections import Counter

KEYS = 50_000
ROWS_PER_BATCH = 200
_DELETED_SHARE = 0.1
# Cannot be compressed to nothing: files are as large as the rows.
_FILLING_BYTES = 150

Batch = dict[str, str | None]
"""Values by key; None deletes."""


class DamageError(Exception):
    """Rows are not as they were acknowledged; the text says which."""


class RowHistory:
    """Of one database, from when it is made."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._rows: dict[str, str] = {}
        self._undecided: Batch = {}
        self._serial = 0
        self.acknowledged_rows = 0

    @property
    def rows(self) -> dict[str, str]:
        """Give what was acknowledged, by key."""
        return dict(self._rows)

    def next_batch(self) -> Batch:
        return dict(self._next_row() for _ in range(ROWS_PER_BATCH))

    def _next_row(self) -> tuple[str, str | None]:
        self._serial += 1
        key = f"key-{self._random.randrange(KEYS):05}"
        if self._random.random() < _DELETED_SHARE:
            return key, None
        return key, f"{self._serial}-{self._random.randbytes(_FILLING_BYTES).hex()}"

    def acknowledge(self, batch: Batch) -> None:
        assert not self._undecided, "check what the store has before it writes on"
        self._rows = _written(self._rows, batch)
        self.acknowledged_rows += len(batch)

    def leave_undecided(self, batch: Batch) -> None:
        """The store has died before it answered."""
        self._undecided = batch

    def check(self, found: dict[str, str]) -> None:
        """Compare all rows of the store with what was acknowledged; DamageError if they differ."""
        with_undecided = _written(dict(self._rows), self._undecided)
        if found == with_undecided:
            self._rows = with_undecided
        elif found != self._rows:
            raise DamageError(_differences(self._rows, found))
        self._undecided = {}


def _written(rows: dict[str, str], batch: Batch) -> dict[str, str]:
    """Write a batch to rows; gives the same."""
    for key, value in batch.items():
        if value is None:
            rows.pop(key, None)
        else:
            rows[key] = value
    return rows


def _differences(expected: dict[str, str], found: dict[str, str]) -> str:
    kinds: dict[str, str] = {}
    for key in sorted(expected.keys() | found.keys()):
        if key not in found:
            kinds[key] = "lost"
        elif key not in expected:
            kinds[key] = "not to be there"
        elif expected[key] != found[key]:
            kinds[key] = "of another value"
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(kinds.values()).items()))
    first = [
        f"{key}: acknowledged {expected.get(key, '')[:40]!r}, found {found.get(key, '')[:40]!r}"
        for key in list(kinds)[:5]
    ]
    return "\n".join([f"of {len(expected)} rows {counts}", *first])
