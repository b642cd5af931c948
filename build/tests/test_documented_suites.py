"""The suites and modes that docs/sluice-dist.md lists."""

import re
import tomllib

import pytest
from images import ROOT

SECTIONS = {"postgres": "For PostgreSQL:", "hbase": "For HBase,", "hdfs": "For HDFS,"}


def section(store: str) -> str:
    """What the page says from the store's first line to the next store's."""
    text = (ROOT / "docs" / "sluice-dist.md").read_text()
    start = text.index(SECTIONS[store])
    ends = [text.find(other, start + 1) for other in (*SECTIONS.values(), "RocksDB's are in")]
    return text[start : min(end for end in ends if end > 0)]


@pytest.mark.parametrize("store", SECTIONS)
def test_they_are_those_of_the_recipe(store: str):
    file = ROOT / "build" / "stores" / store / "recipe.toml"
    test = tomllib.loads(file.read_text())["test"]
    listed = re.findall(r"^\| `([a-z-]+)` \|", section(store), re.MULTILINE)
    assert listed == [*test["suites"], *test["modes"]]


@pytest.mark.parametrize("store", ["hbase", "hdfs"])
def test_upstreams_classes_are_those_that_are_run(store: str):
    script = (ROOT / "build" / "stores" / store / "test.sh").read_text()
    run = set(re.findall(r"^    (?:[a-z.]+\.)?(Test\w+)$", script, re.MULTILINE))
    assert run <= set(re.findall(r"\bTest\w+", section(store)))
