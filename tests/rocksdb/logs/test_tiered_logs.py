"""Logs on two tiers: the writer is killed, or both disks lose power, in each state of the logs.

All that was acknowledged is there afterwards, and of the rest a beginning without a hole. One
database goes through all rounds, so that each is recovered from what the ones before have left.
SLUICE_CRASH_ROUNDS says how often (default 1).
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable

import pytest
from row_writer import RowWriter
from sluice_evaluation.bench.plugin_socket import PluginSocket

KIND = "log-placement"


def order(plugin: PluginSocket, tier: str) -> None:
    plugin.set(KIND, "", "tier", tier)


def figure(plugin: PluginSocket, name: str) -> int:
    return plugin.snapshot()["figures"].get(name, 0)


def redirected(plugin: PluginSocket, writer: RowWriter, dice: random.Random) -> None:
    """All goes to the slow tier."""
    order(plugin, "slow")
    writer.wait_for(lambda: figure(plugin, "wal_slow_writes_total") > 0, "a redirected write")
    writer.wait_for_rows(dice.randrange(4, 200))


def moving(plugin: PluginSocket, writer: RowWriter, dice: random.Random) -> None:
    """Back and forth, every few rows."""
    for _ in range(dice.randrange(3, 15)):
        order(plugin, dice.choice(["slow", "fast"]))
        writer.wait_for_rows(dice.randrange(1, 12))


def merging(plugin: PluginSocket, writer: RowWriter, dice: random.Random) -> None:
    """Closed logs are brought back to the fast tier."""
    before = figure(plugin, "wal_merged_logs_total")
    order(plugin, "slow")
    writer.wait_for_rows(400)
    order(plugin, "fast")
    merged = before + dice.randrange(0, 2)
    writer.wait_for(lambda: figure(plugin, "wal_merged_logs_total") >= merged, "a merged log")


STATES: dict[str, Callable] = {"redirected": redirected, "moving": moving, "merging": merging}


@pytest.mark.parametrize("state", STATES)
def test_killed_process(crash_round, state, two_disks, dice):
    ahead = dice.choice([True, False])
    with two_disks.writer(makes_logs_ahead=ahead) as writer, two_disks.plugin() as plugin:
        STATES[state](plugin, writer, dice)
        writer.kill()
        acknowledged = writer.acknowledged
    assert two_disks.checked_rows() >= acknowledged > 0


@pytest.mark.parametrize("state", STATES)
def test_power_loss(crash_round, state, two_disks, dice):
    ahead = dice.choice([True, False])
    with two_disks.writer(makes_logs_ahead=ahead) as writer, two_disks.plugin() as plugin:
        STATES[state](plugin, writer, dice)
        acknowledged = two_disks.lose_power(writer, dice)
    assert two_disks.checked_rows() >= acknowledged > 0


def test_a_part_that_is_gone_is_found(two_disks):
    """A test of the tests: they would see it."""
    with two_disks.writer() as writer, two_disks.plugin() as plugin:
        order(plugin, "slow")
        writer.wait_for_rows(40)
    away = two_disks.slow_folder.rename(two_disks.slow_folder.with_name("away"))
    two_disks.slow_folder.mkdir()
    with pytest.raises(AssertionError, match="slow tier is gone"):
        two_disks.checked_rows()
    shutil.rmtree(two_disks.slow_folder)
    away.rename(two_disks.slow_folder)
    assert two_disks.checked_rows() >= writer.acknowledged


def test_all_orders_of_a_move_are_followed_without_a_failed_write(two_disks):
    """The next write after an order goes there: no log has to be rolled."""
    with two_disks.writer() as writer, two_disks.plugin() as plugin:
        for tier in ("slow", "fast") * 20:
            order(plugin, tier)
            counted = f"wal_{tier}_bytes_total"
            before = figure(plugin, counted)
            writer.wait_for(lambda: figure(plugin, counted) > before, counted)  # noqa: B023
        writer.wait_for_rows(4)
