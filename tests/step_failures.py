"""Names of the failed tests in the output of the test tools that are in use."""

import re
from collections.abc import Iterator

from step_counts import ANSI

_PATTERNS = (
    # pytest's summary
    re.compile(r"^(?:FAILED|ERROR) (\S.*)"),
    # `sluice-dist test`, of prove and pg_regress
    re.compile(r"^  failed: (.+?)  \(log .*\)$"),
    # Surefire's summary
    re.compile(r"^\[ERROR\]   (\S+:\d+.*)"),
)

# `go test -v`: what a test says is indented, after its name; parts of a test are indented too.
_GO_NAME = re.compile(r"^=== (?:RUN|CONT|NAME) +(\S+)")
_GO_SAID = re.compile(r"^ +(\w+\.go:\d+: .*)")
_GO_FAIL = re.compile(r"^ *--- FAIL: (\S+)")

# What Ansible prints is in Molecule's frame or in none.
_FRAME = re.compile(r"^ *[│┌└] ?")
_TASK = re.compile(r"^(?:TASK|RUNNING HANDLER) \[(.*)")
_FATAL = re.compile(r"^(?:fatal|failed): \[.*")
_WHY = re.compile(r"^ *(?:\"?(?:msg|stderr)\"?): *(\S.*)")
_ANSIBLE_RESULT_LINES = 60


def failures_of(output: str, most: int = 5, columns: int = 300) -> list[str]:
    """The first failed tests that a step's output names, without repetition."""
    lines = ANSI.sub("", output).splitlines()
    said = _said_by_go_tests(lines)
    found: dict[str, None] = {}
    for index, line in enumerate(lines):
        for pattern in _PATTERNS:
            if match := pattern.search(line):
                found[match[1][:columns]] = None
        if match := _GO_FAIL.search(line):
            found[" ".join((match[1], *said.get(match[1], ())))[:columns]] = None
        if _FATAL.search(_FRAME.sub("", line)):
            found[_ansible_failure(lines, index)[:columns]] = None
    return list(found)[:most]


def _said_by_go_tests(lines: list[str]) -> dict[str, list[str]]:
    """The first lines of all that each test said."""
    said: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        if match := _GO_NAME.search(line):
            name = match[1]
        elif match := _GO_SAID.search(line):
            said.setdefault(name, []).append(match[1])
    return said


def _ansible_failure(lines: list[str], index: int) -> str:
    """The line of a failed host, after its task and before what the task says."""
    fatal = _FRAME.sub("", lines[index]).strip()
    return " ".join([*_task_before(lines, index), fatal, *_reasons_after(lines, index)])


def _task_before(lines: list[str], index: int) -> Iterator[str]:
    for start in range(index - 1, -1, -1):
        if match := _TASK.search(_FRAME.sub("", lines[start])):
            # Molecule wraps long names.
            wrapped = (_FRAME.sub("", line).strip() for line in lines[start + 1 : index])
            name = match[1]
            while "]" not in name and (more := next(wrapped, "")):
                name += " " + more
            yield f"[{name.partition(']')[0]}]"
            return


def _reasons_after(lines: list[str], index: int) -> Iterator[str]:
    for line in lines[index + 1 : index + 1 + _ANSIBLE_RESULT_LINES]:
        text = _FRAME.sub("", line)
        if text.strip() and not text.startswith(" "):
            return
        if match := _WHY.search(text):
            yield match[1]
