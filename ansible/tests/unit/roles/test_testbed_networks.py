"""Test beds stand beside each other, so that each has a network of its own."""

import re
from pathlib import Path

COLLECTION = Path(__file__).parents[3]


def test_no_two_test_beds_have_one_network():
    folders = [*COLLECTION.glob("inventories/local*"), COLLECTION / "extensions/molecule"]
    # Some are links to those of another inventory.
    files = {file.resolve() for folder in folders for file in folder.rglob("*.yml")}
    found = {
        str(file.relative_to(COLLECTION)): prefix
        for file in files
        for prefix in re.findall(r"(?m)^ *inventory_network_prefix: (\S+)$", file.read_text())
    }
    assert len(found) > 20
    shared = {
        file: prefix for file, prefix in found.items() if list(found.values()).count(prefix) > 1
    }
    assert not shared
