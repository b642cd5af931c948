#!/usr/bin/python
"""Ansible module: how the nodes of an Ignite cluster are."""

from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.sluice.stores.plugins.module_utils import ignite_rest
from ansible_collections.sluice.stores.plugins.module_utils.ignite_rest import NoAnswer

DOCUMENTATION = r"""
module: ignite_status
short_description: Ask nodes of Ignite how they and their cluster are
version_added: 0.1.0
description:
  - Asks the REST interface of each node for its state, and those that answer for the cluster.
    Reads only.
author: The Sluice authors
options:
  nodes:
    description: REST interfaces, as C(HOST:PORT).
    type: list
    elements: str
    required: true
attributes:
  check_mode:
    support: full
    description: Changes nothing.
"""

EXAMPLES = r"""
- name: Wait until all nodes serve
  sluice.stores.ignite_status:
    nodes: ["node1:10300", "node2:10300", "node3:10300"]
  register: status
  until: status.whole
  retries: 60
  delay: 1
"""

RETURN = r"""
states:
  description: State of each node, C(STARTED) when it serves, C(down) when it does not answer.
  type: dict
  returned: always
known:
  description: Names of the nodes that each answering node reaches, itself too.
  type: dict
  returned: always
metadata_nodes:
  description:
    - Names of the nodes that keep the cluster's metadata.
    - None as long as no node is part of a cluster.
  type: list
  elements: str
  returned: always
members:
  description: Names of the nodes of the cluster that run, as a node says that serves.
  type: list
  elements: str
  returned: always
not_whole:
  description: Partitions that lack a replica or have one behind, each with its zone and state.
  type: list
  elements: str
  returned: always
whole:
  description: Whether each of the nodes serves and is a member, and no partition is not whole.
  type: bool
  returned: always
problem:
  description: What could not be asked.
  type: str
  returned: when something could not
"""


def status(nodes: list[str]) -> dict:
    """The module's result."""
    found = {
        "states": {node: ignite_rest.state(node) for node in nodes},
        "known": {},
        "metadata_nodes": [],
        "members": [],
        "not_whole": [],
        "whole": False,
    }
    try:
        for node in _in_state(found, lambda state: state != ignite_rest.DOWN):
            found["known"][node] = ignite_rest.names(node, "physical")
            found["metadata_nodes"] = found["metadata_nodes"] or ignite_rest.metadata_nodes(node)
        serving = _in_state(found, lambda state: state == ignite_rest.STARTED)
        if serving:
            found["members"] = ignite_rest.names(serving[0], "logical")
            found["not_whole"] = ignite_rest.partitions_not_whole(serving[0])
            each_is_member = len(found["members"]) >= len(nodes) == len(serving)
            found["whole"] = each_is_member and not found["not_whole"]
    except (NoAnswer, KeyError, TypeError) as error:
        found["problem"] = str(error)
    return found


def _in_state(found: dict, fits) -> list[str]:
    return [node for node, state in found["states"].items() if fits(state)]


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={"nodes": {"type": "list", "elements": "str", "required": True}},
        supports_check_mode=True,
    )
    module.exit_json(changed=False, **status(module.params["nodes"]))


if __name__ == "__main__":
    main()
