"""Compactions from a region server's log, written with `%d{UNIX_MILLIS} %p [%t] %c{1}: %m%n`.

The messages are those of HStore.compact, HStore.logCompactionEndMessage and CompactSplit's
doCompaction, version 2.6, and those of the plug-in's RemoteCompaction and OffloadingCompactor. They
have no number in common, but a compaction begins and ends on one thread. Tables of HBase itself are
left out.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from sluice_evaluation.store_logs import Event

# The events whose time is told apart, and the beginning of the names of what is measured in it.
BACKGROUND = ("compaction", "while_compacting")

_LINE = re.compile(r"^(?P<milliseconds>\d{13}) [A-Z]+ +\[(?P<thread>.+?)\] \S+: (?P<message>.*)$")
_SIZE = r"[\d.,]+(?: [KMGTPE])?"
_STARTING = re.compile(
    r"Starting compaction of \[(?P<files>.*)\] into tmpdir=\S*/data/(?P<namespace>[^/]+)/"
    rf"(?P<table>[^/]+)/(?P<region>[^/]+)/\.tmp, totalSize=(?P<size>{_SIZE})$"
)
_FAMILY = re.compile(r"/(?P<family>[^/]+)/[^/]+$")
_COMPLETED = re.compile(
    r"Completed(?P<major> major)? compaction of (?P<files>\d+)(?: \(all\))? file\(s\) in "
    r".*, total size for store is "
)
_ELSEWHERE = re.compile(r"(?P<node>\S+) compacts \d+ files of \S+ as [0-9a-f-]{36}$")
_HERE = re.compile(r"\S+ is compacted here(?: \((?P<reason>[a-z-]+)\))?: ")
# Its line has the exception and no word for it.
_UNNAMED_REASON = "offload-failed"
_NOT_COMPLETED = re.compile(r"(?:Aborted compaction|Compaction failed) ")
_OWN_NAMESPACE = "hbase"
_MASTERS_OWN = "/MasterData/"
_PREFIXES = " KMGTPE"


@dataclass(frozen=True)
class _Running:
    """A compaction that has started."""

    start: float
    table: str
    region: str
    family: str
    input_bytes: int
    files_count: int
    # Where it is done, if it was offered to other nodes.
    place: dict[str, str] = field(default_factory=dict)

    def placed(self, message: str) -> None:
        """Note where it is done, if that is what a message says; the last one counts."""
        if match := _ELSEWHERE.match(message):
            self._place("node", match["node"])
        elif match := _HERE.match(message):
            self._place("local_reason", match["reason"] or _UNNAMED_REASON)

    def _place(self, name: str, value: str) -> None:
        self.place.clear()
        self.place[name] = value

    def ended(self, end: float, number: int, major: bool | None) -> Event:
        """The compaction with its end; `major` is None when it was not finished."""
        attributes = {
            "finished": major is not None,
            "table": self.table,
            "region": self.region,
            "family": self.family,
            "input_bytes": self.input_bytes,
            "files_count": self.files_count,
            **self.place,
        }
        if major is not None:
            attributes["major"] = major
        return Event("compaction", f"compaction-{number}", self.start, end, attributes)


def read(lines: Iterable[str]) -> list[Event]:
    """Compactions of users' tables; those that are cut off end with the log."""
    events: list[Event] = []
    running: dict[str, _Running] = {}
    epoch = 0.0
    for line in filter(None, map(_LINE.match, lines)):
        epoch, thread, message = int(line["milliseconds"]) / 1000, line["thread"], line["message"]
        if match := _STARTING.match(message):
            running.pop(thread, None)
            if match["namespace"] != _OWN_NAMESPACE and _MASTERS_OWN not in message:
                running[thread] = _started(match, epoch)
        elif thread not in running:
            continue
        elif match := _COMPLETED.match(message):
            major = match["major"] is not None
            events.append(running.pop(thread).ended(epoch, len(events) + 1, major))
        elif _NOT_COMPLETED.match(message):
            events.append(running.pop(thread).ended(epoch, len(events) + 1, None))
        else:
            running[thread].placed(message)
    for compaction in running.values():
        events.append(compaction.ended(epoch, len(events) + 1, None))
    return events


def metrics(events: Iterable[Event]) -> dict[str, float]:
    """What the compactions of one run add up to.

    compaction_seconds is from the first start to the last end, and there only when all were
    finished: the time that it took to work the debt off. Of compactions that were offered to other
    nodes there is how many were done there, and how many here, by each reason that there was.
    """
    compactions = [event for event in events if event.kind == "compaction"]
    finished = [c for c in compactions if c.attributes["finished"]]
    found: dict[str, float] = {
        "compactions_count": len(finished),
        "unfinished_compactions_count": len(compactions) - len(finished),
        "compaction_input_bytes": sum(c.attributes["input_bytes"] for c in finished),
    }
    if finished and len(finished) == len(compactions):
        start, end = min(c.start for c in finished), max(c.end for c in finished)
        found["compaction_seconds"] = round(end - start, 3)
    return found | _places(finished)


def _places(finished: list[Event]) -> dict[str, float]:
    remote = sum("node" in c.attributes for c in finished)
    reasons = Counter(
        c.attributes["local_reason"] for c in finished if "local_reason" in c.attributes
    )
    if not remote and not reasons:
        return {}
    here = {
        f"local_compactions_{reason.replace('-', '_')}_count": count
        for reason, count in sorted(reasons.items())
    }
    return {"remote_compactions_count": remote} | here


def _started(match: re.Match, epoch: float) -> _Running:
    files = match["files"].split(", ")
    family = _FAMILY.search(files[0])
    return _Running(
        epoch,
        match["table"],
        match["region"],
        family["family"] if family else "",
        _bytes(match["size"]),
        len(files),
    )


def _bytes(text: str) -> int:
    """A size as Hadoop prints it, with one decimal and a binary prefix."""
    number, _, prefix = text.replace(",", ".").partition(" ")
    return round(float(number) * 1024 ** (_PREFIXES.index(prefix) if prefix else 0))
