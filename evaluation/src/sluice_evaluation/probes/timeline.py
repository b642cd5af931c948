"""Starts commands at given seconds of a timeline and writes down when each began and ended.

Standard library alone, so that a node can run this very file. The timeline is a JSON file:
{"steps": [{"name": "steady", "kind": "client", "at_seconds": 0, "argv": ["sluice-ycsb", "run"],
"output": "steady.txt", "timeout_seconds": 200, "allowed_exit_codes": [0, 3]}]}. Every step starts
at its second whether or not earlier ones are done; with "after_file": "clients/steady/*.hdr" it
counts from when such a file appears below the directory, with "after_step": "steady" from when that
step has ended well. With "begin_epoch_seconds" beside the steps it all begins then, so that several
machines begin together. The first line written is the origin that all logged seconds count from.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

POLL_SECONDS = 0.02
DEFAULT_TIMEOUT_SECONDS = 3600.0
TERMINATE_GRACE_SECONDS = 5.0
OUTPUT_TAIL_CHARACTERS = 1000


@dataclass
class Running:
    """A started step."""

    step: dict[str, Any]
    process: subprocess.Popen
    started_seconds: float
    timed_out: bool = field(default=False)


class TimelineError(Exception):
    """The timeline is not usable; the message says why."""


def check(document: Any) -> list[dict[str, Any]]:
    """The steps by the time of their start; TimelineError when one is wrong."""
    steps = document.get("steps") if isinstance(document, dict) else None
    if not isinstance(steps, list) or not steps:
        raise TimelineError('a timeline is {"steps": [...]} with at least one step')
    for number, step in enumerate(steps, 1):
        if missing := {"name", "kind", "at_seconds", "argv"} - set(step):
            raise TimelineError(f"step {number} lacks {', '.join(sorted(missing))}")
        if not isinstance(step["argv"], list) or not step["argv"]:
            raise TimelineError(f"step {step['name']}: argv is a list of words, not a shell line")
        if step["at_seconds"] < 0:
            raise TimelineError(f"step {step['name']}: at_seconds is negative")
    return sorted(steps, key=lambda step: step["at_seconds"])


def wait_for_begin(document: dict[str, Any]) -> None:
    """Sleep until the timeline's own time has come, if it has one."""
    time.sleep(max(0.0, document.get("begin_epoch_seconds", 0.0) - time.time()))


def follow(steps: list[dict[str, Any]], directory: Path, events: Path) -> bool:
    """Run the steps; whether all of them ended with 0 in their time.

    Outputs go below `directory`; `events` is a new file of JSON lines.
    """
    clock = _Clock(directory)
    waiting, running, good = list(steps), [], True
    with events.open("x") as log:
        _write(log, {"kind": "origin", "epoch_seconds": round(clock.epoch, 6)})
        try:
            while waiting or running:
                for step in [s for s in waiting if clock.is_due(s)]:
                    waiting.remove(step)
                    running.append(_start(step, directory, clock.now()))
                for item in [r for r in running if _ended(r, clock.now())]:
                    running.remove(item)
                    _write_end(item, clock.now(), log)
                    if _went_well(item):
                        clock.note_end(item.step["name"])
                    else:
                        good = False
                        _tell_failure(item, directory)
                if not running and any(clock.never(step) for step in waiting):
                    return False
                time.sleep(POLL_SECONDS)
        finally:
            for item in running:
                _stop(item.process)
    return good


class _Clock:
    """Seconds since the origin, and since the files that steps wait for appeared."""

    def __init__(self, directory: Path):
        self.epoch, self._begun = time.time(), time.monotonic()
        self._directory, self._seen, self._ended = directory, {}, {}

    def now(self) -> float:
        return time.monotonic() - self._begun

    def note_end(self, name: str) -> None:
        """From now on the steps that wait for this one are due."""
        self._ended[name] = self.now()

    def is_due(self, step: dict[str, Any]) -> bool:
        if before := step.get("after_step"):
            return before in self._ended and self._ended[before] + step["at_seconds"] <= self.now()
        pattern = step.get("after_file")
        if pattern is None:
            return step["at_seconds"] <= self.now()
        if pattern not in self._seen and any(self._directory.glob(pattern)):
            self._seen[pattern] = self.now()
        return pattern in self._seen and self._seen[pattern] + step["at_seconds"] <= self.now()

    def never(self, step: dict[str, Any]) -> bool:
        """Whether a step waits for what nothing that runs could still bring."""
        if before := step.get("after_step"):
            return before not in self._ended
        return "after_file" in step and step["after_file"] not in self._seen


def _start(step: dict[str, Any], directory: Path, now: float) -> Running:
    output = directory / step["output"] if step.get("output") else Path(os.devnull)
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("ab") as out:
        # A group of its own, so that a timeout ends the step's children too.
        process = subprocess.Popen(
            step["argv"], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
    return Running(step, process, now)


def _ended(item: Running, now: float) -> bool:
    if item.process.poll() is not None:
        return True
    if now - item.started_seconds > item.step.get("timeout_seconds", DEFAULT_TIMEOUT_SECONDS):
        item.timed_out = True
        _stop(item.process)
    return item.timed_out


def _stop(process: subprocess.Popen) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(TERMINATE_GRACE_SECONDS)
            return


def _write_end(item: Running, now: float, log: Any) -> None:
    _write(log, {
        "kind": item.step["kind"],
        "name": item.step["name"],
        "start_seconds": round(item.started_seconds, 6),
        "end_seconds": round(now, 6),
        "exit_code": item.process.returncode,
        "timed_out": item.timed_out,
    })  # fmt: skip


def _went_well(item: Running) -> bool:
    allowed = item.step.get("allowed_exit_codes", [0])
    return item.process.returncode in allowed and not item.timed_out


def _tell_failure(item: Running, directory: Path) -> None:
    """Say on standard error how a step ended, with the end of what it wrote."""
    code = "its time-out" if item.timed_out else f"exit code {item.process.returncode}"
    output, said = item.step.get("output"), ""
    if output:
        said = (directory / output).read_text(errors="replace")[-OUTPUT_TAIL_CHARACTERS:].strip()
    print(f"{item.step['kind']} {item.step['name']}: {code}: {said}", file=sys.stderr)


def _write(log: Any, line: dict[str, Any]) -> None:
    log.write(json.dumps(line) + "\n")
    log.flush()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this program."""
    parser.add_argument("timeline", type=Path, metavar="TIMELINE.json")
    parser.add_argument("--directory", type=Path, default=Path(), help="for the steps' output")
    parser.add_argument("--events", type=Path, required=True, metavar="FILE", help="new JSON lines")


def run(options: argparse.Namespace) -> int:
    """Follow a timeline; 1 when a step failed, 2 when the timeline is wrong."""
    try:
        document = json.loads(options.timeline.read_text())
        steps = check(document)
        wait_for_begin(document)
        return 0 if follow(steps, options.directory, options.events) else 1
    except (TimelineError, OSError, json.JSONDecodeError) as error:
        print(f"timeline: {error}", file=sys.stderr)
        return 2


def main(arguments: list[str] | None = None) -> int:
    """Follow a timeline."""
    parser = argparse.ArgumentParser(prog="timeline", description=__doc__.splitlines()[0])
    add_arguments(parser)
    return run(parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
