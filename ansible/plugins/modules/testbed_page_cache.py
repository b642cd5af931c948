#!/usr/bin/python
"""Ansible module: how much of the page cache a unit of a test bed's node may use."""

from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.sluice.stores.plugins.module_utils.page_cache_limit import (
    ControlGroups,
    LimitError,
    group_to_reclaim,
    lift,
    limit,
)

DOCUMENTATION = r"""
module: testbed_page_cache
short_description: Bound what a unit of a container adds to the page cache
version_added: 0.1.0
description:
  - Data of an experiment that is made small would fit into memory, and nothing would be read from
    the measured disk. With a bound, pages leave as on a machine whose data is larger than its
    memory, the longest unused first.
  - Runs on the machine of the container, and works with control groups of version 1 and 2.
author: The Sluice authors
requirements: [root]
options:
  process:
    description: The container's process 1, as the machine that the module runs on numbers it.
    type: int
    required: true
  unit:
    description: A systemd unit of the container. It has to run.
    type: str
    required: true
  page_cache_bytes:
    description: What the unit may add, from now on, to what it has in memory.
    type: int
  state:
    description: V(absent), after the unit's end, leaves nothing of a bound.
    type: str
    choices: [present, absent]
    default: present
attributes:
  check_mode:
    support: none
    description: Not in check mode.
"""

EXAMPLES = r"""
- name: Let a DataNode have 160 MiB of the page cache
  sluice.stores.testbed_page_cache:
    process: 4711
    unit: sluice-hdfs-3.4.2-datanode@evaluation.service
    page_cache_bytes: 167772160
"""

RETURN = r"""
group:
  description: >-
    Folder of the control group whose processes, when it is full, wait for pages to be freed: have
    that done before. Empty where they do not.
  type: str
  returned: with a bound
"""


def main() -> None:
    """Set the bound, or take it away."""
    module = AnsibleModule(
        argument_spec={
            "process": {"type": "int", "required": True},
            "unit": {"type": "str", "required": True},
            "page_cache_bytes": {"type": "int"},
            "state": {"choices": ["present", "absent"], "default": "present"},
        },
        required_if=[("state", "present", ("page_cache_bytes",))],
    )
    groups = ControlGroups(module.params["process"])
    unit = module.params["unit"]
    try:
        if module.params["state"] == "absent":
            module.exit_json(changed=lift(groups, unit))
        changed = limit(groups, unit, module.params["page_cache_bytes"])
        module.exit_json(changed=changed, group=group_to_reclaim(groups, unit))
    except (LimitError, OSError) as error:
        module.fail_json(msg=str(error))


if __name__ == "__main__":
    main()
