"""Disks in memory, with the rates and delays of the test bed's models."""

from __future__ import annotations

import contextlib
import importlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

MODULES = "ansible_collections.sluice.stores.plugins.module_utils"


def disk_models(top: Path) -> dict[str, dict]:
    """The device models of the test bed of a checkout, by name, as its rigs take them."""
    variables = yaml.safe_load((top / "ansible/roles/testbed/vars/main.yml").read_text())
    return variables["testbed_disk_models"]


@contextlib.contextmanager
def memory_disks(
    top: Path, memory: Path | None, models: Mapping[str, dict], disk_bytes: int
) -> Iterator[dict[str, Path]]:
    """New disks, by name the folders that they are mounted on; gone with their content afterwards.

    SystemExit where there can be none.
    """
    if os.geteuid() != 0:
        raise SystemExit("this makes disks: run it as root")
    if memory is None:
        raise SystemExit("this makes disks in memory: mount a tmpfs on /dev/shm")
    specification, rig_of = _rigs(top)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=memory)))
        disks = {}
        for name, model in models.items():
            image = folder / f"{name}.image"
            rig = rig_of(folder / name, specification(str(image), disk_bytes, model))
            rig.record()
            stack.callback(rig.stop)
            rig.start()
            _touch(image, disk_bytes)
            disks[name] = rig.mount_point
        yield disks


def _touch(image: Path, size: int) -> None:
    """Memory that a virtual machine has not used yet is slow when it is written first."""
    with image.open("r+b") as content:
        os.posix_fallocate(content.fileno(), 0, size)


def _rigs(top: Path) -> tuple[type, type]:
    """The classes of the collection, which is only importable once Ansible has its path."""
    from ansible.plugins.loader import init_plugin_loader

    init_plugin_loader([str(top / ".work")])
    disk_rig = importlib.import_module(f"{MODULES}.disk_rig")
    return disk_rig.DiskSpecification, importlib.import_module(f"{MODULES}.disk_rig_nbd").NbdRig
