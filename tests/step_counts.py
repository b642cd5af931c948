"""Counts of passed, failed and skipped tests in the output of the test tools that are in use."""

import re
from dataclasses import dataclass

_PYTEST = re.compile(r"^(?:=+ )?((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s(?: \([\d:]+\))?(?: =+)?$", re.M)
_PYTEST_PART = re.compile(r"(\d+) (passed|failed|errors?|skipped)\b")
_PROVE = re.compile(r"^Files=\d+, Tests=(\d+),", re.M)
_PROVE_FAILED = re.compile(r"^\s+Failed tests?:\s+(.+)$", re.M)
_REGRESS_PASSED = re.compile(r"^# All (\d+) tests passed", re.M)
_REGRESS_FAILED = re.compile(r"^# (\d+) of (\d+) tests failed", re.M)
# Without "Time elapsed": the sum that surefire prints for a module, not one of its classes.
_SUREFIRE = re.compile(
    r"^\[\w+\] Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)$", re.M
)
# Of `go test -v`: those at the start of a line are tests, others parts of one.
_GO = re.compile(r"^--- (PASS|FAIL|SKIP): ", re.M)
_PLAIN = re.compile(r"^(\d+) passed, (\d+) failed$", re.M)
ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Counts:
    """Numbers of tests by outcome."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped
        )


def _pytest(output: str) -> Counts:
    total = Counts()
    for summary in _PYTEST.findall(output):
        for number, outcome in _PYTEST_PART.findall(summary):
            field = "failed" if outcome.startswith("error") else outcome
            total += Counts(**{field: int(number)})
    return total


def _numbered(ranges: str) -> int:
    """Size of prove's list of test numbers, such as `3, 5-7`."""
    spans = [part.split("-") for part in re.findall(r"\d+(?:-\d+)?", ranges)]
    return sum(int(span[-1]) - int(span[0]) + 1 for span in spans)


def _prove(output: str) -> Counts:
    tests = sum(int(number) for number in _PROVE.findall(output))
    failed = sum(_numbered(ranges) for ranges in _PROVE_FAILED.findall(output))
    return Counts(passed=max(tests - failed, 0), failed=failed)


def _regress(output: str) -> Counts:
    passed = sum(int(number) for number in _REGRESS_PASSED.findall(output))
    total = Counts(passed=passed)
    for failed, tests in _REGRESS_FAILED.findall(output):
        total += Counts(passed=int(tests) - int(failed), failed=int(failed))
    return total


def _surefire(output: str) -> Counts:
    total = Counts()
    for tests, failures, errors, skipped in _SUREFIRE.findall(output):
        failed = int(failures) + int(errors)
        total += Counts(int(tests) - failed - int(skipped), failed, int(skipped))
    return total


def _go(output: str) -> Counts:
    outcomes = _GO.findall(output)
    return Counts(outcomes.count("PASS"), outcomes.count("FAIL"), outcomes.count("SKIP"))


def _plain(output: str) -> Counts:
    total = Counts()
    for passed, failed in _PLAIN.findall(output):
        total += Counts(int(passed), int(failed))
    return total


def counts_of(output: str, failed: bool) -> Counts:
    """Tests that a step's output reports; a step without such lines is itself one test."""
    text = ANSI.sub("", output)
    total = Counts()
    for parse in (_pytest, _prove, _regress, _surefire, _go, _plain):
        total += parse(text)
    if failed and total.failed == 0:
        return total + Counts(failed=1)
    if total == Counts():
        return Counts(passed=1)
    return total
