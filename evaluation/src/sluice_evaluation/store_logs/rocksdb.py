"""Compactions, stalls and debt from the info logs of RocksDB databases, written in UTC.

A database writes a new log each time that it is opened, so the lines of a run are those of several
logs, one after the other. Times come from the events, and from the stamp of the statistics, which
are dumped once a second with `stats_dump_period_sec=1`. The messages are those of version 11.8:
EventLogger, CompactionJob, compaction_service_job.cc and InternalStats.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sluice_evaluation.store_logs import Event, Sample

# The events whose time is told apart, and the beginning of the names of what is measured in it.
BACKGROUND = ("compaction", "while_compacting")

_STAMP = r"(?P<time>\d{4}/\d\d/\d\d-\d\d:\d\d:\d\d\.\d{6}) \d+ "
_OPENED = re.compile(rf"^{_STAMP}RocksDB version: ")
_HOST = re.compile(rf"^{_STAMP}Host name \(Env\): +(?P<host>\S+)")
_EVENT = re.compile(r"EVENT_LOG_v1 (?P<event>\{.*\})$")
_REMOTE = re.compile(r"\[JOB (?P<job>\d+)\] Received remote compaction result")
_DUMP = re.compile(rf"^{_STAMP}.*------- DUMPING STATS -------")
_STALL = re.compile(r"^Cumulative stall: (?P<h>\d+):(?P<m>\d+):(?P<s>[\d.]+) H:M:S")
_PENDING = re.compile(r"^Estimated pending compaction bytes: (?P<bytes>\d+)$")
_MICROSECONDS = 1e6


@dataclass
class _Database:
    """A database between its opening and the end of its log."""

    host: str = ""
    number: int = 0

    @property
    def source(self) -> str:
        """Of its samples: counters begin anew with each opening."""
        return f"store:{self.host}:{self.number}"


def read(lines: Iterable[str]) -> list[Event]:
    """Compactions of all databases; those that a close cut off end with their log."""
    events: list[Event] = []
    running: dict[int, dict[str, Any]] = {}
    remote: set[int] = set()
    host, last = "", 0.0
    for line in lines:
        if _OPENED.match(line):
            events += _cut_off(running, host, last, len(events))
            running, remote = {}, set()
        elif match := _HOST.match(line):
            host = match["host"]
        elif match := _REMOTE.search(line):
            remote.add(int(match["job"]))
        elif match := _EVENT.search(line):
            event = _parsed(match["event"])
            last = event.get("time_micros", 0) / _MICROSECONDS or last
            if event.get("event") == "compaction_started":
                running[event["job"]] = event
            elif event.get("event") == "compaction_finished" and event["job"] in running:
                begun = running.pop(event["job"])
                is_remote = event["job"] in remote
                events.append(_finished(begun, event, host, is_remote, len(events) + 1))
    return events + _cut_off(running, host, last, len(events))


def _parsed(text: str) -> dict[str, Any]:
    # A line that the end of the process has cut off.
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return {}


def _finished(
    begun: dict[str, Any], ended: dict[str, Any], host: str, is_remote: bool, number: int
) -> Event:
    return Event(
        "compaction",
        f"compaction-{number}",
        begun["time_micros"] / _MICROSECONDS,
        ended["time_micros"] / _MICROSECONDS,
        {
            "finished": True,
            "remote": is_remote,
            "host": host,
            "output_level": ended["output_level"],
            "input_bytes": begun["input_data_size"],
            "output_bytes": ended["total_output_size"],
        },
    )


def _cut_off(running: dict[int, dict], host: str, end: float, before: int) -> list[Event]:
    return [
        Event(
            "compaction",
            f"compaction-{before + number}",
            begun["time_micros"] / _MICROSECONDS,
            end,
            {"finished": False, "host": host, "input_bytes": begun["input_data_size"]},
        )
        for number, begun in enumerate(running.values(), 1)
    ]


def metrics(events: Iterable[Event]) -> dict[str, float]:
    """What the compactions of one run add up to, with those of its drain."""
    compactions = [event.attributes for event in events if event.kind == "compaction"]
    finished = [c for c in compactions if c["finished"]]
    remote = [c for c in finished if c["remote"]]
    local = [c for c in finished if not c["remote"]]
    return {
        "compactions_count": len(finished),
        "unfinished_compactions_count": len(compactions) - len(finished),
        "remote_compactions_count": len(remote),
        "local_compaction_input_bytes": sum(c["input_bytes"] for c in local),
        "remote_compaction_input_bytes": sum(c["input_bytes"] for c in remote),
        "local_compaction_output_bytes": sum(c["output_bytes"] for c in local),
        "remote_compaction_output_bytes": sum(c["output_bytes"] for c in remote),
    }


def samples(lines: Iterable[str]) -> Iterator[Sample]:
    """Debt, and the time in which writes were stalled since the database was opened."""
    database, epoch = _Database(), 0.0
    for line in lines:
        if _OPENED.match(line):
            database.number += 1
        elif match := _HOST.match(line):
            database.host = match["host"]
        elif match := _DUMP.match(line):
            epoch = _epoch_seconds(match["time"])
        elif match := _STALL.match(line):
            seconds = int(match["h"]) * 3600 + int(match["m"]) * 60 + float(match["s"])
            yield Sample(epoch, database.source, "stalled_seconds", round(seconds, 3))
        elif match := _PENDING.match(line):
            yield Sample(epoch, database.source, "pending_bytes", int(match["bytes"]))


def _epoch_seconds(stamp: str) -> float:
    return datetime.strptime(stamp, "%Y/%m/%d-%H:%M:%S.%f").replace(tzinfo=UTC).timestamp()


def metrics_between(found: list[Sample], start: float, end: float) -> dict[str, float]:
    """Debt at the end of a time and the most of it, databases added up; stalled time.

    stalled_ratio is the mean over the databases of the share of the time.
    """
    inside = [s for s in found if start <= s.epoch_seconds <= end]
    pending = _by_source(inside, "pending_bytes")
    stalled = _by_source(inside, "stalled_seconds")
    if not pending or not stalled:
        return {}
    grown = [values[-1] - values[0] for values in stalled.values()]
    return {
        "pending_bytes": sum(values[-1] for values in pending.values()),
        "largest_pending_bytes": sum(max(values) for values in pending.values()),
        "stalled_seconds": round(sum(grown), 3),
        "stalled_ratio": round(sum(grown) / len(grown) / (end - start), 6),
    }


def _by_source(found: Iterable[Sample], name: str) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {}
    for sample in found:
        if sample.name == name:
            values.setdefault(sample.source, []).append(sample.value)
    return values
