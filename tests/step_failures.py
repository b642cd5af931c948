"""Names of the failed tests in the output of the test tools that are in use."""

import re

from step_counts import ANSI

_PATTERNS = (
    # pytest's summary
    re.compile(r"^(?:FAILED|ERROR) (\S.*)"),
    # `sluice-dist test`, of prove and pg_regress
    re.compile(r"^  failed: (.+?)  \(log .*\)$"),
    # `go test -v`; parts of a test are indented
    re.compile(r"^ *--- FAIL: (\S+)"),
    # Surefire's summary
    re.compile(r"^\[ERROR\]   (\S+:\d+.*)"),
    # Ansible, in Molecule's frame or without
    re.compile(r"(?:^|│ )(fatal: \[.*)"),
)


def failures_of(output: str, most: int = 5, columns: int = 200) -> list[str]:
    """The first failed tests that a step's output names, without repetition."""
    found: dict[str, None] = {}
    for line in ANSI.sub("", output).splitlines():
        for pattern in _PATTERNS:
            if match := pattern.search(line):
                found[match[1][:columns]] = None
    return list(found)[:most]
