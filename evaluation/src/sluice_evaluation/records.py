"""Run records on disk: where they lie, how they are written once, and how they are checked.

A complete run lies in `<experiment>/<profile>/<cell>/<run>/`, a failed attempt beside it in
`<run>-failed-<attempt>/`: both stay, and neither is ever written again.
"""

import csv
import hashlib
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from sluice_evaluation import histograms, node_metrics
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.raw_clients import Key, results_of
from sluice_evaluation.schema import validate, violations
from sluice_evaluation.window_metrics import tail_latency

RECORD_NAME = "record.json"
# Names of folders that `publish` makes.
PUBLISHED = "[!.]*"
THROUGHPUT = "throughput_operations_per_second"


@dataclass(frozen=True)
class Record:
    """A record and the folder that it lies in."""

    directory: Path
    document: dict[str, Any]

    @property
    def complete(self) -> bool:
        """Whether the run finished; a failed one has no results."""
        return self.document["status"] == "complete"

    @property
    def plan(self) -> dict[str, Any]:
        """The run as it was planned."""
        return self.document["plan"]

    @cached_property
    def stolen_share(self) -> float | None:
        """Share of processor time that went to other machines in the normal phase, if known."""
        return node_metrics.stolen_share(self.directory / "samples", *normal_phase(self.document))

    @cached_property
    def others_share(self) -> float | None:
        """Share of a machine's processor time that no node had in the normal phase, if known."""
        return node_metrics.others_share(self.directory / "samples", *normal_phase(self.document))

    @cached_property
    def generator_wait_share(self) -> float | None:
        """Share of the normal phase that a load generator waited for its own quota, if known.

        The largest over the hosts that had nothing but load generators; where the store runs on
        the same hosts, its own waiting is part of what is measured.
        """
        if any("node" in client for client in self.plan["clients"]):
            return None
        hosts = {
            event["attributes"]["host"]
            for event in self.document["events"]
            if event["kind"] == "client" and "host" in event.get("attributes", {})
        }
        files = (self.directory / "samples" / f"{host}.csv" for host in sorted(hosts))
        window = normal_phase(self.document)
        shares = (node_metrics.throttled_share(path, *window) for path in files)
        return max((share for share in shares if share is not None), default=None)

    @cached_property
    def late_seconds(self) -> float:
        """How late requests were issued when the normal phase began, for what came before it.

        The mean of the last interval of the warm-up, for the client and operation that has most;
        0 without a schedule or a warm-up.
        """
        phase = next(p for p in self.document["phases"] if p["name"] == "normal")
        means: dict[tuple[str, str], dict[str, float]] = {}
        with (self.directory / "intervals.csv").open(newline="") as lines:
            for row in csv.DictReader(lines):
                if int(row["operations"]) and float(row["end_seconds"]) <= phase["start_seconds"]:
                    of_operation = means.setdefault((row["client"], row["operation"]), {})
                    of_operation[row["kind"]] = float(row["mean_seconds"])
        waits = (m["intended"] - m["measured"] for m in means.values() if len(m) > 1)
        return max(waits, default=0.0)

    def value(self, metric: str, latency: str) -> float | None:
        """A metric by name, or None when the record does not hold it.

        `latency` (measured or intended) says which of the two `latency_*` names take; those of one
        operation have its name before them, as in `read_modify_write_latency_p99_seconds`.
        """
        results = self.document["results"]
        if results is None:
            return None
        if metric == THROUGHPUT:
            return results[metric]
        if metric.startswith("latency_"):
            summary = results[latency]
            return None if summary is None else summary.get(metric.removeprefix("latency_"))
        if metric in self.document["metrics"]:
            return self.document["metrics"][metric]
        operation, told_apart, quantity = metric.partition("_latency_")
        return self._value_of_operation(operation, quantity, latency) if told_apart else None

    def _value_of_operation(self, operation: str, quantity: str, latency: str) -> float | None:
        """Over all clients; their summaries cannot be added up, their histograms can."""
        parts = [
            entry
            for entry in self.document["summaries"]
            if entry["kind"] == latency
            and entry["operation"].lower().replace("-", "_") == operation
        ]
        if len(parts) == 1:
            return parts[0]["summary"].get(quantity)
        window = normal_phase(self.document)
        inside = [
            interval.distribution
            for entry in parts
            for interval in histograms.between(
                histograms.read_log(self.directory / entry["file"]), *window
            )
        ]
        return histograms.merge(inside).summary().get(quantity) if parts else None

    def intervals(self, latency: str) -> list[histograms.Interval]:
        """The intervals of all clients' counted operations, in the order of their start."""
        found = []
        for entry in self.document["summaries"]:
            if entry["kind"] == latency and entry["operation"] in self.plan["operations"]:
                found += histograms.read_log(self.directory / entry["file"])
        return sorted(found, key=lambda i: (i.start, i.end))


def result_directory(plan: dict[str, Any], failed: bool) -> Path:
    """Where the record of a planned run goes, below the folder of results."""
    name = f"{plan['run']:02d}"
    if failed:
        name += f"-failed-{plan['attempt']}"
    return Path(plan["experiment"], plan["profile"], plan["cell"], name)


def find(results: Path) -> Iterator[Path]:
    """All record files below a folder, in a stable order.

    Not those in hidden folders, which were staged when `record` was killed and never published.
    """
    return iter(sorted(results.glob(f"*/*/*/{PUBLISHED}/{RECORD_NAME}")))


def find_in(profile: Path) -> Iterator[Path]:
    """Those of one profile of an experiment, by its folder."""
    return iter(sorted(profile.glob(f"*/{PUBLISHED}/{RECORD_NAME}")))


def load(path: Path) -> Record:
    """Read and validate one record; EvaluationError when it is not valid."""
    try:
        document = json.loads(path.read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise EvaluationError(f"{path}: cannot be read: {error}") from error
    validate(document, "record", str(path))
    return Record(path.parent, document)


def load_all(results: Path) -> list[Record]:
    """All records below a folder."""
    return [load(path) for path in find(results)]


def dump(document: dict[str, Any]) -> str:
    """The one way a record is written, so that equal records are equal files."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def publish(staged: Path, destination: Path) -> None:
    """Move a finished folder into place; EvaluationError when something is there already."""
    destination.parent.mkdir(parents=True, exist_ok=True)
    try:
        # rename(2) refuses a folder that is not empty, so two writers cannot both win.
        os.rename(staged, destination)  # noqa: PTH104
    except OSError as error:
        raise EvaluationError(
            f"{destination} exists: records are never overwritten; plan again for the next run"
        ) from error


def describe_file(directory: Path, path: Path) -> dict[str, Any]:
    """Path, size and SHA-256 of a file of a record."""
    content = path.read_bytes()
    return {
        "path": path.relative_to(directory).as_posix(),
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def faults(path: Path, results: Path) -> list[str]:
    """Everything wrong with one record file: schema, place, files, and numbers recomputed."""
    try:
        document = json.loads(path.read_text())
    except (OSError, json.JSONDecodeError) as error:
        return [f"{path}: cannot be read: {error}"]
    if wrong := violations(document, "record"):
        return [f"{path}: {text}" for text in wrong]
    record = Record(path.parent, document)
    wrong = _place_faults(record, results) + _file_faults(record)
    if not wrong and record.complete:
        wrong = _number_faults(record)
    return [f"{path}: {text}" for text in wrong]


def _place_faults(record: Record, results: Path) -> list[str]:
    expected = result_directory(record.plan, not record.complete)
    actual = record.directory.relative_to(results)
    return [] if actual == expected else [f"lies in {actual}, but its plan says {expected}"]


def _file_faults(record: Record) -> list[str]:
    wrong = []
    listed = {entry["path"]: entry for entry in record.document["files"]}
    for name, entry in listed.items():
        path = record.directory / name
        if not path.is_file():
            wrong.append(f"{name} is missing")
        elif describe_file(record.directory, path) != entry:
            wrong.append(f"{name} was changed since it was recorded")
    present = {
        p.relative_to(record.directory).as_posix()
        for p in record.directory.rglob("*")
        if p.is_file()
    }
    wrong += [f"{name} is not listed" for name in sorted(present - set(listed) - {RECORD_NAME})]
    return wrong


def _number_faults(record: Record) -> list[str]:
    wrong = []
    window = normal_phase(record.document)
    kept: dict[Key, list[histograms.Interval]] = {}
    for entry in record.document["summaries"]:
        intervals = histograms.read_log(record.directory / entry["file"])
        kept[entry["client"], entry["operation"], entry["kind"]] = intervals
        merged = histograms.merge(
            i.distribution for i in histograms.between(intervals, *window)
        ).summary()
        if not _same(merged, entry["summary"]):
            wrong.append(f"summary of {entry['file']} is not what its histogram says")
    return wrong or _result_faults(record, kept)


def _result_faults(record: Record, kept: dict[Key, list[histograms.Interval]]) -> list[str]:
    """What ratios and claims are made of, against the histograms of all that counts."""
    phase = next(p for p in record.document["phases"] if p["name"] == "normal")
    told, origin = record.document["results"], epoch_seconds(record.document["origin"])
    try:
        found = results_of(kept, record.plan, phase, origin)
    except EvaluationError as error:
        return [f"results: {error}"]
    wrong = [
        f"{kind} latencies of the results are not what the histograms say"
        for kind in ("measured", "intended")
        if not _same(told[kind] or {}, found[kind] or {})
    ]
    if not math.isclose(told[THROUGHPUT], found[THROUGHPUT], rel_tol=1e-6):
        wrong.append("throughput of the results is not what the histograms say")
    return wrong + _tail_faults(record, tail_latency(kept, record.plan, phase, origin))


def _tail_faults(record: Record, found: dict[str, float]) -> list[str]:
    """Claims are made of it; the latencies of parts need intervals that are not kept."""
    told = record.document["metrics"]
    # Records of earlier versions have none.
    return [
        f"{name} is not what the histograms say"
        for name, seconds in found.items()
        if name in told and not math.isclose(told[name], seconds, rel_tol=1e-9)
    ]


def normal_phase(document: dict[str, Any]) -> tuple[float, float]:
    """Start and end of the normal phase, in seconds since the epoch."""
    origin = epoch_seconds(document["origin"])
    phase = next(p for p in document["phases"] if p["name"] == "normal")
    return origin + phase["start_seconds"], origin + phase["end_seconds"]


def epoch_seconds(utc: str) -> float:
    """Seconds since the epoch of a UTC time as records write it."""
    return datetime.fromisoformat(utc).timestamp()


def utc(seconds: float) -> str:
    """A UTC time as records write it, to the millisecond."""
    text = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def _same(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return first.keys() == second.keys() and all(
        a == b or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9))
        for a, b in ((first[k], second[k]) for k in first)
    )
