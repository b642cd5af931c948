"""The systemd units of the agent and the controller."""

from pathlib import Path

import pytest

UNITS = Path(__file__).parents[1] / "control" / "units"


@pytest.mark.parametrize("unit", ["sluice-agent", "sluice-controller"])
def test_it_is_started_again_for_as_long_as_it_takes(unit):
    lines = (UNITS / f"{unit}.service").read_text().splitlines()
    assert {"Restart=always", "StartLimitIntervalSec=0"} <= set(lines)


def test_the_agent_outlives_a_worker_that_the_kernel_kills():
    assert "OOMPolicy=continue" in (UNITS / "sluice-agent.service").read_text().splitlines()


def test_a_mount_of_a_pool_is_given_the_time_to_come_up():
    lines = (UNITS / "sluice-pool-mount@.service").read_text().splitlines()
    assert {"Type=notify", "TimeoutStartSec=infinity", "TimeoutStopSec=300"} <= set(lines)


@pytest.mark.parametrize("unit", ["sluice-agent", "sluice-controller"])
def test_what_it_writes_is_its_own(unit):
    assert "UMask=0077" in (UNITS / f"{unit}.service").read_text().splitlines()
