"""The module unit_staleness: what is newer than a process."""

import os

import pytest
from ansible_collections.sluice.stores.plugins.modules import unit_staleness

STARTED_SECONDS = 1_700_000_000
RUNNING = f"ExecMainStartTimestamp=@{STARTED_SECONDS}\nActiveState=active\n"


@pytest.fixture
def written(tmp_path):
    def write(name: str, after_seconds: float) -> str:
        path = tmp_path / name
        path.touch()
        os.utime(path, (STARTED_SECONDS + after_seconds,) * 2)
        return str(path)

    return write


def test_what_was_changed_later_is_named_once(written):
    inputs = {
        written("a", 1.0): "new settings",
        written("b", 3600.0): "new settings",
        written("c", 7.5): "new packages",
    }
    assert unit_staleness.report(RUNNING, inputs) == {
        "active": True,
        "reasons": ["new settings", "new packages"],
    }


@pytest.mark.parametrize("after_seconds", [-3600.0, -0.1, 0.0, 0.9])
def test_what_was_there_in_the_second_of_the_start_is_not_newer(written, after_seconds):
    inputs = {written("a", after_seconds): "new settings"}
    assert unit_staleness.report(RUNNING, inputs)["reasons"] == []


def test_a_path_that_is_not_there_is_passed_over(tmp_path):
    inputs = {str(tmp_path / "nothing"): "new settings"}
    assert unit_staleness.report(RUNNING, inputs)["reasons"] == []


@pytest.mark.parametrize(
    "shown",
    [
        "ExecMainStartTimestamp=\nActiveState=inactive\n",
        f"ExecMainStartTimestamp=@{STARTED_SECONDS}\nActiveState=failed\n",
        "",
    ],
)
def test_a_unit_that_does_not_run_has_nothing_to_read_again(written, shown):
    inputs = {written("a", 5.0): "new settings"}
    assert unit_staleness.report(shown, inputs) == {"active": False, "reasons": []}


@pytest.mark.parametrize(
    ("reloaded_after_seconds", "reasons"),
    [
        # It is started, and no more.
        (1, ["new settings"]),
        (59, ["new settings"]),
        (60, []),
        (90, []),
    ],
)
def test_a_reload_counts_where_it_reads_the_inputs(written, reloaded_after_seconds, reasons):
    inputs = {written("a", 60.0): "new settings"}
    shown = f"{RUNNING}StateChangeTimestamp=@{STARTED_SECONDS + reloaded_after_seconds}\n"
    assert unit_staleness.report(shown, inputs, counts_reload=True)["reasons"] == reasons
    assert unit_staleness.report(shown, inputs)["reasons"] == ["new settings"]
