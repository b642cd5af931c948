"""Regions that have moved away from a host come back, however often its turn was begun."""

import time
from fnmatch import fnmatch
from pathlib import Path

from role_files import Host, task_of

FOLDER = "/var/lib/sluice/hbase"


def host(**known: object) -> Host:
    groups = {"hbase_master": ["hb1"], "hbase_regionserver": ["hb1", "hb2"]}
    return Host("hbase", "hb1", groups=groups, hostvars={"hb1": {}}, **known)


def words(of: Host, file: str, name: str, **known: object) -> list[str]:
    task = task_of("hbase", file, name)
    return of.templar(task, **known).template(task["ansible.builtin.command"]["argv"])


def list_of(argv: list[str]) -> str:
    return argv[argv.index("-f") + 1]


def test_a_list_of_regions_is_not_given_to_the_mover_again():
    """Upstream's removes it before it moves anything."""
    moving = "drain.yml", "Move each to another server"
    first = list_of(words(host(), *moving))
    time.sleep(1.1)
    assert list_of(words(host(), *moving)) != first


def test_regions_of_each_list_come_back():
    away = list_of(words(host(), "drain.yml", "Move each to another server"))
    looking = task_of("hbase", "return.yml", "Look for the lists of regions")
    found = host().templar(looking).template(looking["ansible.builtin.find"])
    assert found["paths"] == FOLDER
    # One of a run of before, and what is none of this instance's.
    names = [Path(away).name, "turn-main.regions", "turn-main.json", "turn-main2.regions-1"]
    assert [fnmatch(name, found["patterns"]) for name in names] == [True, True, False, False]
    known = {"_hbase_regions": {"files": [{"path": f"{FOLDER}/b"}, {"path": f"{FOLDER}/a"}]}}
    for name in ("Move the regions back", "Remove the list of regions"):
        task = task_of("hbase", "return.yml", name)
        lists = host().templar(task, **known).template(task["loop"])
        assert lists == [f"{FOLDER}/a", f"{FOLDER}/b"]
    back = words(host(), "return.yml", "Move the regions back", item=f"{FOLDER}/a")
    assert list_of(back) == f"{FOLDER}/a" and back[-2:] == ["-o", "load"]
