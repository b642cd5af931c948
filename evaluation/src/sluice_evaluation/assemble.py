"""Makes the raw output of a run into a validated record, once.

The raw folder is what the runner leaves behind; docs/evaluation.md lists its files. Everything is
staged in a hidden folder beside the destination and moved into place when it is whole and valid.
"""

import csv
import json
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sluice_evaluation import histograms, store_logs
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.histograms import Interval
from sluice_evaluation.raw_clients import origin_of, read_clients, read_json, results_of
from sluice_evaluation.records import (
    RECORD_NAME,
    describe_file,
    dump,
    epoch_seconds,
    publish,
    result_directory,
    utc,
)
from sluice_evaluation.schema import validate
from sluice_evaluation.window_metrics import Span, latency_by_window

INTERVAL_COLUMNS = (
    "client", "operation", "kind", "start_seconds", "end_seconds", "operations", "mean_seconds",
    "p50_seconds", "p99_seconds", "p99_9_seconds", "max_seconds",
)  # fmt: skip
# What a client may end with: 3 is done, but operations failed. They are counted.
CLIENT_EXIT_CODES = (0, 3)
# As `sluice watch decisions -o json` writes them.
DECISIONS = "decisions.jsonl"
# A line for each: name, and epoch_seconds when it was made.
FAULTS = "faults.jsonl"
# Kept histograms have at most so many intervals; intervals.csv has all of them.
MAXIMUM_INTERVALS = 120
INTERVAL_WIDTHS_SECONDS = (1, 2, 5, 10, 20, 30, 60)


def record_run(plan: dict[str, Any], planned: dict[str, Any], raw: Path, results: Path) -> Path:
    """Record a finished run; EvaluationError when its output is not whole."""
    run = read_json(raw / "run.json")
    origin = origin_of(raw, planned)
    with _staged(results, planned, failed=False) as (staged, destination):
        clients, counts = read_clients(raw, planned)
        normal = next(p for p in planned["phases"] if p["name"] == "normal")
        summaries = _keep_clients(clients, staged, origin, normal)
        copied = _copy_samples(raw, staged) + _copy_decisions(raw, staged)
        events, metrics = _store_events(raw, planned, origin, normal)
        document = _skeleton(plan, planned, run)
        document |= {
            "status": "complete",
            "origin": utc(origin),
            "environment": read_json(raw / "fingerprint.json"),
            "software": read_json(raw / "software.json"),
            "effective_settings": read_json(raw / "settings.json"),
            "load": run["load"],
            "phases": _phases(planned, run, origin),
            "events": [
                *events,
                *_timeline_events(raw, planned, origin),
                *_decision_events(raw, origin),
                *_fault_events(raw, planned, origin),
            ],
            "summaries": summaries,
            "results": results_of(clients, planned, normal, origin) | counts,
            "metrics": metrics
            | latency_by_window(clients, planned, normal, origin, _busy(planned, events, normal))
            | _optional_json(raw / "metrics.json"),
        }
        _write(document, staged, copied)
        publish(staged, destination)
    return destination


def record_failure(
    plan: dict[str, Any],
    planned: dict[str, Any],
    raw: Path,
    results: Path,
    step: str,
    message: str,
) -> Path:
    """Record that a run failed, with what there is of its output."""
    run = _optional_json(raw / "run.json")
    if "started_at" not in run or "ended_at" not in run:
        raise EvaluationError(f"{raw / 'run.json'} must say at least started_at and ended_at (UTC)")
    with _staged(results, planned, failed=True) as (staged, destination):
        document = _skeleton(plan, planned, run)
        document |= {
            "status": "failed",
            "failure": {"step": step, "message": message},
            "environment": _optional_json(raw / "fingerprint.json") or None,
            "software": _optional_json(raw / "software.json") or {"labels": {}},
            "effective_settings": _optional_json(raw / "settings.json"),
            "load": run.get("load"),
        }
        _write(document, staged, _copy_samples(raw, staged))
        publish(staged, destination)
    return destination


class _staged:
    """A folder beside the destination that is gone afterwards, whatever happens."""

    def __init__(self, results: Path, planned: dict[str, Any], failed: bool):
        self.destination = results / result_directory(planned, failed)
        if self.destination.exists():
            raise EvaluationError(
                f"{self.destination} exists: records are never overwritten; "
                "plan again for what is left"
            )

    def __enter__(self) -> tuple[Path, Path]:
        parent = self.destination.parent
        parent.mkdir(parents=True, exist_ok=True)
        self.staged = Path(tempfile.mkdtemp(prefix=".staged-", dir=parent))
        self.staged.chmod(0o755)
        return self.staged, self.destination

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.staged, ignore_errors=True)


def _skeleton(plan: dict[str, Any], planned: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "status": None,
        "failure": None,
        "started_at": run["started_at"],
        "ended_at": run["ended_at"],
        "origin": None,
        "plan": planned,
        "experiment_sha256": plan["experiment_sha256"],
        "environment": None,
        "software": {"labels": {}},
        "effective_settings": {},
        "load": None,
        "phases": [],
        "events": [],
        "summaries": [],
        "results": None,
        "metrics": {},
        "files": [],
    }


def _write(document: dict[str, Any], staged: Path, files: Iterable[Path]) -> None:
    kept = sorted({*files, *(p for p in staged.rglob("*") if p.is_file())})
    document["files"] = [describe_file(staged, path) for path in kept]
    validate(document, "record", "the assembled record")
    (staged / RECORD_NAME).write_text(dump(document))


def _optional_json(path: Path) -> dict[str, Any]:
    return read_json(path) if path.exists() else {}


def _timeline(raw: Path) -> list[dict[str, Any]]:
    path = raw / "timeline.jsonl"
    try:
        return [json.loads(line) for line in path.read_text().splitlines()]
    except (OSError, json.JSONDecodeError) as error:
        raise EvaluationError(f"{path}: {error}; `sluice-evaluation timeline` writes it") from error


def _timeline_origin(raw: Path) -> float:
    for line in _timeline(raw):
        if line["kind"] == "origin":
            return float(line["epoch_seconds"])
    raise EvaluationError(
        f"{raw / 'timeline.jsonl'} has no line of kind origin: the load never began; "
        "record the run as failed"
    )


def _width_seconds(duration: float) -> int:
    fitting = (w for w in INTERVAL_WIDTHS_SECONDS if duration / w <= MAXIMUM_INTERVALS)
    return next(fitting, INTERVAL_WIDTHS_SECONDS[-1])


def _keep_clients(
    clients: dict[tuple[str, str, str], list[Interval]],
    staged: Path,
    origin: float,
    normal: dict[str, float],
) -> list[dict[str, Any]]:
    """Write intervals.csv and the histograms of the normal phase; their summaries."""
    summaries = []
    start, end = origin + normal["start_seconds"], origin + normal["end_seconds"]
    width = _width_seconds(end - start)
    (staged / "histograms").mkdir()
    with (staged / "intervals.csv").open("x", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(INTERVAL_COLUMNS)
        for key, intervals in sorted(clients.items()):
            _write_rows(writer, key, intervals, origin)
            inside = histograms.between(intervals, start, end)
            name = f"histograms/{'-'.join(key).lower()}.hdr"
            histograms.write_log(staged / name, histograms.coarsen(inside, start, width))
            merged = histograms.merge(i.distribution for i in inside)
            summaries.append({
                "client": key[0], "operation": key[1], "kind": key[2], "file": name,
                "summary": merged.summary(),
            })  # fmt: skip
    return summaries


def _write_rows(writer: Any, key: tuple, intervals: list[Interval], origin: float) -> None:
    for interval in intervals:
        summary = interval.distribution.summary()
        if summary["operations"]:
            times = round(interval.start - origin, 3), round(interval.end - origin, 3)
            writer.writerow((*key, *times, *summary.values()))


def _copy_samples(raw: Path, staged: Path) -> list[Path]:
    copied = []
    for path in sorted((raw / "samples").glob("*.csv")):
        target = staged / "samples" / path.name
        target.parent.mkdir(exist_ok=True)
        copied.append(Path(shutil.copyfile(path, target)))
    return copied


def _copy_decisions(raw: Path, staged: Path) -> list[Path]:
    path = raw / DECISIONS
    return [Path(shutil.copyfile(path, staged / DECISIONS))] if path.exists() else []


def _decision_events(raw: Path, origin: float) -> list[dict[str, Any]]:
    """What the controller changed or stopped; the file has all its decisions."""
    path = raw / DECISIONS
    lines = path.read_text().splitlines() if path.exists() else []
    return [
        _decision_event(decision, origin)
        for decision in (json.loads(line)["decision"] for line in lines)
        if decision["verdict"] != "VERDICT_KEEP"
    ]


def _fault_events(raw: Path, planned: dict[str, Any], origin: float) -> list[dict[str, Any]]:
    path = raw / FAULTS
    lines = path.read_text().splitlines() if path.exists() else []
    faults = {fault["name"]: fault for fault in map(json.loads, lines)}
    if missing := [f["name"] for f in planned.get("faults", []) if f["name"] not in faults]:
        raise EvaluationError(
            f"these faults were not made: {', '.join(missing)}; record the run as failed"
        )
    events = []
    for name, fault in faults.items():
        seconds = round(fault["epoch_seconds"] - origin, 3)
        moment = {"start_seconds": seconds, "end_seconds": seconds}
        events.append({"kind": "fault", "name": name, **moment, "attributes": {}})
    return events


def _decision_event(decision: dict[str, Any], origin: float) -> dict[str, Any]:
    seconds = round(epoch_seconds(decision["made_at"]) - origin, 3)
    setting = decision.get("setting", {})
    attributes = {
        "verdict": decision["verdict"].removeprefix("VERDICT_").lower(),
        "setting": setting.get("name", ""),
        "reason": decision["reason"],
    }
    if "number" in setting:
        attributes["number"] = setting["number"]
    return {
        "kind": "decision",
        "name": decision["policy"],
        "start_seconds": seconds,
        "end_seconds": seconds,
        "attributes": attributes,
    }


def _store_events(
    raw: Path, planned: dict[str, Any], origin: float, normal: dict[str, float]
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    module = store_logs.reader(planned["store"])
    lines: list[str] = []
    for path in sorted((raw / "logs").glob("*.log")):
        lines += path.read_text(errors="replace").splitlines()
    if module is None or not lines:
        return [], {}
    events = [event for event in module.read(lines) if event.end >= origin]
    listed = [
        {
            "kind": event.kind,
            "name": event.name,
            "start_seconds": round(event.start - origin, 3),
            "end_seconds": round(event.end - origin, 3),
            "attributes": event.attributes,
        }
        for event in events
    ]
    counted = [e for e in events if not _is_warming_up(planned, e.kind, e.start - origin, normal)]
    return listed, module.metrics(counted)


def _is_warming_up(
    planned: dict[str, Any], kind: str, start_seconds: float, normal: dict[str, float]
) -> bool:
    """Whether it is work behind that began before anything was measured."""
    background = getattr(store_logs.reader(planned["store"]), "BACKGROUND", None)
    if background is None or kind != background[0]:
        return False
    return start_seconds < normal["start_seconds"]


def _busy(
    planned: dict[str, Any], events: list[dict], normal: dict[str, float]
) -> tuple[str, list[Span]] | None:
    """When the store did the work that its reader names, and a word for it."""
    background = getattr(store_logs.reader(planned["store"]), "BACKGROUND", None)
    if background is None:
        return None
    kind, word = background
    return word, [
        (e["start_seconds"], e["end_seconds"])
        for e in events
        if e["kind"] == kind and not _is_warming_up(planned, kind, e["start_seconds"], normal)
    ]


def _timeline_events(raw: Path, planned: dict[str, Any], origin: float) -> list[dict[str, Any]]:
    shift = _timeline_origin(raw) - origin
    windows = [
        {key: window[key] for key in ("kind", "name", "start_seconds", "end_seconds")}
        for window in planned["windows"]
    ]
    steps = [
        {
            "kind": line["kind"],
            "name": line["name"],
            "start_seconds": round(line["start_seconds"] + shift, 3),
            "end_seconds": round(line["end_seconds"] + shift, 3),
            "attributes": {"exit_code": line["exit_code"]},
        }
        for line in _timeline(raw)
        if line["kind"] != "origin"
    ]
    if bad := [s["name"] for s in steps if not _ended_well(s)]:
        raise EvaluationError(
            f"these steps of the timeline failed: {', '.join(bad)}; record the run as failed"
        )
    if missing := {o["name"] for o in planned["orders"]} - {s["name"] for s in steps}:
        raise EvaluationError(
            f"these orders were not given: {', '.join(sorted(missing))}; record the run as failed"
        )
    return windows + steps


def _ended_well(step: dict[str, Any]) -> bool:
    allowed = CLIENT_EXIT_CODES if step["kind"] == "client" else (0,)
    return step["attributes"]["exit_code"] in allowed


def _phases(planned: dict[str, Any], run: dict[str, Any], origin: float) -> list[dict[str, Any]]:
    begin = min(0.0, round(epoch_seconds(run["started_at"]) - origin, 3))
    loaded = min(0.0, begin + run["load"]["seconds"])
    end = planned["phases"][-1]["end_seconds"]
    before = [
        {"name": "load", "start_seconds": begin, "end_seconds": loaded},
        {"name": "settle", "start_seconds": loaded, "end_seconds": 0.0},
    ]
    after = {"name": "cool-down", "start_seconds": end, "end_seconds": end}
    after["end_seconds"] = max(end, round(epoch_seconds(run["ended_at"]) - origin, 3))
    return [*before, *planned["phases"], after]
