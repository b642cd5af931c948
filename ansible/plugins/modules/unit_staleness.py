#!/usr/bin/python
"""Ansible module: what a running unit has not read yet."""

from __future__ import annotations

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: unit_staleness
short_description: Find out which files are newer than the process of a unit
version_added: 0.1.0
description:
  - Compares files with the time at which the main process of a systemd unit was started. So a run
    that was interrupted between a change and the restart is made good by the next, which a handler
    would have forgotten. Reads only.
author: The Sluice authors
options:
  unit:
    description: The unit.
    type: str
    required: true
  inputs:
    description:
      - What the process reads when it starts, by path, with words for it.
      - A path that is not there is passed over.
    type: dict
    required: true
  counts_reload:
    description:
      - Whether a reload reads the inputs, too. They are then compared with the last change of the
        unit's state, which a start is, and a reload.
    type: bool
    default: false
attributes:
  check_mode:
    support: full
    description: Changes nothing.
"""

EXAMPLES = r"""
- name: Look for what is newer than the process
  sluice.stores.unit_staleness:
    unit: example.service
    inputs:
      /etc/example.cfg: new settings
  register: stale
"""

RETURN = r"""
active:
  description: Whether the unit runs.
  type: bool
  returned: always
reasons:
  description: Words for the inputs that are newer, each once; none when the unit does not run.
  type: list
  elements: str
  returned: always
"""


def newer(read_seconds: int, inputs: dict[str, str]) -> list[str]:
    """Words for what was changed in a later second than it was read: systemd tells whole ones."""
    found = []
    for path, words in inputs.items():
        if _modified_seconds(path) > read_seconds and words not in found:
            found.append(words)
    return found


def _modified_seconds(path: str) -> int:
    try:
        return int(Path(path).stat().st_mtime)
    except FileNotFoundError:
        return 0


def properties(shown: str) -> dict[str, str]:
    """The lines NAME=VALUE of systemctl show."""
    return dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)


def report(shown: str, inputs: dict[str, str], counts_reload: bool = False) -> dict:
    """The module's result, from what systemctl shows of the unit."""
    found = properties(shown)
    if found.get("ActiveState") not in ("active", "reloading"):
        return {"active": False, "reasons": []}
    read = found["StateChangeTimestamp" if counts_reload else "ExecMainStartTimestamp"]
    return {"active": True, "reasons": newer(int(read.lstrip("@")), inputs)}


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "unit": {"type": "str", "required": True},
            "inputs": {"type": "dict", "required": True},
            "counts_reload": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    command = ["systemctl", "show", "--timestamp=unix"]
    command += ["--property=ActiveState,ExecMainStartTimestamp,StateChangeTimestamp"]
    _, shown, _ = module.run_command([*command, module.params["unit"]], check_rc=True)
    asked = module.params["inputs"], module.params["counts_reload"]
    module.exit_json(changed=False, **report(shown, *asked))


if __name__ == "__main__":
    main()
