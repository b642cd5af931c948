"""Databases that are compacted again when what is left to do is not enough."""

from pathlib import Path

import pytest
from ordered_databases import OrderedDatabases

TOTAL = 1000


class Compactions:
    """A plug-in whose compactions do a tenth with each look, and end."""

    def __init__(self):
        self.done = {}
        self.started = []

    def tasks(self, kind, name):
        if name in self.done:
            self.done[name] += TOTAL // 10
            if self.done[name] >= TOTAL:
                del self.done[name]
        if name not in self.done:
            return []
        return [{"state": "running", "bytes_done": self.done[name], "bytes_total": TOTAL}]

    def start(self, kind, name):
        self.started.append(name)
        self.done[name] = 0

    def clear(self, **_):
        pass


@pytest.fixture
def plugin():
    return Compactions()


def test_they_are_started_when_none_runs(plugin):
    OrderedDatabases(plugin, "", [Path("a"), Path("b")]).go_on(TOTAL // 2)
    assert plugin.started == ["a", "b"]


def test_they_go_on_while_they_have_enough_to_do(plugin):
    databases = OrderedDatabases(plugin, "a", [Path("a")])
    databases.go_on(TOTAL // 2)
    databases.go_on(TOTAL // 2)
    assert plugin.started == ["a"]


def test_they_end_and_start_anew_when_they_have_less(plugin):
    databases = OrderedDatabases(plugin, "a", [Path("a")])
    for _ in range(6):
        databases.go_on(TOTAL // 2)
    assert plugin.started == ["a", "a"]


def test_a_trace_has_looks_before_and_after_the_order(plugin, tmp_path):
    databases = OrderedDatabases(plugin, "a", [tmp_path])
    (tmp_path / "1.sst").write_bytes(b"1")
    trace = databases.watch_order(
        lambda: (tmp_path / "2.sst").write_bytes(b"22"), before_seconds=0.01, after_seconds=0.01
    )
    assert {
        done for seconds, done in zip(trace.seconds, trace.bytes_done, strict=True) if seconds < 0
    } == {1}
    assert trace.bytes_done[-1] == 3
