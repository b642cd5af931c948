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
from dataclasses import dataclass, fields
from pathlib import Path

from step_counts import Counts, counts_of

TOP = Path(__file__).resolve().parent.parent
BOOTSTRAP_SECONDS = 210
"""What build/bootstrap takes on a bare machine, before the first step."""

SUITES = {"test": 35 * 60 - BOOTSTRAP_SECONDS, "test-all": None}
"""Suites, each with the bound in seconds on the sum of its steps' budgets."""

KILL_AFTER_BUDGETS = 4
KILL_AFTER_SECONDS = 900
"""A step is killed after the longer of these: slow machines and networks pass, a hang ends."""

END_WITHIN_SECONDS = 30
"""What a step has for tidying up before it is killed."""

MAKE_VARIABLES = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")

TAIL_LINES = 60
TAIL_COLUMNS = 240


OPTIONAL = {"needs", "root"}
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


@dataclass(frozen=True)
class Outcome:
    """What became of a step."""

    step: Step
    result: str
    seconds: float
    counts: Counts


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
            f"the budgets of suite {suite} sum up to {total} s, over its {bound} s: "
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
    """Ends a step with its children; asks first, as a child may have sessions of its own to end."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_WITHIN_SECONDS)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def exit_on_termination() -> None:
    """Makes SIGTERM end the running step as well, as an interrupt from the keyboard does."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


def _execute(step: Step, suite: str, log: Path) -> tuple[int, bool]:
    """Runs a step with its output in log; returns exit code and whether it ran out of time."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", step.command],
            cwd=TOP,
            env=_environment(suite),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            limit = max(step.budget_seconds * KILL_AFTER_BUDGETS, KILL_AFTER_SECONDS)
            return process.wait(limit), False
        except subprocess.TimeoutExpired:
            end_group(process)
            return process.returncode, True
        except BaseException:
            end_group(process)
            raise


def run_step(step: Step, suite: str, logs: Path) -> Outcome:
    """Runs one step; its output is kept in logs and shown when it fails."""
    print(f"--- {step.name}: {step.command}", flush=True)
    log = logs / f"{step.name}.log"
    start = time.monotonic()
    exit_code, timed_out = _execute(step, suite, log)
    seconds = time.monotonic() - start
    output = log.read_text(errors="replace")
    counts = counts_of(output, failed=exit_code != 0 or timed_out)
    if exit_code == 0 and not timed_out:
        return Outcome(step, "passed", seconds, counts)
    print(*(line[:TAIL_COLUMNS] for line in output.splitlines()[-TAIL_LINES:]), sep="\n")
    print(f"--- {step.name} failed (exit code {exit_code}); all of its output: {log}", flush=True)
    return Outcome(step, "timed out" if timed_out else "failed", seconds, counts)


def run_steps(steps: list[Step], suite: str, logs: Path) -> list[Outcome]:
    """Runs steps in order; one whose needs did not pass is not run and counts as failed.

    So does one that makes disks and nodes, for a user who may not.
    """
    logs.mkdir(parents=True, exist_ok=True)
    outcomes: dict[str, Outcome] = {}
    for step in steps:
        unmet = [n for n in step.needs if n in outcomes and outcomes[n].result != "passed"]
        if unmet:
            outcomes[step.name] = Outcome(step, f"not run: {unmet[0]}", 0.0, Counts(failed=1))
            continue
        if step.root and os.geteuid() != 0:
            outcomes[step.name] = Outcome(step, "not run: use sudo", 0.0, Counts(failed=1))
            continue
        outcomes[step.name] = run_step(step, suite, logs)
    return list(outcomes.values())


def print_table(outcomes: list[Outcome]) -> None:
    """Prints a row per step, and last the summed counts alone on a line."""
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
    total = sum((outcome.counts for outcome in outcomes), Counts())
    print(f"total: {sum(outcome.seconds for outcome in outcomes):.0f} seconds")
    print(f"{total.passed} passed, {total.failed} failed")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suite", choices=SUITES, nargs="?", default="test", help="default: test")
    parser.add_argument(
        "--only", action="append", metavar="STEP", help="run this step alone; may be repeated"
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
    outcomes = run_steps(steps, arguments.suite, TOP / ".work" / "tests" / arguments.suite)
    print_table(outcomes)
    return 0 if all(outcome.result == "passed" for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
