"""Waiting for what a store does by itself, with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable

TIMEOUT_SECONDS = 180.0


def wait_until(
    condition: Callable[[], object],
    what: str,
    interval_seconds: float = 0.01,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> None:
    """Poll a condition until it holds; TimeoutError says what did not happen."""
    deadline = time.monotonic() + timeout_seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {timeout_seconds:.0f} s in vain: {what}")
        time.sleep(interval_seconds)
