#!/usr/bin/python
"""Ansible module: how HDFS is."""

from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.sluice.stores.plugins.module_utils import hdfs_beans
from ansible_collections.sluice.stores.plugins.module_utils.daemon_pages import NoAnswer

DOCUMENTATION = r"""
module: hdfs_status
short_description: Ask HDFS how it is
version_added: 0.1.0
description:
  - Reads the figures that the daemons show at their web pages. Changes nothing, and starts no Java
    machine.
author: The Sluice authors
options:
  namenodes:
    description: Pages of the NameNodes, as C(http://HOST:9870).
    type: list
    elements: str
    required: true
  journalnodes:
    description: Pages of the JournalNodes, as C(http://HOST:8480).
    type: list
    elements: str
    default: []
  nameservice:
    description: Name of the pair of NameNodes, which the journals are named after.
    type: str
    default: ""
  datanodes:
    description: Pages of DataNodes that must have registered for RV(available), as C(http://HOST:9864).
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    support: full
    description: Changes nothing.
"""

EXAMPLES = r"""
- name: Wait until every block has all its copies
  sluice.stores.hdfs_status:
    namenodes: [http://node1:9870]
  register: status
  until: status.available and status.missing_blocks == 0 and status.low_redundancy_blocks == 0
  retries: 60
  delay: 1
"""

RETURN = r"""
available:
  description: Whether a NameNode is active, out of safe mode, and the DataNodes named registered.
  type: bool
  returned: always
problem:
  description: Why it is not available.
  type: str
  returned: when it is not
states:
  description:
    - C(active), C(standby), C(starting) or C(down) of each NameNode, by its page.
    - One that starts is a standby in safe mode.
  type: dict
  returned: always
active:
  description: Page of the active NameNode; empty when there is none.
  type: str
  returned: always
live:
  description: DataNodes that the NameNode counts as live, as HOST:PORT.
  type: list
  elements: str
  returned: when there is an active NameNode
safe_mode:
  description: Whether the NameNode is in safe mode.
  type: bool
  returned: when there is an active NameNode
missing_blocks:
  description: Blocks without any copy.
  type: int
  returned: when there is an active NameNode
low_redundancy_blocks:
  description: Blocks with fewer copies than they should have.
  type: int
  returned: when there is an active NameNode
transaction:
  description: Last transaction that the NameNode has written.
  type: int
  returned: when there is an active NameNode
journal_transaction:
  description:
    - Last transaction that every JournalNode has written.
    - -1 where one has none, or there are no JournalNodes.
  type: int
  returned: always
journal_transactions:
  description: Last transaction of each JournalNode, by its page; -1 where it has none.
  type: dict
  returned: always
"""


def status(parameters: dict) -> dict:
    """The module's result."""
    states = hdfs_beans.namenode_states(parameters["namenodes"])
    active = next((page for page, state in states.items() if state == "active"), "")
    written = hdfs_beans.journal_transactions(parameters["journalnodes"], parameters["nameservice"])
    found = {
        "states": states,
        "active": active,
        "journal_transaction": min(written.values(), default=-1),
        "journal_transactions": written,
    }
    if not active:
        return {"available": False, "problem": f"no NameNode is active: {states}", **found}
    try:
        found |= hdfs_beans.active_figures(active)
        problem = _problem(found, parameters["datanodes"])
    except NoAnswer as reason:
        problem = str(reason)
    if problem:
        return {"available": False, "problem": problem, **found}
    return {"available": True, **found}


def _problem(found: dict, datanodes: list[str]) -> str:
    if found["safe_mode"]:
        return "the NameNode is in safe mode"
    waiting = [page for page in datanodes if not hdfs_beans.registered(page)]
    return f"not registered: {', '.join(waiting)}" if waiting else ""


def main() -> None:
    """Entry point of the module."""
    pages = {"type": "list", "elements": "str"}
    module = AnsibleModule(
        argument_spec={
            "namenodes": {**pages, "required": True},
            "journalnodes": {**pages, "default": []},
            "nameservice": {"type": "str", "default": ""},
            "datanodes": {**pages, "default": []},
        },
        supports_check_mode=True,
    )
    module.exit_json(changed=False, **status(module.params))


if __name__ == "__main__":
    main()
