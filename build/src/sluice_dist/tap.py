"""Reads test results in the Test Anything Protocol, as `prove --verbose` and others print them."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

# `t/001_stream.pl ....` starts a file; `skipped: why` after it is all there is of it.
_FILE = re.compile(r"(?P<file>\S+\.(?:pl|t)) \.+ ?(?:skipped: (?P<reason>.*))?")
# Some print the time after the name, and a mark before it for a test that ran beside others.
_TEST = re.compile(
    r"(?P<failed>not )?ok (?P<number>\d+)(?:\s+[-+])?\s*(?P<name>.*?)"
    r"(?:\s+\d+ ms)?(?:\s*# (?P<directive>skip|todo)\b.*)?",
    re.IGNORECASE,
)
# What `prove` says of a file that ended badly, which names no test if it died between two.
_ENDED = re.compile(r"(?P<file>\S+\.(?:pl|t)) +\(Wstat: \d+.*? Tests: (?P<tests>\d+) Failed: 0\)")
# Perl names the file that it read last too; our own tests say which test it is that dies.
_DEATH = re.compile(
    r"(?:# )?(?:(?P<file>\S+\.(?:pl|t)): )?(?P<what>\S.*) at \S+ line \d+"
    r"(?:, <\S*> (?:line|chunk) \d+)?\."
)
# Some name the process that they are about; two runs are to be compared by name.
_PROCESS = re.compile(r"\bpid \d+")


@dataclass
class Results:
    """Names of tests by outcome."""

    passed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def read_results(log: str) -> Results:
    """Give the results in LOG; a name that occurs twice in a file gets a number."""
    results = Results()
    seen: Counter[str] = Counter()
    for name, outcome in _tests(log):
        seen[name] += 1
        number = f" #{seen[name]}" if seen[name] > 1 else ""
        getattr(results, outcome).append(name + number)
    return results


def _tests(log: str) -> Iterator[tuple[str, str]]:
    file = ""
    deaths: dict[str, str] = {}
    for line in log.splitlines():
        if match := _FILE.fullmatch(line):
            file = f"{match['file']}: "
            if match["reason"]:
                yield f"{file}(all)", "skipped"
        elif match := _TEST.fullmatch(line.rstrip()):
            name = file + _PROCESS.sub("pid N", match["name"] or match["number"])
            yield name, _outcome(match)
        elif match := _ENDED.match(line):
            why = deaths.get(f"{match['file']}: ", "no reason in the log")
            yield f"{match['file']}: (died after {match['tests']} tests: {why})", "failed"
        elif match := _DEATH.fullmatch(line.strip()):
            deaths[f"{match['file']}: " if match["file"] else file] = match["what"]


def _outcome(match: re.Match[str]) -> str:
    if match["directive"]:
        return "skipped"
    return "failed" if match["failed"] else "passed"
