#!/usr/bin/python
"""Ansible module: how a ZooKeeper server is."""

from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.sluice.stores.plugins.module_utils.zookeeper_words import (
    NoAnswer,
    ask,
    figures,
    summary,
)

DOCUMENTATION = r"""
module: zookeeper_status
short_description: Ask a ZooKeeper server how it is
version_added: 0.1.0
description:
  - Sends the four-letter word C(mntr), which must be in C(4lw.commands.whitelist). Reads only.
  - A server that has no quorum does not serve, and is not available.
author: The Sluice authors
options:
  address:
    description: Name or address of the server.
    type: str
    required: true
  port:
    description: Port for clients.
    type: int
    default: 2181
attributes:
  check_mode:
    support: full
    description: Changes nothing.
"""

EXAMPLES = r"""
- name: Wait until the server is part of a quorum
  sluice.stores.zookeeper_status:
    address: node1
  register: status
  until: status.available
  retries: 60
  delay: 1
"""

RETURN = r"""
available:
  description: Whether the server serves, which it does only as part of a quorum.
  type: bool
  returned: always
problem:
  description: Why it is not available.
  type: str
  returned: when it is not
mode:
  description: C(leader), C(follower), C(observer) or C(standalone).
  type: str
  returned: when it is available
version:
  description: Version of the running server.
  type: str
  returned: when it is available
synced_followers:
  description: Followers of the leader that have all that was committed; 0 on other servers.
  type: int
  returned: when it is available
"""


def status(address: str, port: int) -> dict:
    """The module's result."""
    try:
        return {"available": True, **summary(figures(ask(address, port, "mntr")))}
    except NoAnswer as reason:
        return {"available": False, "problem": str(reason)}


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "address": {"type": "str", "required": True},
            "port": {"type": "int", "default": 2181},
        },
        supports_check_mode=True,
    )
    module.exit_json(changed=False, **status(module.params["address"], module.params["port"]))


if __name__ == "__main__":
    main()
