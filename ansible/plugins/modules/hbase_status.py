#!/usr/bin/python
"""Ansible module: how HBase is."""

from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.sluice.stores.plugins.module_utils.daemon_pages import (
    NoAnswer,
    bean,
    document,
)

DOCUMENTATION = r"""
module: hbase_status
short_description: Ask HBase how it is
version_added: 0.1.0
description:
  - Reads the figures that masters and region servers show at their web pages. Changes nothing,
    and starts no Java machine.
author: The Sluice authors
options:
  masters:
    description: Pages of the masters, as C(http://HOST:16010).
    type: list
    elements: str
    required: true
  regionserver:
    description: Page of a region server whose regions to count, as C(http://HOST:16030).
    type: str
    default: ""
attributes:
  check_mode:
    support: full
    description: Changes nothing.
"""

EXAMPLES = r"""
- name: Wait until no region is on its way
  sluice.stores.hbase_status:
    masters: [http://node1:16010]
  register: status
  until: status.available and status.regions_in_transition == 0
  retries: 60
  delay: 1
"""

RETURN = r"""
available:
  description: Whether a master is active and has finished its initialization.
  type: bool
  returned: always
problem:
  description: Why it is not available.
  type: str
  returned: when it is not
states:
  description: C(active), C(backup) or C(down) of each master, by its page.
  type: dict
  returned: always
active:
  description: Page of the active master; empty when there is none.
  type: str
  returned: always
live:
  description: Region servers that the master counts as live, as HOST,PORT,START.
  type: list
  elements: str
  returned: when a master is active
regions_in_transition:
  description: Regions on their way.
  type: int
  returned: when a master is active
server:
  description:
    - Name of the region server that was asked for, in the form of RV(live).
    - Empty when it does not answer.
  type: str
  returned: always
regions:
  description: Its regions; -1 when it does not answer.
  type: int
  returned: always
"""

IS_ACTIVE = "tag.isActiveMaster"
MASTER = "Hadoop:service=HBase,name=Master,sub=Server"
# Not the bean of the assignment manager, which counts once a minute.
IN_TRANSITION = "/rits.jsp?format=json"
REGION_SERVER = "Hadoop:service=HBase,name=RegionServer,sub=Server"


def state(page: str) -> str:
    """active, backup or down of a master."""
    try:
        master = bean(page, MASTER, IS_ACTIVE)
    except NoAnswer:
        return "down"
    return "active" if master[IS_ACTIVE] == "true" else "backup"


def region_server(page: str) -> dict:
    """Name and number of regions of a region server, by its own page."""
    try:
        own = bean(page, REGION_SERVER) if page else {}
    except NoAnswer:
        own = {}
    return {"server": own.get("tag.serverName", ""), "regions": own.get("regionCount", -1)}


def figures(page: str) -> dict:
    """The figures of the active master."""
    server = bean(page, MASTER)
    servers = server.get("tag.liveRegionServers", "")
    transitions = document(page, IN_TRANSITION)
    if "rits" not in transitions:
        raise NoAnswer(f"{page} does not tell the regions in transition yet")
    return {
        "initialized": server.get("masterFinishedInitializationTime", 0) > 0,
        "live": sorted(name for name in servers.split(";") if name),
        "regions_in_transition": len(transitions["rits"]),
    }


def status(masters: list[str], regionserver: str) -> dict:
    """The module's result."""
    states = {page: state(page) for page in masters}
    active = next((page for page, word in states.items() if word == "active"), "")
    found = {"states": states, "active": active, **region_server(regionserver)}
    if not active:
        return {"available": False, "problem": f"no master is active: {states}", **found}
    try:
        found |= figures(active)
    except NoAnswer as reason:
        return {"available": False, "problem": str(reason), **found}
    if not found.pop("initialized"):
        return {"available": False, "problem": "the active master still starts", **found}
    return {"available": True, **found}


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "masters": {"type": "list", "elements": "str", "required": True},
            "regionserver": {"type": "str", "default": ""},
        },
        supports_check_mode=True,
    )
    module.exit_json(
        changed=False, **status(module.params["masters"], module.params["regionserver"])
    )


if __name__ == "__main__":
    main()
