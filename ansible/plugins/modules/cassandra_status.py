#!/usr/bin/python
"""Ansible module: how a node of Cassandra sees its cluster."""

from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.sluice.stores.plugins.module_utils import cassandra_ring

DOCUMENTATION = r"""
module: cassandra_status
short_description: Ask a node of Cassandra how it sees itself and the others
version_added: 0.1.0
description:
  - Looks whether the node on this host takes connections of clients, and if so runs its
    C(nodetool status). Reads only.
author: The Sluice authors
options:
  program:
    description: The program C(cassandra) of the distribution.
    type: path
    required: true
  configuration:
    description: Folder of the node's configuration.
    type: path
    required: true
  management_port:
    description: Port of C(nodetool).
    type: int
    default: 7199
  client:
    description: Where the node listens for clients, as C(HOST:PORT).
    type: str
    required: true
  nodes:
    description: Names or addresses of the nodes that are to be up and normal.
    type: list
    elements: str
    required: true
  joining:
    description: Name or address of a node that may be in any state.
    type: str
    default: ""
attributes:
  check_mode:
    support: full
    description: Changes nothing.
"""

EXAMPLES = r"""
- name: Wait until the node sees all three up and normal
  sluice.stores.cassandra_status:
    program: /opt/sluice/cassandra/5.0.9/bin/cassandra
    configuration: /etc/sluice/cassandra/main
    client: node1:9042
    nodes: [node1, node2, node3]
  register: status
  until: status.whole
  retries: 60
  delay: 1
"""

RETURN = r"""
states:
  description:
    - State of each of the nodes in the eyes of this one, as C(nodetool) has it; C(UN) is up and
      normal.
    - C(absent) when it does not know the node, or does not answer.
  type: dict
  returned: always
joining_state:
  description: State of the node that may be in any, or nothing where it is not known.
  type: str
  returned: always
not_normal:
  description: Nodes that are not up and normal, further ones of the ring too, each with its state.
  type: list
  elements: str
  returned: always
serves:
  description: Whether the node takes connections of clients.
  type: bool
  returned: always
whole:
  description: Whether it does, and there is none that is not up and normal.
  type: bool
  returned: always
problem:
  description: Why the node was not asked, or what C(nodetool) said instead of an answer.
  type: str
  returned: when there is none
"""


def status(told: str, serves: bool, nodes: list[str], joining: str) -> dict:
    """The module's result, from what nodetool prints."""
    seen = cassandra_ring.ring(told)
    missing = cassandra_ring.not_normal(seen, nodes, joining)
    joining_state = cassandra_ring.state(seen, joining) if joining else cassandra_ring.ABSENT
    return {
        "states": {name: cassandra_ring.state(seen, name) for name in nodes},
        "joining_state": "" if joining_state == cassandra_ring.ABSENT else joining_state,
        "not_normal": missing,
        "serves": serves,
        "whole": serves and not missing,
    }


def ask(module: AnsibleModule) -> tuple[str, dict]:
    """What nodetool prints, and why it prints nothing if it does not."""
    given = module.params
    code, told, complaint = module.run_command(
        [given["program"], "--config", given["configuration"], "nodetool", "status"],
        environ_update={"CASSANDRA_JMX_PORT": str(given["management_port"])},
    )
    if code == 0:
        return told, {}
    said = (complaint.strip() or told.strip() or "and says nothing").splitlines()[0]
    return "", {"problem": f"nodetool status ends with {code}: {said}"}


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "program": {"type": "path", "required": True},
            "configuration": {"type": "path", "required": True},
            "management_port": {"type": "int", "default": 7199},
            "client": {"type": "str", "required": True},
            "nodes": {"type": "list", "elements": "str", "required": True},
            "joining": {"type": "str", "default": ""},
        },
        supports_check_mode=True,
    )
    given = module.params
    # A node that begins has better to do than to answer a Java machine every second.
    serves = cassandra_ring.takes_connections(given["client"])
    told, problem = ask(module) if serves else ("", {"problem": _silence(given["client"])})
    found = status(told, serves, given["nodes"], given["joining"])
    module.exit_json(changed=False, **found, **problem)


def _silence(client: str) -> str:
    return f"it takes no connections of clients at {client}"


if __name__ == "__main__":
    main()
