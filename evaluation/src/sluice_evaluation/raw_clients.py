"""What the load generators of a run leave behind: latencies, and what failed or was not issued.

A folder `clients/NAME/` of raw output is what `sluice-ycsb run --results` writes.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sluice_evaluation import histograms
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.histograms import Interval

_INTENDED = "Intended-"
_RUN_START = re.compile(r"^sluice\.run\.start_unix_milliseconds\s*[=:]\s*(\d+)", re.M)

# Client, operation, and measured or intended.
Key = tuple[str, str, str]


def read_json(path: Path) -> Any:
    """A JSON file of raw output; EvaluationError when it is not there or not JSON."""
    try:
        return json.loads(path.read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise EvaluationError(
            f"{path}: {error}; a finished run leaves this file (docs/evaluation.md lists all), "
            "one that failed is recorded with --failed-step and --failed-message"
        ) from error


def optional_json(path: Path) -> dict[str, Any]:
    """The same of a file that not every run has; empty without it."""
    return read_json(path) if path.exists() else {}


def origin_of(raw: Path, planned: dict[str, Any]) -> float:
    """When the load began, on whichever node it was first."""
    first = min(client["start_seconds"] for client in planned["clients"])
    names = [c["name"] for c in planned["clients"] if c["start_seconds"] == first]
    return min(begin_of(raw / "clients" / name / "run.properties") for name in names)


def begin_of(path: Path) -> float:
    """When a client began its load: a Java machine takes its time to get there."""
    try:
        match = _RUN_START.search(path.read_text())
    except OSError as error:
        raise EvaluationError(f"{path}: {error}; `sluice-ycsb run --results` writes it") from error
    if not match:
        raise EvaluationError(
            f"{path} does not say when the run began: no sluice.run.start_unix_milliseconds, "
            "which `sluice-ycsb run --results` writes"
        )
    return int(match.group(1)) / 1000


def read_clients(
    raw: Path, planned: dict[str, Any]
) -> tuple[dict[Key, list[Interval]], dict[str, int]]:
    """Intervals by client, operation and kind; how many operations failed or were not issued."""
    found: dict[Key, list[Interval]] = {}
    counts = {"error_count": 0, "unissued_count": 0}
    for client in planned["clients"]:
        if client.get("beside", False):
            continue
        directory = raw / "clients" / client["name"]
        paths = sorted(directory.glob("*.hdr"))
        if not paths:
            raise EvaluationError(f"{directory} has no .hdr file: `sluice-ycsb run --results DIR`")
        # Without a schedule there is no due time to count from.
        scheduled = client["schedule"] is not None
        for path in paths:
            operation = path.stem.removeprefix(_INTENDED)
            kind = "intended" if path.stem.startswith(_INTENDED) else "measured"
            if operation in wanted_of(planned) and (kind == "measured" or scheduled):
                found[client["name"], operation, kind] = histograms.read_log(path)
        overall = _overall(directory / "measurements.json")
        counts["error_count"] += overall("FailedOperations")
        counts["unissued_count"] += overall("UnissuedOperations") if scheduled else 0
    _require_operations(found, planned)
    return found, counts


def neighbour_metrics(
    raw: Path, planned: dict[str, Any], normal: dict[str, float], origin: float
) -> dict[str, float]:
    """How much the other application of a run did in the normal phase, if there is one."""
    start, end = origin + normal["start_seconds"], origin + normal["end_seconds"]
    beside = [client["name"] for client in planned["clients"] if client.get("beside", False)]
    paths = [
        raw / "clients" / name / f"{operation}.hdr"
        for name in beside
        for operation in planned["operations"]
    ]
    if not paths:
        return {}
    found = (histograms.between(histograms.read_log(p), start, end) for p in paths if p.exists())
    done = sum(interval.distribution.total for inside in found for interval in inside)
    return {"neighbour_operations_per_second": round(done / (end - start), 6)}


def wanted_of(planned: dict[str, Any]) -> list[str]:
    """The operations that are recorded: those that count, and those that are told apart alone."""
    return planned["operations"] + planned.get("operations_apart", [])


def _overall(path: Path) -> Callable[[str], int]:
    """Reads the numbers that a client gives of its whole run."""
    values = {m["measurement"]: m["value"] for m in read_json(path) if m["metric"] == "OVERALL"}

    def read(name: str) -> int:
        if name not in values:
            raise EvaluationError(f"{path} does not give OVERALL {name}")
        return int(values[name])

    return read


def _require_operations(found: dict, planned: dict[str, Any]) -> None:
    seen = {operation for _, operation, _ in found}
    if missing := sorted(set(wanted_of(planned)) - seen):
        raise EvaluationError(f"no client recorded {', '.join(missing)}: the workload did not run")


def results_of(
    clients: dict[Key, list[Interval]],
    planned: dict[str, Any],
    normal: dict[str, float],
    origin: float,
) -> dict[str, Any]:
    """Latency and throughput of the normal phase over all clients; EvaluationError when empty."""
    start, end = origin + normal["start_seconds"], origin + normal["end_seconds"]
    counted = counted_of(clients, planned)

    def merged(kind: str) -> dict[str, Any]:
        inside = histograms.between(of_kind(counted, kind), start, end)
        return histograms.merge(interval.distribution for interval in inside).summary()

    scheduled = is_scheduled(planned)
    measured = merged("measured")
    if not measured["operations"]:
        raise EvaluationError("no operation fell into the normal phase: are the clocks in step?")
    return {
        "measured": measured,
        "intended": merged("intended") if scheduled else None,
        "throughput_operations_per_second": round(
            sum(
                _rate(histograms.between(intervals, start, end), end - start)
                for key, intervals in counted.items()
                if key[2] == "measured"
            ),
            6,
        ),
    }


def counted_of(
    clients: dict[Key, list[Interval]], planned: dict[str, Any]
) -> dict[Key, list[Interval]]:
    """The operations that count, those that are told apart left out."""
    return {key: found for key, found in clients.items() if key[1] in planned["operations"]}


def of_kind(clients: dict[Key, list[Interval]], kind: str) -> list[Interval]:
    """All intervals with measured or intended latencies."""
    return [i for key, intervals in clients.items() if key[2] == kind for i in intervals]


def is_scheduled(planned: dict[str, Any]) -> bool:
    """Whether every request had a time at which it was due."""
    return all(client["schedule"] is not None for client in planned["clients"])


def _rate(inside: list[Interval], phase_seconds: float) -> float:
    """Operations per second of one client and operation in a phase.

    Intervals do not end where the phase does; what they cover counts, unless the client was there
    for a part of the phase alone.
    """
    if not inside:
        return 0.0
    covered = inside[-1].end - inside[0].start
    widest = max(interval.end - interval.start for interval in inside)
    seconds = covered if covered >= phase_seconds - 2 * widest else phase_seconds
    return sum(interval.distribution.total for interval in inside) / seconds
