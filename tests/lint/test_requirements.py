"""The Python lock file belongs to its input, is hashed throughout and names no host."""

import re

from source_files import TOP

INPUT = (TOP / "build" / "requirements.in").read_text()
LOCK = (TOP / "build" / "requirements.txt").read_text()
PIN = re.compile(r"^([a-z0-9-]+)==(\S+) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)*)", re.M)


def normalized(requirement: str) -> tuple[str, str]:
    name, _, version = re.sub(r"\[.*\]", "", requirement).partition("==")
    return re.sub(r"[-_.]+", "-", name).lower(), version


def test_lock_names_no_host():
    assert "://" not in LOCK
    assert not re.search(r"^-", LOCK, re.M)


def test_lock_has_hashes():
    pins = PIN.findall(LOCK)
    assert pins
    assert [name for name, _, hashes in pins if not hashes] == []
    assert len(pins) == len(re.findall(r"^\S+==", LOCK, re.M))


def test_lock_covers_input():
    locked = {name: version for name, version, _ in PIN.findall(LOCK)}
    wanted = [line.split("#")[0].strip() for line in INPUT.splitlines()]
    for requirement in filter(None, wanted):
        name, version = normalized(requirement)
        assert name in locked, f"{name} is not locked: run `make requirements`"
        assert version in ("", locked[name]), f"{name} is locked otherwise: run `make requirements`"
