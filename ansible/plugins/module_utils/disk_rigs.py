"""The rigs that there are, and which of them a disk has."""

from __future__ import annotations

import json
from pathlib import Path

from ansible_collections.sluice.stores.plugins.module_utils.disk_rig import (
    DirectoryRig,
    DiskError,
    DiskSpecification,
    Rig,
)
from ansible_collections.sluice.stores.plugins.module_utils.disk_rig_nbd import NbdRig

RIGS = {"directory": DirectoryRig, "nbd": NbdRig}


def recorded(directory: Path) -> Rig | None:
    """The rig that `record.json` describes, None when no disk was made there."""
    try:
        disk = DiskSpecification(**json.loads((directory / "record.json").read_text()))
    except FileNotFoundError:
        return None
    return RIGS[disk.model["rig"]](directory, disk)


def wanted(directory: Path, disk: DiskSpecification) -> Rig:
    """The rig for a specification; DiskError names the rigs when there is no such."""
    rig = disk.model.get("rig")
    if rig not in RIGS:
        raise DiskError(f"there is no rig {rig}; there are {', '.join(RIGS)}")
    return RIGS[rig](directory, disk)
