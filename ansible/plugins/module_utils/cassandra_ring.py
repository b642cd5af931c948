"""What `nodetool status` tells of the nodes of a cluster of Cassandra."""

from __future__ import annotations

import re
import socket

UP_AND_NORMAL = "UN"
ABSENT = "absent"
TIMEOUT_SECONDS = 5.0
# State, address, and the rest of a node's line: `UN  10.0.0.1  104.3 KiB  16  100.0%  ID  rack1`.
_NODE = re.compile(r"^([UD?][NLJMS]) +(\S+) ", re.M)


def ring(told: str) -> dict[str, str]:
    """State of each node by its address, as one node sees it."""
    return {address: state for state, address in _NODE.findall(told)}


def addresses(name: str) -> set[str]:
    """Addresses of a name; itself, where it has none."""
    try:
        return {str(found[4][0]) for found in socket.getaddrinfo(name, None)} | {name}
    except OSError:
        return {name}


def state(seen: dict[str, str], name: str) -> str:
    """State of the node that a name leads to."""
    there = addresses(name)
    return next((found for address, found in seen.items() if address in there), ABSENT)


def not_normal(seen: dict[str, str], names: list[str], joining: str) -> list[str]:
    """Nodes that are absent, or not up and normal, with their states; not the one that joins."""
    passed_over = addresses(joining) if joining else set()
    named = {name: state(seen, name) for name in names}
    known = set().union(*(addresses(name) for name in names), passed_over)
    further = {address: found for address, found in seen.items() if address not in known}
    return [
        f"{name} {found}" for name, found in (named | further).items() if found != UP_AND_NORMAL
    ]


def takes_connections(address: str) -> bool:
    """Whether something listens for clients there, HOST:PORT."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=TIMEOUT_SECONDS):
            return True
    except OSError:
        return False
