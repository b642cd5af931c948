#!/usr/bin/python
"""Ansible module: the disks of a test bed."""

from __future__ import annotations

import shutil
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.sluice.stores.plugins.module_utils.disk_rig import (
    DiskError,
    DiskSpecification,
    Rig,
    mount_source,
)
from ansible_collections.sluice.stores.plugins.module_utils.disk_rigs import recorded, wanted

DOCUMENTATION = r"""
module: testbed_disk
short_description: Make a mounted file system that behaves like a given disk
version_added: 0.1.0
description:
  - Makes, changes, fails and removes one disk of a test bed on the machine that the module runs on.
  - A disk that is not whole (a process ended, a mount is missing) is taken down and started again
    over the same image, after a check of its file system.
author: The Sluice authors
requirements: [root, nbdkit, nbdfuse, fuse3, util-linux, e2fsprogs]
options:
  directory:
    description: The disk's own directory. The file system is mounted at C(fs) in it.
    type: path
    required: true
  state:
    description:
      - V(present) is a whole, mounted disk; V(absent) leaves neither processes nor image.
      - V(whole) changes nothing, and is an error unless the disk is mounted and all of it works.
      - V(failed) makes every further request end with an error (rig V(nbd) only).
    type: str
    choices: [present, absent, whole, failed]
    default: present
  image:
    description: The file (or directory, for rig V(directory)) that holds the content.
    type: path
  size_bytes:
    description: Size of the disk. It cannot change while the image is there.
    type: int
  model:
    description: The device model; the role C(testbed) has C(hdd), C(ssd), C(throttle), C(volatile)
      and C(none).
    type: dict
  rate_bytes_per_second:
    description: Rate of the running disk in place of its model's.
    type: int
attributes:
  check_mode:
    support: full
    description: Says whether something would change.
"""

EXAMPLES = r"""
- name: Make a disk with 5 ms per request and 84 MB/s
  sluice.stores.testbed_disk:
    directory: /run/sluice-testbed-local/disks/pg1-data
    image: /dev/shm/sluice-local-pg1-data
    size_bytes: 8589934592
    model:
      rig: nbd
      threads: 4
      filters: [noparallel, delay, rate]
      parameters: {rdelay: 5ms, wdelay: 5ms, burstiness: 0.2, serialize: all-requests}
      rate_bytes_per_second: 83886080

- name: Break it
  sluice.stores.testbed_disk:
    directory: /run/sluice-testbed-local/disks/pg1-data
    state: failed
"""

RETURN = r"""
mount_source:
  description: The device that is mounted.
  returned: when O(state=whole)
  type: str
mount_point:
  description: Where the file system is mounted.
  returned: always
  type: str
rate_bytes_per_second:
  description: Rate in force, null for a rig that has none.
  returned: when O(state=present) and not in check mode, and when O(state=whole)
  type: int
"""


def ensure_present(rig: Rig, there: Rig | None, check: bool) -> bool:
    """Start the disk unless it is whole and of the wanted model; return whether that was needed."""
    if there and there.disk == rig.disk and there.is_healthy():
        return False
    rig.require_fitting_image()
    if check:
        return True
    if there:
        there.stop()
    rig.record()
    rig.start()
    return True


def ensure_rate(rig: Rig, bytes_per_second: int | None, started: bool, check: bool) -> bool:
    """Bring the rate to what is wanted (None: the model's); return whether that was needed."""
    target = bytes_per_second or rig.disk.model.get("rate_bytes_per_second")
    if target is None or (check and started):
        return False
    if rig.rate() == target:
        return False
    if not check:
        rig.set_rate(target)
    return True


def whole(directory: Path) -> dict:
    """State `whole`: the module's result; DiskError when anything of the disk is missing."""
    there = recorded(directory)
    if there is None or not there.is_healthy():
        raise DiskError(f"the disk at {directory} is not whole; run playbooks/testbed.yml")
    return {
        "changed": False,
        "mount_point": str(there.mount_point),
        "mount_source": mount_source(there.mount_point),
        "rate_bytes_per_second": there.rate(),
    }


def ensure_absent(directory: Path, check: bool) -> bool:
    """Take the disk down and delete its image and directory; return whether anything was there."""
    if not directory.exists():
        return False
    there = recorded(directory)
    if there and not check:
        there.stop()
        there.remove_image()
    if not check:
        shutil.rmtree(directory)
    return True


def ensure_failed(directory: Path, check: bool) -> bool:
    """Break the disk; return whether it was whole. DiskError when there is none."""
    there = recorded(directory)
    if there is None:
        raise DiskError(f"there is no disk at {directory}; run playbooks/testbed.yml")
    if not there.is_healthy():
        return False
    if not check:
        there.fail()
    return True


def present(parameters: dict, check: bool) -> dict:
    """State `present`: the module's result."""
    directory = Path(parameters["directory"])
    names = ("image", "size_bytes", "model")
    rig = wanted(directory, DiskSpecification(**{name: parameters[name] for name in names}))
    started = ensure_present(rig, recorded(directory), check)
    adjusted = ensure_rate(rig, parameters["rate_bytes_per_second"], started, check)
    return {
        "changed": started or adjusted,
        "remade": started,
        "mount_point": str(rig.mount_point),
        "rate_bytes_per_second": None if check else rig.rate(),
    }


def main() -> None:
    """Bring the disk into the wanted state."""
    module = AnsibleModule(
        argument_spec={
            "directory": {"type": "path", "required": True},
            "state": {"choices": ["present", "absent", "whole", "failed"], "default": "present"},
            "image": {"type": "path"},
            "size_bytes": {"type": "int"},
            "model": {"type": "dict"},
            "rate_bytes_per_second": {"type": "int"},
        },
        required_if=[("state", "present", ("image", "size_bytes", "model"))],
        supports_check_mode=True,
    )
    check = module.check_mode
    directory = Path(module.params["directory"])
    try:
        if module.params["state"] == "present":
            module.exit_json(**present(module.params, check))
        if module.params["state"] == "whole":
            module.exit_json(**whole(directory))
        ensure = ensure_absent if module.params["state"] == "absent" else ensure_failed
        module.exit_json(changed=ensure(directory, check), mount_point=str(directory / "fs"))
    except (DiskError, OSError) as error:
        module.fail_json(msg=str(error))


if __name__ == "__main__":
    main()
