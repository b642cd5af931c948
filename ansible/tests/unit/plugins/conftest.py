"""The collection, importable, and disks that are gone after each test."""

import os
from pathlib import Path

import pytest
import yaml
from ansible.plugins.loader import init_plugin_loader

TOP = Path(__file__).resolve().parents[4]
init_plugin_loader([str(TOP / ".work")])

from ansible_collections.sluice.stores.plugins.module_utils import (  # noqa: E402
    disk_rig,
    disk_rigs,
)

SIZE_BYTES = 64 * 1024 * 1024
MODELS = yaml.safe_load((TOP / "ansible/roles/testbed/vars/main.yml").read_text())[
    "testbed_disk_models"
]


@pytest.fixture
def make_rig(tmp_path):
    """Makes the rig of a model of the role `testbed`, not started."""
    if os.geteuid():
        pytest.skip("mounting disks needs root")
    made = []

    def make(model: str, size_bytes: int = SIZE_BYTES, **figures):
        specified = MODELS[model] | figures
        disk = disk_rig.DiskSpecification(str(tmp_path / "image"), size_bytes, specified)
        rig = disk_rigs.wanted(tmp_path / "disk", disk)
        made.append(rig)
        return rig

    yield make
    for rig in made:
        rig.stop()
