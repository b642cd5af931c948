"""What the REST interface of Ignite's nodes tells of them and of their cluster."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from typing import Any

TIMEOUT_SECONDS = 5.0
CONFLICT = 409
# Title of the answer of a node without a cluster. One that is about to be in one, perhaps again,
# has another title.
NO_CLUSTER = "Cluster is not initialized"
STARTED = "STARTED"
DOWN = "down"
# Of a partition all of whose replicas are there, and none is behind.
WHOLE = "AVAILABLE"


class NoAnswer(Exception):
    """The node cannot be reached, or does not tell this."""


class NotYet(NoAnswer):
    """The node answers, and does not serve yet; its own title says why."""

    def __init__(self, message: str, title: str):
        super().__init__(message)
        self.title = title


def document(address: str, path: str) -> Any:
    """What a node answers at a path below its management interface."""
    # Not through a proxy: the nodes are on the cluster's own network.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        url = f"http://{address}/management/v1/{path}"
        with opener.open(url, timeout=TIMEOUT_SECONDS) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        title = _title(error)
        said = f"{address} answers {error.code} at {path}: {title}"
        raise (NotYet(said, title) if error.code == CONFLICT else NoAnswer(said)) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NoAnswer(f"{address} does not answer: {error}") from error


def _title(error: urllib.error.HTTPError) -> str:
    try:
        return json.load(error)["title"]
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return "no title"


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
    except NotYet as answer:
        if answer.title == NO_CLUSTER:
            return []
        raise


def partitions_not_whole(address: str) -> list[str]:
    """Partitions that lack a replica, or have one that is behind, with their states."""
    told = document(address, "recovery/zone/state/global")["states"]
    return [
        f"{partition['zoneName']} {partition['partitionId']} {partition['state']}"
        for partition in told
        if partition["state"] != WHOLE
    ]
