"""Checkpoints and redo from PostgreSQL's log, written with `log_line_prefix = '%n '`.

%n is the time in seconds since the epoch with milliseconds. The messages are those of
LogCheckpointEnd in xlog.c and PerformWalRecovery in xlogrecovery.c, versions 17 and 18.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sluice_evaluation.store_logs import Event

_LINE = re.compile(r"^(?P<epoch>\d+\.\d+) .*?LOG: +(?P<message>.*)$")
_STARTING = re.compile(r"(?:checkpoint|restartpoint) starting: *(?P<cause>.*)$")
_COMPLETE = re.compile(
    r"(?P<kind>checkpoint|restartpoint) complete: wrote (?P<buffers>\d+) buffers"
    r".*?write=(?P<write>[\d.]+) s, sync=(?P<sync>[\d.]+) s, total=(?P<total>[\d.]+) s; "
    r"sync files=(?P<files>\d+), longest=(?P<longest>[\d.]+) s"
    r".*?distance=(?P<distance>\d+) kB"
    r".*?; lsn=(?P<lsn>[0-9A-F]+/[0-9A-F]+), redo lsn=(?P<redo>[0-9A-F]+/[0-9A-F]+)"
)
_REDO_DONE = re.compile(r"redo done at .*elapsed: (?P<elapsed>[\d.]+) s")
_AROUND_THE_RUN = re.compile("shutdown|end-of-recovery")
_NO_REDO = "redo is not required"
_SERVER_START = "starting PostgreSQL"


@dataclass(frozen=True)
class _Open:
    """A checkpoint that has started."""

    start: float
    cause: str

    def cut_off(self, end: float, number: int) -> Event:
        """What the log knows of one that a crash ended."""
        name = f"checkpoint-{number}"
        return Event("checkpoint", name, self.start, end, {"cause": self.cause, "finished": False})


def read(lines: Iterable[str]) -> list[Event]:
    """Checkpoints and redo; a checkpoint that a crash cut off ends at the next start."""
    events: list[Event] = []
    running: _Open | None = None
    epoch = 0.0
    for line in filter(None, map(_LINE.match, lines)):
        epoch, message = float(line["epoch"]), line["message"]
        if match := _COMPLETE.match(message):
            events.append(_finished(match, running, epoch, len(events) + 1))
            running = None
        elif running and message.startswith(_SERVER_START):
            events.append(running.cut_off(epoch, len(events) + 1))
            running = None
        elif match := _STARTING.match(message):
            running = _Open(epoch, match["cause"].strip())
        elif match := _REDO_DONE.match(message):
            events.append(Event("redo", "redo", epoch - float(match["elapsed"]), epoch))
        elif message.startswith(_NO_REDO):
            events.append(Event("redo", "redo", epoch, epoch))
    if running:
        events.append(running.cut_off(epoch, len(events) + 1))
    return events


def _position(lsn: str) -> int:
    """A position in the WAL, in bytes, as of pg_lsn."""
    high, low = (int(part, 16) for part in lsn.split("/"))
    return (high << 32) + low


def _finished(match: re.Match, running: _Open | None, end: float, number: int) -> Event:
    # total= counts from a little before the starting line is written.
    start = min(end - float(match["total"]), running.start if running else end)
    distance = int(match["distance"]) * 1024
    return Event(
        "checkpoint",
        f"{match['kind']}-{number}",
        start,
        end,
        {
            "cause": running.cause if running else "",
            "finished": True,
            "buffers_count": int(match["buffers"]),
            "write_seconds": float(match["write"]),
            "sync_seconds": float(match["sync"]),
            "sync_files_count": int(match["files"]),
            "longest_sync_seconds": float(match["longest"]),
            "wal_distance_bytes": distance,
            # A crash just before its end would have gone back to the redo point before its own.
            "replay_bytes": distance + _position(match["lsn"]) - _position(match["redo"]),
        },
    )


def metrics(events: Iterable[Event]) -> dict[str, float]:
    """What the events of one run add up to; redo_seconds is that of its last restart."""
    events = list(events)
    finished = [e.attributes for e in events if e.kind == "checkpoint" and e.attributes["finished"]]
    redos = [event.end - event.start for event in events if event.kind == "redo"]
    under_load = [c for c in finished if not _AROUND_THE_RUN.search(c["cause"])]
    found: dict[str, float] = {"checkpoints_count": len(under_load)}
    if finished:
        # With that at the end of recovery: it tells how much there was to replay.
        found["largest_wal_distance_bytes"] = max(c["wal_distance_bytes"] for c in finished)
        found["largest_replay_bytes"] = max(c["replay_bytes"] for c in finished)
        found["checkpoint_sync_seconds"] = round(sum(c["sync_seconds"] for c in under_load), 3)
    if redos:
        found["redo_seconds"] = round(redos[-1], 3)
    return found
