#!/usr/bin/env python3
"""Runs the steps of a test suite and prints what passed, what failed and how long it took.

Steps are data in tests/steps/*.toml; docs/contributing.md explains the fields.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import left_in_memory
from step_counts import Counts, counts_of
from step_failures import failures_of

TOP = Path(__file__).resolve().parent.parent
BOOTSTRAP_SECONDS = 210
"""What build/bootstrap takes on a bare machine, before the first step."""

JOBS = 3
"""Steps at a time, on two cores: most wait for disks and time-outs for half of their time."""

GAIN = 2.8
"""How much sooner steps are taken to end three at a time, each slower for it, than one by one: in a
whole run of the suite the sum of their times was 2.89 times what they took side by side."""

SUITES = {"test": GAIN * (45 * 60 - BOOTSTRAP_SECONDS), "test-all": None}
"""Suites, each with the bound in seconds on the sum of its steps' budgets."""

KILL_AFTER_BUDGETS = 4
KILL_AFTER_SECONDS = 1800
"""A step is killed after the longer of these: slow machines and networks pass, a hang ends."""

END_WITHIN_SECONDS = 30
"""What a step has for tidying up before it is killed."""

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end a run, with all of its steps."""

MAKE_VARIABLES = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")

TAIL_LINES = 60
TAIL_COLUMNS = 240


POLL_SECONDS = 0.05

OPTIONAL = {"needs", "root", "alone", "holds"}
"""Fields that a step can leave out."""


class StepError(Exception):
    """A step is declared wrongly; the message says where and how."""


@dataclass(frozen=True)
class Step:
    """One command of a suite."""

    name: str
    what: str
    command: str
    suites: tuple[str, ...]
    budget_seconds: int
    needs: tuple[str, ...] = ()
    root: bool = False
    alone: bool = False
    holds: str = ""


@dataclass(frozen=True)
class Outcome:
    """What became of a step."""

    step: Step
    result: str
    seconds: float
    counts: Counts
    failures: tuple[str, ...] = ()


def _step(source: Path, table: dict) -> Step:
    known = {field.name for field in fields(Step)}
    name = table.get("name", "a step without name")
    if unknown := set(table) - known:
        raise StepError(f"{source.name}: {name}: unknown {sorted(unknown)}; known: {sorted(known)}")
    if missing := known - OPTIONAL - set(table):
        raise StepError(f"{source.name}: {name}: add {sorted(missing)}")
    if unknown := set(table["suites"]) - set(SUITES):
        raise StepError(f"{source.name}: {name}: no suite {sorted(unknown)}; use {list(SUITES)}")
    lists = {"suites": tuple(table["suites"]), "needs": tuple(table.get("needs", ()))}
    return Step(**(table | lists))


def load_steps(directory: Path) -> list[Step]:
    """All declared steps in the order of their files' names, each behind the steps that it needs.

    Raises StepError for a wrong declaration.
    """
    steps: dict[str, Step] = {}
    for source in sorted(directory.glob("*.toml")):
        for table in tomllib.loads(source.read_text()).get("step", []):
            step = _step(source, table)
            if step.name in steps:
                raise StepError(
                    f"{source.name}: a step named {step.name} exists; name it otherwise"
                )
            steps[step.name] = step
    ordered: dict[str, Step] = {}
    for step in steps.values():
        _place(step, steps, ordered, ())
    return list(ordered.values())


def _place(step: Step, steps: dict[str, Step], ordered: dict[str, Step], path: tuple) -> None:
    if step.name in ordered:
        return
    if step.name in path:
        raise StepError(f"steps need each other: {' -> '.join((*path, step.name))}")
    for need in step.needs:
        if need not in steps:
            raise StepError(f"{step.name}: needs {need}, which no file in tests/steps declares")
        if lacking := set(step.suites) - set(steps[need].suites):
            raise StepError(f"{step.name}: needs {need}, which is not in {sorted(lacking)}")
        _place(steps[need], steps, ordered, (*path, step.name))
    ordered[step.name] = step


def suite_steps(steps: list[Step], suite: str) -> list[Step]:
    """The steps of a suite; raises StepError when their budgets exceed the suite's bound."""
    chosen = [step for step in steps if suite in step.suites]
    total, bound = sum(step.budget_seconds for step in chosen), SUITES[suite]
    if bound is not None and total > bound:
        raise StepError(
            f"the budgets of suite {suite} sum up to {total} s, over its {bound:.0f} s: "
            "make a step quicker or move it to test-all"
        )
    return chosen


def _environment(suite: str) -> dict[str, str]:
    venv = TOP / ".work" / "venv"
    path = f"{venv / 'bin'}:{os.environ['PATH']}"
    # A step is not part of the make that may be around this program.
    kept = {name: value for name, value in os.environ.items() if name not in MAKE_VARIABLES}
    return kept | {"PATH": path, "VIRTUAL_ENV": str(venv), "SLUICE_SUITE": suite}


def end_group(process: subprocess.Popen) -> None:
    """Ends a step with its children; asks first, as each may have sessions of its own to end."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        deadline = time.monotonic() + END_WITHIN_SECONDS
        while _is_at_work(process.pid) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _is_at_work(group: int) -> bool:
    """Whether one of the group runs; dead ones stay in it until whoever has them reaps them."""
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            state, _, its_group = file.read_text(errors="replace").rpartition(")")[2].split()[:3]
            if int(its_group) == group and state not in ("Z", "X"):
                return True
    return False


def exit_on_termination() -> None:
    """Makes SIGTERM and SIGHUP end the running steps as well, as an interrupt from the keyboard."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        # Under `nohup` the end of the terminal is none.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: sys.exit(128 + number))


@contextlib.contextmanager
def termination_deferred() -> Iterator[None]:
    """Holds back the end of this program, so that every step that it has started ends."""
    came: list[int] = []
    before = {number: signal.signal(number, lambda n, _: came.append(n)) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


class RunningStep:
    """A step at work; its output is kept in a log, and shown when it fails."""

    def __init__(self, step: Step, suite: str, logs: Path):
        print(f"--- {step.name}: {step.command}", flush=True)
        self.step = step
        self.timed_out = False
        self.log = logs / f"{step.name}.log"
        self.start = time.monotonic()
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", step.command],
                cwd=TOP,
                env=_environment(suite),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def has_ended(self) -> bool:
        """Whether it is over; ends it when its time has run out."""
        if self.process.poll() is not None:
            return True
        limit = max(self.step.budget_seconds * KILL_AFTER_BUDGETS, KILL_AFTER_SECONDS)
        self.timed_out = time.monotonic() - self.start > limit
        if self.timed_out:
            end_group(self.process)
        return self.timed_out

    def outcome(self) -> Outcome:
        """What became of it, once it has ended."""
        seconds = time.monotonic() - self.start
        output = self.log.read_text(errors="replace")
        exit_code = self.process.returncode
        counts = counts_of(output, failed=exit_code != 0 or self.timed_out)
        if exit_code == 0 and not self.timed_out:
            return Outcome(self.step, "passed", seconds, counts)
        print(*(line[:TAIL_COLUMNS] for line in output.splitlines()[-TAIL_LINES:]), sep="\n")
        print(f"--- {self.step.name} failed (exit code {exit_code}); all of its output: {self.log}")
        result = "timed out" if self.timed_out else "failed"
        return Outcome(self.step, result, seconds, counts, tuple(failures_of(output)))


def run_steps(steps: list[Step], suite: str, logs: Path, jobs: int = JOBS) -> list[Outcome]:
    """Runs steps in order, some at a time; one whose needs did not pass counts as failed.

    So does one that makes disks and nodes, for a user who may not.
    """
    logs.mkdir(parents=True, exist_ok=True)
    waiting, running, outcomes = list(steps), [], {}
    try:
        while waiting or running:
            for ended in [item for item in running if item.has_ended()]:
                running.remove(ended)
                outcomes[ended.step.name] = ended.outcome()
            for refused in _refused(waiting, outcomes):
                waiting.remove(refused.step)
                outcomes[refused.step.name] = refused
            if step := _next(waiting, [item.step for item in running], jobs):
                waiting.remove(step)
                with termination_deferred():
                    running.append(RunningStep(step, suite, logs))
                continue
            time.sleep(POLL_SECONDS)
    finally:
        # Each has a session of its own: one that a second interrupt left out would go on.
        with termination_deferred():
            for item in running:
                end_group(item.process)
    return [outcomes[step.name] for step in steps]


def _refused(waiting: list[Step], outcomes: dict[str, Outcome]) -> list[Outcome]:
    reasons = {}
    for step in waiting:
        unmet = [n for n in step.needs if n in outcomes and outcomes[n].result != "passed"]
        if unmet:
            reasons[step] = unmet[0]
        elif step.root and os.geteuid() != 0:
            reasons[step] = "use sudo"
    return [Outcome(s, f"not run: {why}", 0.0, Counts(failed=1)) for s, why in reasons.items()]


def _next(waiting: list[Step], running: list[Step], jobs: int) -> Step | None:
    """The first step whose needs are done and that holds nothing which a running one holds.

    One that is alone waits, and is waited for.
    """
    if len(running) >= jobs or any(step.alone for step in running):
        return None
    unfinished = {step.name for step in (*waiting, *running)}
    held = {step.holds for step in running} - {""}
    ready = [
        step
        for step in waiting
        if not unfinished.intersection(step.needs) and step.holds not in held
    ]
    first = next(iter(ready), None)
    return None if first is None or (first.alone and running) else first


def print_table(outcomes: list[Outcome], seconds: float) -> None:
    """Prints a row per step, what failed, and last the summed counts alone on a line."""
    width = max(len(outcome.step.name) for outcome in outcomes)
    what = max(len(outcome.step.what) for outcome in outcomes)
    print(f"\n{'step':{width}}  {'what':{what}}  seconds  budget  tests  skipped  result")
    for outcome in outcomes:
        step, counts = outcome.step, outcome.counts
        late = " (over budget)" if outcome.seconds > step.budget_seconds else ""
        print(
            f"{step.name:{width}}  {step.what:{what}}  {outcome.seconds:7.0f}  "
            f"{step.budget_seconds:6d}  {counts.passed + counts.failed:5d}  "
            f"{counts.skipped:7d}  {outcome.result}{late}"
        )
    for outcome in outcomes:
        for name in outcome.failures:
            print(f"{outcome.step.name}: failed: {name}")
    total = sum((outcome.counts for outcome in outcomes), Counts())
    print(f"total: {seconds:.0f} seconds")
    print(f"{total.passed} passed, {total.failed} failed")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suite", choices=SUITES, nargs="?", default="test", help="default: test")
    parser.add_argument(
        "--only", action="append", metavar="STEP", help="run this step alone; may be repeated"
    )
    parser.add_argument(
        "--jobs", type=int, default=JOBS, metavar="N", help=f"steps at a time; default: {JOBS}"
    )
    parser.add_argument("--list", action="store_true", help="list the suite's steps, run nothing")
    return parser.parse_args()


def main() -> int:
    """Returns 0 when every step passed, 1 when one failed, 2 when steps are declared wrongly."""
    arguments = _arguments()
    try:
        steps = suite_steps(load_steps(TOP / "tests" / "steps"), arguments.suite)
    except StepError as error:
        print(f"tests/run.py: {error}", file=sys.stderr)
        return 2
    if unknown := set(arguments.only or ()) - {step.name for step in steps}:
        print(f"tests/run.py: no step {sorted(unknown)}; see --list", file=sys.stderr)
        return 2
    if arguments.only:
        steps = [step for step in steps if step.name in arguments.only]
    if arguments.list:
        for step in steps:
            print(f"{step.name} ({step.budget_seconds} s): {step.what}\n    {step.command}")
        return 0
    exit_on_termination()
    for folder in left_in_memory.remove():
        print(f"removed {folder}, which a killed test had left")
    start = time.monotonic()
    logs = TOP / ".work" / "tests" / arguments.suite
    outcomes = run_steps(steps, arguments.suite, logs, arguments.jobs)
    print_table(outcomes, time.monotonic() - start)
    return 0 if all(outcome.result == "passed" for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
