"""Traces of writes, drawn from what is known of a server: sizes, times between requests, reads.

Sizes are drawn from their quantiles; times between requests from two exponential distributions in
turn with equal shares of the time (H2, balanced means), which storage traces fit best of twenty:
Wajahat et al., Analyzing the distribution fit for storage workload and Internet traffic traces,
Performance Evaluation 142 (2020). A seed gives the same trace each time.
"""

import argparse
import csv
import itertools
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import yaml

from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.schema import validate

HEADER = ("seconds", "operation", "bytes")
_DRAWN_AT_A_TIME = 10_000


@dataclass(frozen=True)
class Characteristics:
    """What a trace is drawn from; the document's fields are those of write-trace.schema.json."""

    document: dict[str, Any]

    @property
    def quantiles(self) -> tuple[np.ndarray, np.ndarray]:
        """Shares and sizes in bytes, both rising."""
        points = self.document["request_bytes"]
        return np.array([p["share"] for p in points]), np.array([p["bytes"] for p in points])

    @property
    def mean_bytes(self) -> float:
        """Of a request."""
        return self._bytes_between(0.0, 1.0)

    def bytes_share_of_largest(self, requests_share: float) -> float:
        """What so large a share of the requests, the largest ones, hold of all bytes."""
        return self._bytes_between(1 - requests_share, 1.0) / self.mean_bytes

    def size_quantile(self, share: float) -> float:
        """Size in bytes that this share of the requests does not exceed."""
        shares, sizes = self.quantiles
        return float(np.exp(np.interp(share, shares, np.log(sizes))))

    def _bytes_between(self, low: float, high: float) -> float:
        """Bytes of the requests between two shares, for each request of all."""
        shares, _ = self.quantiles
        cuts = [low, *(s for s in shares if low < s < high), high]
        return sum(self._bytes_of_piece(a, b) for a, b in itertools.pairwise(cuts))

    def _bytes_of_piece(self, low: float, high: float) -> float:
        # Sizes just within the piece: at its ends there may be jumps.
        inside = (high - low) * 1e-9
        a, b = self.size_quantile(low + inside), self.size_quantile(high - inside)
        return (high - low) * (a if math.isclose(a, b) else (b - a) / math.log(b / a))


def load(path: Path) -> Characteristics:
    """Read and check a file; EvaluationError says what is wrong in it."""
    try:
        document = yaml.safe_load(path.read_text())
    except (OSError, yaml.YAMLError) as error:
        raise EvaluationError(f"{path}: cannot be read: {error}") from error
    validate(document, "write-trace", str(path))
    read = Characteristics(document)
    shares, sizes = read.quantiles
    if (
        np.any(np.diff(shares) < 0)
        or np.any(np.diff(sizes) < 0)
        or (shares[0], shares[-1]) != (0, 1)
    ):
        raise EvaluationError(
            f"{path}: request_bytes: shares go from 0 to 1, and neither they nor bytes fall"
        )
    return read


def draw(what: Characteristics, seconds: float, seed: int) -> Iterator[tuple[float, str, int]]:
    """Requests in so many seconds: when, `write` or `read`, and bytes."""
    random = np.random.default_rng(seed)
    shares, sizes = what.quantiles
    at = 0.0
    while True:
        gaps = _gaps(what, random)
        positions = random.random(_DRAWN_AT_A_TIME)
        drawn = np.exp(np.interp(positions, shares, np.log(sizes)))
        writes = random.random(_DRAWN_AT_A_TIME) < what.document["write_share"]
        for gap, size, is_write in zip(gaps, drawn, writes, strict=True):
            at += float(gap)
            if at >= seconds:
                return
            yield at, "write" if is_write else "read", math.ceil(size)


def _gaps(what: Characteristics, random: np.random.Generator) -> np.ndarray:
    """Seconds between requests, with the mean and the variation that are wanted."""
    mean = what.document["interarrival"]["mean_seconds"]
    variation = what.document["interarrival"]["squared_variation"]
    often = (1 + math.sqrt((variation - 1) / (variation + 1))) / 2
    is_short = random.random(_DRAWN_AT_A_TIME) < often
    means = np.where(is_short, mean / (2 * often), mean / (2 * (1 - often)))
    return random.exponential(1.0, _DRAWN_AT_A_TIME) * means


def write(requests: Iterator[tuple[float, str, int]], to: TextIO) -> None:
    """Write a trace as `sluice calibrate redirect` and `sluice replay redirect` read it."""
    rows = csv.writer(to, lineterminator="\n")
    rows.writerow(HEADER)
    rows.writerows((f"{at:.6f}", operation, size) for at, operation, size in requests)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("characteristics", type=Path, metavar="FILE", help="what to draw from")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="length of the trace (default: %(default)g)"
    )
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Print a trace."""
    write(draw(load(arguments.characteristics), arguments.seconds, arguments.seed), sys.stdout)
    return 0
