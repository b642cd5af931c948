"""Latency distributions: HdrHistogram logs as YCSB writes them, merged without loss.

YCSB records microseconds with three significant digits; every quantity that leaves this module is
in seconds. Percentiles are nearest-rank, the smallest value that at least the given share of
requests did not exceed, as in the Java implementation of HdrHistogram.
"""

import binascii
import math
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hdrh.codec import (
    HdrCookieException,
    HdrHistogramSettingsException,
    HdrLengthException,
)
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader, HistogramLogWriter

from sluice_evaluation.errors import EvaluationError

_LOWEST, _HIGHEST, _DIGITS = 1, 3_600_000_000, 3
# Values below this are exact; above, buckets double in width with every power of two.
_EXACT_BELOW_BITS = 11
MICROSECONDS = 1e-6
# A record keeps at most so many of the normal phase; its intervals.csv has all of them.
MOST_KEPT_INTERVALS = 120
KEPT_WIDTHS_SECONDS = (1, 2, 5, 10, 20, 30, 60)
# A comment, the legend, an interval, perhaps with a tag, or nothing.
_KNOWN_LINE = re.compile(r'#|"StartTimestamp"|(?:Tag=[^,]*,)?(?:[\d.]+,){3}HISTF|\s*$')
_DAMAGE = (
    HdrCookieException,
    HdrHistogramSettingsException,
    HdrLengthException,
    IndexError,
    TypeError,
    ValueError,
    binascii.Error,
    zlib.error,
)


@dataclass(frozen=True)
class Distribution:
    """Counts of requests by the lower end of their bucket in microseconds, ascending."""

    lower: np.ndarray
    counts: np.ndarray

    @property
    def total(self) -> int:
        """Number of requests."""
        return int(self.counts.sum())

    @property
    def upper(self) -> np.ndarray:
        """The largest value of each bucket in microseconds."""
        return self.lower + self._width - 1

    @property
    def _width(self) -> np.ndarray:
        bits = np.frexp(np.maximum(self.lower, 1).astype(float))[1]
        return np.left_shift(1, np.maximum(bits - _EXACT_BELOW_BITS, 0))

    def percentile_seconds(self, percent: float) -> float:
        """Nearest-rank percentile; nan when empty."""
        if not self.total:
            return math.nan
        rank = max(1, math.ceil(percent / 100 * self.total - 1e-9))
        index = int(np.searchsorted(np.cumsum(self.counts), rank))
        return float(self.upper[index]) * MICROSECONDS

    def mean_seconds(self) -> float:
        """Mean, each request taken at the middle of its bucket; nan when empty."""
        if not self.total:
            return math.nan
        middle = self.lower + self._width // 2
        return float((middle * self.counts).sum()) / self.total * MICROSECONDS

    def maximum_seconds(self) -> float:
        """Largest latency; nan when empty."""
        return float(self.upper[-1]) * MICROSECONDS if self.total else math.nan

    def exceedance(self) -> tuple[np.ndarray, np.ndarray]:
        """Latencies in seconds and the share of requests that were slower (complementary CDF)."""
        slower = self.total - np.cumsum(self.counts)
        return self.upper * MICROSECONDS, slower / max(self.total, 1)

    def summary(self) -> dict[str, float | int]:
        """Count, mean, percentiles and maximum, as records hold them; latencies null when empty."""
        if not self.total:
            return {"operations": 0} | dict.fromkeys(SUMMARY_LATENCIES)
        return {
            "operations": self.total,
            "mean_seconds": _rounded(self.mean_seconds()),
            "p50_seconds": _rounded(self.percentile_seconds(50)),
            "p99_seconds": _rounded(self.percentile_seconds(99)),
            "p99_9_seconds": _rounded(self.percentile_seconds(99.9)),
            "max_seconds": _rounded(self.maximum_seconds()),
        }


SUMMARY_LATENCIES = ("mean_seconds", "p50_seconds", "p99_seconds", "p99_9_seconds", "max_seconds")
EMPTY = Distribution(np.empty(0, np.int64), np.empty(0, np.int64))


def _rounded(seconds: float) -> float:
    # A thousandth of YCSB's resolution; keeps records short and equal on every machine.
    return round(seconds, 9)


@dataclass(frozen=True)
class Interval:
    """The requests of one interval of a log; times in seconds since the epoch."""

    start: float
    end: float
    distribution: Distribution


def merge(distributions: Iterable[Distribution]) -> Distribution:
    """All requests of several distributions together."""
    parts = [d for d in distributions if d.lower.size]
    if not parts:
        return EMPTY
    lower, inverse = np.unique(np.concatenate([p.lower for p in parts]), return_inverse=True)
    counts = np.zeros(lower.size, np.int64)
    np.add.at(counts, inverse, np.concatenate([p.counts for p in parts]))
    return Distribution(lower, counts)


def from_values(microseconds: Iterable[int]) -> Distribution:
    """A distribution of single latencies in whole microseconds."""
    histogram = HdrHistogram(_LOWEST, _HIGHEST, _DIGITS)
    for value in microseconds:
        histogram.record_value(int(value))
    return _distribution(histogram)


def _distribution(histogram: HdrHistogram) -> Distribution:
    counts = np.array(histogram.encoder.get_counts(), np.int64)
    (used,) = np.nonzero(counts)
    # HdrHistogram's layout: the first bucket is linear, each further one doubles the step.
    half, magnitude = histogram.sub_bucket_half_count, histogram.sub_bucket_half_count_magnitude
    bucket = (used >> magnitude) - 1
    position = (used & (half - 1)) + np.where(bucket < 0, 0, half)
    lower = position << (np.maximum(bucket, 0) + histogram.unit_magnitude)
    return Distribution(lower.astype(np.int64), counts[used])


def read_log(path: Path) -> list[Interval]:
    """The intervals of a log in their order; EvaluationError when it is damaged or not a log."""
    _require_entries(path)
    reader = HistogramLogReader(str(path), HdrHistogram(_LOWEST, _HIGHEST, _DIGITS))
    intervals = []
    try:
        while (histogram := reader.get_next_interval_histogram()) is not None:
            start, end = (
                round(stamp / 1000, 3)
                for stamp in (histogram.get_start_time_stamp(), histogram.get_end_time_stamp())
            )
            intervals.append(Interval(start, end, _distribution(histogram)))
    except _DAMAGE as error:
        raise EvaluationError(f"{path}: not a readable HdrHistogram log: {error}") from error
    finally:
        reader.close()
    return intervals


def _require_entries(path: Path) -> None:
    """The reader passes over a line that it does not know, as a full disk leaves one."""
    with path.open(encoding="ascii", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if not _KNOWN_LINE.match(line):
                raise EvaluationError(
                    f"{path}: not a readable HdrHistogram log: line {number} is no interval"
                )


def write_log(path: Path, intervals: Iterable[Interval]) -> None:
    """Write intervals as a log that any HdrHistogram tool reads; fails when the file exists."""
    with path.open("x", encoding="ascii") as out:
        writer = HistogramLogWriter(out)
        writer.output_log_format_version()
        first = True
        for interval in intervals:
            if first:
                # Not output_start_time(): hdrhistogram 0.10.8 calls a method that is not there.
                writer.output_comment(f"[StartTime: {interval.start:.3f} (seconds since epoch)]")
                writer.output_legend()
                first = False
            _write_interval(writer, interval)


def _write_interval(writer: HistogramLogWriter, interval: Interval) -> None:
    histogram = HdrHistogram(_LOWEST, _HIGHEST, _DIGITS)
    distribution = interval.distribution
    for value, count in zip(distribution.lower, distribution.counts, strict=True):
        histogram.record_value(int(value), int(count))
    writer.output_interval_histogram(histogram, interval.start, interval.end, 1_000_000.0)


def between(intervals: Iterable[Interval], start: float, end: float) -> list[Interval]:
    """The intervals whose middle lies in [start, end), times in seconds since the epoch."""
    return [i for i in intervals if start <= (i.start + i.end) / 2 < end]


def kept_width_seconds(duration_seconds: float) -> int:
    """The width of the intervals that a record keeps of a normal phase of that length."""
    fitting = (w for w in KEPT_WIDTHS_SECONDS if duration_seconds / w <= MOST_KEPT_INTERVALS)
    return next(fitting, KEPT_WIDTHS_SECONDS[-1])


def coarsen(intervals: list[Interval], origin: float, width_seconds: float) -> list[Interval]:
    """Merge intervals into bins of `width_seconds` counted from `origin`."""
    bins: dict[int, list[Interval]] = {}
    for interval in intervals:
        middle = (interval.start + interval.end) / 2
        bins.setdefault(math.floor((middle - origin) / width_seconds), []).append(interval)
    return [
        Interval(
            members[0].start, members[-1].end, merge(member.distribution for member in members)
        )
        for _, members in sorted(bins.items())
    ]
