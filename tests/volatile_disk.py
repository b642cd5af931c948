"""A disk that a loss of power can hit, and proof that it then loses what was not synced."""

from __future__ import annotations

import os
from pathlib import Path

import yaml
from ansible.plugins.loader import init_plugin_loader

TOP = Path(__file__).resolve().parents[1]
init_plugin_loader([str(TOP / ".work")])

from ansible_collections.sluice.stores.plugins.module_utils import (  # noqa: E402
    disk_rig,
    disk_rigs,
)

MODELS = yaml.safe_load((TOP / "ansible/roles/testbed/vars/main.yml").read_text())[
    "testbed_disk_models"
]
SIZE_BYTES = 2 << 30  # sparse: what is written counts


class VolatileDisk:
    """A mounted disk of the test bed's model `volatile`, with all its files in one folder."""

    def __init__(self, folder: Path):
        disk = disk_rig.DiskSpecification(str(folder / "image"), SIZE_BYTES, MODELS["volatile"])
        self._rig = disk_rigs.wanted(folder / "disk", disk)
        self.mount_point = self._rig.mount_point
        self._proofs = 0

    def start(self) -> None:
        """Make and mount it; the journal of an image that is there is replayed first."""
        self._rig.record()
        self._rig.start()

    def write_proofs(self) -> None:
        """Write a file that has to survive a loss of power, and one that cannot."""
        self._proofs += 1
        for name in ("synced", "unsynced"):
            with (self.mount_point / name).open("w") as file:
                file.write(str(self._proofs))
                file.flush()
                if name == "synced":
                    os.fsync(file.fileno())

    def cut_power(self) -> None:
        """From its return on nothing reaches the image any more."""
        self._rig.fail()

    def restore_power(self) -> None:
        """Take away what the kernel still holds of the disk, and mount what survived."""
        self._rig.stop()
        self._rig.start()

    def has_lost(self) -> bool:
        """Whether unsynced data was lost; AssertionError if synced data was.

        Another process that syncs a file of its own may have synced the proof too.
        """
        synced = (self.mount_point / "synced").read_text()
        assert synced == str(self._proofs), "a synced file was lost"
        unsynced = self.mount_point / "unsynced"
        return not unsynced.exists() or unsynced.read_text() != str(self._proofs)

    def require_loss(self) -> None:
        """AssertionError unless power was lost as it should: the proofs tell."""
        assert self.has_lost(), "no unsynced data was lost"

    def remove(self) -> None:
        """Take down whatever is there of it."""
        self._rig.stop()
