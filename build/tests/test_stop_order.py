"""The order in which HBase, HDFS and ZooKeeper of one host stop at its end, by their units."""

from pathlib import Path

import pytest
from images import ROOT

STORES = ROOT / "build" / "stores"
ROLES = ROOT / "ansible" / "roles"
HDFS, ZOOKEEPER = "sluice-hdfs.target", "sluice-zookeeper.target"
# What would have one end, fail or be started with another.
NEEDS = ("Requires", "Requisite", "BindsTo", "PartOf", "Upholds")


def units(store: str) -> list[Path]:
    return sorted((STORES / store / "debian" / "system").glob("*.service"))


def settings(unit: Path, name: str) -> list[str]:
    lines = unit.read_text().splitlines()
    values = (line.partition("=")[2] for line in lines if line.startswith(f"{name}="))
    return [word for value in values for word in value.split()]


@pytest.mark.parametrize(
    ("store", "target"), [("hdfs", HDFS), ("zookeeper", ZOOKEEPER)], ids=["hdfs", "zookeeper"]
)
def test_daemons_are_before_the_target_that_role_and_units_name_alike(store, target):
    assert units(store)
    for unit in units(store):
        assert target in settings(unit, "Before") and target in settings(unit, "Wants")
    assert (ROLES / store / "files" / target).is_file()


@pytest.mark.parametrize(
    ("store", "targets"),
    [("hbase", {HDFS, ZOOKEEPER}), ("hdfs", {ZOOKEEPER}), ("zookeeper", set())],
)
def test_who_writes_to_another_stops_before_it(store, targets):
    for unit in units(store):
        ours = {name for name in settings(unit, "After") if name in (HDFS, ZOOKEEPER)}
        assert ours == targets, unit.name


def test_a_namenode_stops_before_the_journal_that_it_writes_to():
    [unit] = [unit for unit in units("hdfs") if "namenode" in unit.name]
    assert "@NAME@-journalnode@%i.service" in settings(unit, "After")


@pytest.mark.parametrize("store", ["hbase", "hdfs", "zookeeper"])
def test_none_needs_another_one_on_its_host(store):
    for unit in units(store):
        assert [settings(unit, name) for name in NEEDS] == [[]] * len(NEEDS)
        wanted = {"network-online.target", f"sluice-{store}.target"}
        assert set(settings(unit, "Wants")) <= wanted
