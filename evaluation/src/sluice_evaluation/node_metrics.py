"""Processor time of nodes and daemons, and what was left to do after the load.

Processor time of nodes comes from the samples of the control group `node`, of which each has one,
that of daemons from those of their processes; what others took of it from those of the machine,
which `probes/sampler.py` describes.
"""

import csv
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sluice_evaluation.histograms import Interval
from sluice_evaluation.raw_clients import Key, counted_of
from sluice_evaluation.store_logs import Sample

NODE_GROUP = "group:node"
PROCESS = "process:"
DRAIN = "drain"
_MACHINE = "cpu"
_STEAL = "steal_seconds"
_NOT_BUSY = ("idle_seconds", "iowait_seconds", _STEAL)
_THROTTLED = "throttled_seconds"
# So many at either end may lie outside: samples do not come at the moments that are asked for.
_OPEN_INTERVALS = 2

# Seconds since the epoch.
Window = tuple[float, float]


def read_samples(paths: Iterable[Path]) -> dict[str, list[Sample]]:
    """Samples by the name of their file."""
    return {path.stem: [_sample_of(row) for row in _rows(path)] for path in paths}


def _sample_of(row: list[str]) -> Sample:
    at, source, name, value = row
    return Sample(float(at), source, name, float(value))


def _rows(path: Path) -> Iterator[list[str]]:
    with path.open(newline="") as lines:
        yield from itertools.islice(csv.reader(lines), 1, None)


def write_samples(path: Path, samples: Iterable[Sample]) -> None:
    """A file as the probe `sample` writes it."""
    path.parent.mkdir(exist_ok=True)
    with path.open("x", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("epoch_seconds", "source", "name", "value"))
        for sample in samples:
            moment = f"{sample.epoch_seconds:.3f}"
            writer.writerow((moment, sample.source, sample.name, f"{sample.value:g}"))


def cpu_metrics(
    samples: dict[str, list[Sample]], start: float, end: float, operations: int
) -> dict[str, float]:
    """What all nodes together used from `start` to `end`, by operation too.

    {} unless each node was sampled all that time: a sum without one of them would be too small.
    """
    used = [_spent(node, start, end) for node in samples.values()]
    if not used or None in used:
        return {}
    found = {"nodes_cpu_seconds": round(sum(used), 3)}
    if operations:
        found["operation_cpu_seconds"] = sum(used) / operations
    return found


def _spent(node: Iterable[Sample], start: float, end: float) -> float | None:
    inside = [
        s
        for s in node
        if (s.source, s.name) == (NODE_GROUP, "cpu_seconds") and start <= s.epoch_seconds <= end
    ]
    if len(inside) < 2:
        return None
    covered = inside[-1].epoch_seconds - inside[0].epoch_seconds
    interval = covered / (len(inside) - 1)
    is_whole = covered >= end - start - 2 * _OPEN_INTERVALS * interval
    return inside[-1].value - inside[0].value if is_whole else None


def cpu_in_windows(
    samples: dict[str, list[Sample]], part: str, windows: Iterable[Window]
) -> dict[str, float]:
    """What all nodes together, and each of their daemons, used in a part of a run, by its name.

    Time that is in several windows counts once. What was not sampled from the begin to the end of
    each of them is left out, and all nodes where one of them was not.
    """
    apart = _joined(windows)
    if not apart:
        return {}
    used = {
        f"{part}_{_metric_of(source)}_cpu_seconds": [
            _used(node, source, apart) for node in samples.values() if _has(node, source)
        ]
        for source in _processor_sources(samples)
    }
    nodes = used.get(f"{part}_nodes_cpu_seconds")
    if nodes is not None and len(nodes) < len(samples):
        nodes.append(None)
    return {name: round(sum(parts), 3) for name, parts in used.items() if None not in parts}


def _processor_sources(samples: dict[str, list[Sample]]) -> set[str]:
    sources = {s.source for node in samples.values() for s in node if s.name == "cpu_seconds"}
    return {s for s in sources if s == NODE_GROUP or s.startswith(PROCESS)}


def _metric_of(source: str) -> str:
    return "nodes" if source == NODE_GROUP else source.removeprefix(PROCESS)


def _has(node: Iterable[Sample], source: str) -> bool:
    return any(s.source == source for s in node)


def _joined(windows: Iterable[Window]) -> list[Window]:
    """The same time in windows that do not overlap."""
    apart: list[Window] = []
    for start, end in sorted(windows):
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


def _used(node: Iterable[Sample], source: str, windows: list[Window]) -> float | None:
    counted = [
        (s.epoch_seconds, s.value) for s in node if (s.source, s.name) == (source, "cpu_seconds")
    ]
    ends = [(_counted_at(counted, start), _counted_at(counted, end)) for start, end in windows]
    if any(None in pair for pair in ends):
        return None
    return sum(end - start for start, end in ends)


def _counted_at(counted: list[tuple[float, float]], at: float) -> float | None:
    """A counter between two of its samples, or None where it is not between any."""
    for (before, low), (after, high) in itertools.pairwise(counted):
        if before <= at <= after and before < after:
            return low + (high - low) * (at - before) / (after - before)
    return None


def stolen_share(samples: Path, start: float, end: float) -> float | None:
    """Share of processor time that a hypervisor gave to others between two times, or None.

    `samples` is the folder of a record's samples. The largest over the machines that were sampled;
    without two samples in that time nothing is known of a machine.
    """
    shares = (_stolen_share_of(path, start, end) for path in sorted(samples.glob("*.csv")))
    return max((share for share in shares if share is not None), default=None)


def _stolen_share_of(path: Path, start: float, end: float) -> float | None:
    passed = _machine_seconds(_rows(path), start, end)
    total = sum(passed.values())
    return passed[_STEAL] / total if total > 0 and _STEAL in passed else None


def _machine_seconds(rows: Iterable[list[str]], start: float, end: float) -> dict[str, float]:
    """What passed between two times of each kind of the processors' time."""
    first: dict[str, float] = {}
    last: dict[str, float] = {}
    for at, source, name, value in rows:
        if source == _MACHINE and start <= float(at) <= end:
            first.setdefault(name, float(value))
            last[name] = float(value)
    return {name: value - first[name] for name, value in last.items()}


def others_share(samples: Path, start: float, end: float) -> float | None:
    """Share of a machine's processor time that no node had between two times, at least, or None.

    `samples` is the folder of a record's samples. Disks that the test bed makes up are among the
    others, and so is who follows the run. Nodes may share a machine: what all of them had is taken
    from each machine's time, and the largest over the machines is given, so that it is never too
    much. Without samples of all that time of each node nothing is known.
    """
    machines, used = [], []
    for path in sorted(samples.glob("*.csv")):
        rows = [row for row in _rows(path) if row[1] in (_MACHINE, NODE_GROUP)]
        if not rows:
            continue
        machines.append(_machine_seconds(rows, start, end))
        used.append(_spent((_sample_of(row) for row in rows), start, end))
    if not used or None in used:
        return None
    totals = [(_busy_seconds(machine), sum(machine.values())) for machine in machines]
    return max(((busy - sum(used)) / total for busy, total in totals if total > 0), default=None)


def _busy_seconds(machine: dict[str, float]) -> float:
    return sum(seconds for name, seconds in machine.items() if name not in _NOT_BUSY)


def throttled_share(samples: Path, start: float, end: float) -> float | None:
    """Share of the time between two times that a node waited for its processor quota, or None.

    `samples` is the file of the node. Of several processors each counts by itself, so that a node
    of two can have waited for up to twice the time.
    """
    if end <= start or not samples.exists():
        return None
    inside = [
        float(value)
        for at, source, name, value in _rows(samples)
        if (source, name) == (NODE_GROUP, _THROTTLED) and start <= float(at) <= end
    ]
    return (inside[-1] - inside[0]) / (end - start) if len(inside) > 1 else None


def end_of_work(events: Iterable[dict[str, Any]]) -> float:
    """Seconds from the origin to the end of the last client or drain."""
    return max(e["end_seconds"] for e in events if e["kind"] in ("client", DRAIN))


def drain_metrics(events: list[dict[str, Any]], operations: int) -> dict[str, float]:
    """How long it took to do what the load left behind, and throughput with that time."""
    drains = [e for e in events if e["kind"] == DRAIN]
    if not drains:
        return {}
    longest = max(e["end_seconds"] - e["start_seconds"] for e in drains)
    return {
        "drain_seconds": round(longest, 3),
        "with_drain_operations_per_second": round(operations / end_of_work(events), 6),
    }


def operations_of(clients: dict[Key, list[Interval]], planned: dict[str, Any]) -> int:
    """All that counts, of the whole run."""
    return sum(
        interval.distribution.total
        for key, intervals in counted_of(clients, planned).items()
        if key[2] == "measured"
        for interval in intervals
    )
