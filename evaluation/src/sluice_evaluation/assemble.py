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

from sluice_evaluation import (
    control_events,
    histograms,
    left_over,
    level_actions,
    node_metrics,
    run_checks,
    store_logs,
)
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.histograms import Interval
from sluice_evaluation.raw_clients import (
    neighbour_metrics,
    optional_json,
    origin_of,
    read_clients,
    read_json,
    results_of,
)
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
from sluice_evaluation.window_metrics import Span, latency_by_window, tail_latency

INTERVAL_COLUMNS = (
    "client", "operation", "kind", "start_seconds", "end_seconds", "operations", "mean_seconds",
    "p50_seconds", "p99_seconds", "p99_9_seconds", "max_seconds",
)  # fmt: skip
# Beside the samples of machines: what the store's log gives over time.
STORE_SAMPLES = "store-log.csv"


def record_run(plan: dict[str, Any], planned: dict[str, Any], raw: Path, results: Path) -> Path:
    """Record a finished run; EvaluationError when its output is not whole."""
    run = read_json(raw / "run.json")
    origin = origin_of(raw, planned)
    with _staged(results, planned, failed=False) as (staged, destination):
        clients, counts = read_clients(raw, planned)
        run_checks.require_whole_load(raw, planned, clients, origin)
        normal = next(p for p in planned["phases"] if p["name"] == "normal")
        summaries = _keep_clients(clients, staged, origin, normal)
        copied = _copy_samples(raw, staged) + _copy_decisions(raw, staged)
        events, metrics = _store_events(raw, planned, origin, normal)
        metrics |= _store_samples(raw, planned, origin, normal, staged)
        steps = _timeline_events(raw, planned, origin)
        run_checks.require_background(planned, events, normal)
        run_checks.require_no_recovery(events, steps)
        results_of_run = results_of(clients, planned, normal, origin) | counts
        run_checks.require_answers(results_of_run)
        busy = _busy(planned, events, normal)
        controlled = control_events.of_run(raw, planned, origin)
        document = _skeleton(plan, planned, run)
        document |= {
            "status": "complete",
            "origin": utc(origin),
            "environment": read_json(raw / "fingerprint.json"),
            "software": read_json(raw / "software.json"),
            "effective_settings": read_json(raw / "settings.json"),
            "load": run["load"],
            "phases": _phases(planned, run, origin),
            "events": [*events, *steps, *controlled],
            "summaries": summaries,
            "results": results_of_run,
            "metrics": metrics
            | latency_by_window(clients, planned, normal, origin, busy)
            | tail_latency(clients, planned, normal, origin)
            | _work_metrics(clients, planned, origin, steps, copied)
            | _processor_metrics(normal, origin, busy, copied)
            | neighbour_metrics(raw, planned, normal, origin)
            | level_actions.metrics(controlled, planned)
            | optional_json(raw / "metrics.json"),
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
    run = optional_json(raw / "run.json")
    if "started_at" not in run or "ended_at" not in run:
        raise EvaluationError(f"{raw / 'run.json'} must say at least started_at and ended_at (UTC)")
    with _staged(results, planned, failed=True) as (staged, destination):
        document = _skeleton(plan, planned, run)
        document |= {
            "status": "failed",
            "failure": {"step": step, "message": message},
            "environment": optional_json(raw / "fingerprint.json") or None,
            "software": optional_json(raw / "software.json") or {"labels": {}},
            "effective_settings": optional_json(raw / "settings.json"),
            "load": run.get("load"),
        }
        _write(document, staged, _copy_samples(raw, staged))
        publish(staged, destination)
    return destination


class _staged:
    """A folder beside the destination that is gone afterwards, whatever happens."""

    def __init__(self, results: Path, planned: dict[str, Any], failed: bool):
        self.destination = results / result_directory(planned, failed)
        left_over.require_free(self.destination)

    def __enter__(self) -> tuple[Path, Path]:
        parent = self.destination.parent
        parent.mkdir(parents=True, exist_ok=True)
        self.staged = Path(tempfile.mkdtemp(prefix=".staged-", dir=parent))
        self.staged.chmod(0o755)
        return self.staged, self.destination

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.staged, ignore_errors=True)


def _skeleton(plan: dict[str, Any], planned: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    observed = {"processors": run["processors"]} if "processors" in run else {}
    return observed | {
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


def _timelines(raw: Path) -> list[tuple[str, list[dict[str, Any]]]]:
    """Those of all hosts with clients by host; "" where the name of the file has none."""
    paths = sorted(raw.glob("timeline-*.jsonl")) or [raw / "timeline.jsonl"]
    return [(path.stem.partition("-")[2], _timeline(path)) for path in paths]


def _timeline(path: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in path.read_text().splitlines()]
    except (OSError, json.JSONDecodeError) as error:
        raise EvaluationError(f"{path}: {error}; `sluice-evaluation timeline` writes it") from error


def _timeline_origin(lines: list[dict[str, Any]]) -> float:
    for line in lines:
        if line["kind"] == "origin":
            return float(line["epoch_seconds"])
    raise EvaluationError(
        "a timeline has no line of kind origin: the load never began; record the run as failed"
    )


def _keep_clients(
    clients: dict[tuple[str, str, str], list[Interval]],
    staged: Path,
    origin: float,
    normal: dict[str, float],
) -> list[dict[str, Any]]:
    """Write intervals.csv and the histograms of the normal phase; their summaries."""
    summaries = []
    start, end = origin + normal["start_seconds"], origin + normal["end_seconds"]
    width = histograms.kept_width_seconds(end - start)
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
    path = raw / control_events.DECISIONS
    return [Path(shutil.copyfile(path, staged / control_events.DECISIONS))] if path.exists() else []


def _store_events(
    raw: Path, planned: dict[str, Any], origin: float, normal: dict[str, float]
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    module, lines = store_logs.reader(planned["store"]), _log_lines(raw)
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


def _log_lines(raw: Path) -> list[str]:
    paths = sorted((raw / "logs").glob("*.log"))
    return [line for p in paths for line in p.read_text(errors="replace").splitlines()]


def _store_samples(
    raw: Path, planned: dict[str, Any], origin: float, normal: dict[str, float], staged: Path
) -> dict[str, float]:
    """Keep what the store's log gives over time, and tell what became of it."""
    module = store_logs.reader(planned["store"])
    if module is None or not hasattr(module, "samples"):
        return {}
    found = list(module.samples(_log_lines(raw)))
    if not found:
        return {}
    node_metrics.write_samples(staged / "samples" / STORE_SAMPLES, found)
    start, end = origin + normal["start_seconds"], origin + normal["end_seconds"]
    return module.metrics_between(found, start, end)


def _work_metrics(
    clients: dict[tuple[str, str, str], list[Interval]],
    planned: dict[str, Any],
    origin: float,
    steps: list[dict[str, Any]],
    copied: list[Path],
) -> dict[str, float]:
    """Processor time of all nodes until nothing was left to do, and how long that took."""
    operations = node_metrics.operations_of(clients, planned)
    nodes = node_metrics.read_samples(path for path in copied if path.suffix == ".csv")
    end = origin + node_metrics.end_of_work(steps)
    found = node_metrics.cpu_metrics(nodes, origin, end, operations)
    return found | node_metrics.drain_metrics(steps, operations)


def _processor_metrics(
    normal: dict[str, float],
    origin: float,
    busy: tuple[str, list[Span]] | None,
    copied: list[Path],
) -> dict[str, float]:
    """Processor time of nodes and daemons in the normal phase, and while the store works behind."""
    nodes = node_metrics.read_samples(path for path in copied if path.suffix == ".csv")
    whole = [(normal["start_seconds"], normal["end_seconds"])]
    parts = {"normal_phase": whole} | dict([busy] if busy else [])
    return {
        metric: seconds
        for part, spans in parts.items()
        for metric, seconds in node_metrics.cpu_in_windows(
            nodes, part, [(origin + start, origin + end) for start, end in spans]
        ).items()
    }


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
    windows = [
        {key: window[key] for key in ("kind", "name", "start_seconds", "end_seconds")}
        for window in planned["windows"]
    ]
    steps = [s for host, lines in _timelines(raw) for s in _steps_of(host, lines, origin)]
    run_checks.require_steps(planned, steps)
    return windows + steps


def _steps_of(host: str, lines: list[dict[str, Any]], origin: float) -> list[dict[str, Any]]:
    shift = _timeline_origin(lines) - origin
    where = {"host": host} if host else {}
    return [
        {
            "kind": line["kind"],
            "name": line["name"],
            "start_seconds": round(line["start_seconds"] + shift, 3),
            "end_seconds": round(line["end_seconds"] + shift, 3),
            "attributes": {"exit_code": line["exit_code"], **where},
        }
        for line in lines
        if line["kind"] != "origin"
    ]


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
