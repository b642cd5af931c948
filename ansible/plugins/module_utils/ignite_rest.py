"""What the REST interface of Ignite's nodes tells of them and of their cluster."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from typing import Any

TIMEOUT_SECONDS = 5.0
CONFLICT = 409
STARTED = "STARTED"
DOWN = "down"
# Of a partition all of whose replicas are there, and none is behind.
WHOLE = "AVAILABLE"


class NoAnswer(Exception):
    """The node cannot be reached, or does not tell this."""


class NotYet(NoAnswer):
    """The node answers, and is not part of a cluster yet."""


def document(address: str, path: str) -> Any:
    """What a node answers at a path below its management interface."""
    # Not through a proxy: the nodes are on the cluster's own network.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        url = f"http://{address}/management/v1/{path}"
        with opener.open(url, timeout=TIMEOUT_SECONDS) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        kind = NotYet if error.code == CONFLICT else NoAnswer
        raise kind(f"{address} answers {error.code} at {path}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NoAnswer(f"{address} does not answer: {error}") from error


def state(address: str) -> str:
    """STARTED of a node that serves, another word of one that begins, `down` of a silent one."""
    try:
        return document(address, "node/state")["state"]
    except NotYet:
        return "STARTING"
    except (NoAnswer, KeyError, TypeError):
        return DOWN


def names(address: str, topology: str) -> list[str]:
    """Names of the nodes of a topology, physical or logical, in their order."""
    return sorted(node["name"] for node in document(address, f"cluster/topology/{topology}"))


def metadata_nodes(address: str) -> list[str]:
    """Names of the nodes that keep the metadata; none before there is a cluster."""
    try:
        return sorted(document(address, "cluster/state")["msNodes"])
    except NotYet:
        return []


def partitions_not_whole(address: str) -> list[str]:
    """Partitions that lack a replica, or have one that is behind, with their states."""
    told = document(address, "recovery/zone/state/global")["states"]
    return [
        f"{partition['zoneName']} {partition['partitionId']} {partition['state']}"
        for partition in told
        if partition["state"] != WHOLE
    ]
